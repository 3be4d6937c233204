"""How precise means of judgments are, and how many judgments a conclusion costs: arrays in, numbers out."""

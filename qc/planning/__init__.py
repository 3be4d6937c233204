"""Plan an experiment from judgments, and decide whether to trust a metric instead."""

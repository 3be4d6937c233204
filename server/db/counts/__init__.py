"""Keep counts up to date, in the same transactions that change the counted rows."""

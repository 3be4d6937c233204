"""Plan an experiment from judgments, choose items for people, and decide when to trust a metric instead."""

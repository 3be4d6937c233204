"""Bundles: a run with its study, report and certificate in one archive, which anyone can verify."""

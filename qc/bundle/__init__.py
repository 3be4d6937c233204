"""Bundles: a run, its study and its report in one archive, which anyone can analyse again and verify."""

"""Bundles: a run, its study and its report in one archive, which anybody can analyse again and compare."""

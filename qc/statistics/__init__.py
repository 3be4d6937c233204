"""Numerics that know nothing of runs, workers or systems: arrays in, arrays out."""

"""Benchmark of chat platforms: the same load on each, until its server is killed."""

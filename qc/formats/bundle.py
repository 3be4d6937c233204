"""Paths inside a bundle, for the code that writes one and the code that reads one."""

MANIFEST = "bundle.json"
RUN, SECOND = "data/run.jsonl", "data/second.jsonl"

"""Paths inside a bundle, shared by the code that writes and the code that reads bundles."""

MANIFEST = "bundle.json"
RUN, SECOND = "data/run.jsonl", "data/second.jsonl"

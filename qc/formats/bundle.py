"""Where things are in a bundle: what those who write one and those who read one have in common."""

MANIFEST = "bundle.json"
RUN, SECOND = "data/run.jsonl", "data/second.jsonl"

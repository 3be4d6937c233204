"""A small study whose chatbots are builtin, so that a rehearsal of it takes seconds."""

from typing import Any

STUDY: dict[str, Any] = {
    "name": "orchard",
    "title": "A few chats",
    "payment": "1 euro",
    "systems_per_assignment": 3,
    "minimum_inputs": 2,
    "criteria": [
        {"label": "fun", "statement": "It was fun."},
        {"label": "fluent", "statement": "It was fluent."},
        {"label": "kind", "statement": "It was kind."},
    ],
    "systems": [
        {"name": name, "family": name, "bot": f"builtin:{bot}"}
        for name, bot in (("apple", "reflect"), ("pear", "retrieval"), ("quince", "ngram"))
    ],
    "reply_time": {"median": 0, "spread": 0, "longest": 0},
}

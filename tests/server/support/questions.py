"""A study that asks questions of its own, in every form there is, and answers to them."""

from typing import Any

ASKED: dict[str, Any] = {
    "before": [
        {"label": "age", "kind": "number", "question": "How old are you?", "least": 18, "most": 120},
        {"label": "often", "kind": "choice", "question": "How often?", "choices": ["Never", "Daily"]},
    ],
    "conversation": [
        {
            "label": "human",
            "kind": "likert",
            "points": 5,
            "ends": ["like a machine", "like a person"],
            "question": "How human was it?",
        },
        {"label": "note", "kind": "text", "question": "Anything else?", "required": False},
    ],
    "after": [
        {
            "label": "tools",
            "kind": "choices",
            "question": "Which do you use?",
            "choices": ["Phone", "Laptop", "Tablet"],
        },
        {"label": "strain", "kind": "slider", "question": "How tiring?", "ends": ["not at all", "very"]},
    ],
}
SCALES = [
    {"label": "robotic", "statement": "It was a machine.", "negative": True, "qc": False},
    {"label": "fun", "statement": "It was fun.", "scale": {"kind": "likert", "points": 7}},
    {"label": "fluent", "statement": "It was fluent."},
    {"label": "why", "statement": "Why?", "scale": {"kind": "text"}},
]
ANSWERS: dict[str, dict[str, Any]] = {
    "before": {"age": 31, "often": "Daily"},
    "conversation": {"human": 4, "why": "It knew the sea."},
    "after": {"tools": ["Tablet", "Phone"], "strain": 20},
}
# The point 7 of 7 for `fun`.
POINTS = {"robotic": 10, "fun": 7, "fluent": 100}

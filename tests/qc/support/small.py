"""A data set small enough to work out by hand; what follows from it is derived in test_small.py."""

from collections.abc import Mapping

# Three criteria: fun and clear count for quality control; robotic is negative and does not.
CRITERIA = {
    "robotic": {"positive": False, "qc": False, "max": 100},
    "fun": {"positive": True, "qc": True, "max": 100},
    "clear": {"positive": True, "qc": True, "max": 100},
}
SYSTEMS = ["alpha", "alpha_p", "beta"]
PERSONA = "I am a cook.\nI have two dogs."

# worker -> (seconds, [(system, robotic, fun, clear), ...])
SMALL: Mapping[str, tuple[int, list[tuple[str, int, int, int]]]] = {
    "anna": (
        2400,
        [("alpha", 55, 30, 40), ("qc", 55, 10, 20), ("beta", 55, 50, 60), ("alpha_p", 55, 70, 80)],
    ),
    "ben": (960, [("alpha", 55, 10, 20), ("qc", 55, 70, 80), ("beta", 55, 30, 40), ("alpha_p", 55, 50, 60)]),
    "cleo": (480, [("alpha", 50, 50, 50), ("qc", 50, 50, 50), ("beta", 50, 50, 50), ("alpha_p", 50, 50, 50)]),
    "dan": (600, [("alpha", 10, 20, 30), ("beta", 40, 50, 60)]),
    "eve": (300, [("qc", 90, 5, 6)]),
}

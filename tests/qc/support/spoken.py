"""Runs in which something is said, for metrics: three systems and the qc bot, each with a way of its own."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from qc.run import Run, Words
from tests.qc.support.runs import QC, run_of

# What each system says, turn by turn; `chatty` is the one that people like, `echo` repeats itself.
REPLIES = {
    "chatty": ("I love long walks by the sea, and you?", "Cooking is fun, what do you like to eat?"),
    "plain": ("I like tea.", "My dog sleeps all day."),
    "echo": ("I do not know.", "I do not know."),
    QC: ("purple Tuesday ladder seven", "the of running green"),
}
LEVELS = {"chatty": 80.0, "plain": 60.0, "echo": 35.0, QC: 5.0}
INPUTS = ("Hello, how are you?", "What do you like?")


def spoken_run(workers: int = 12, labels: Sequence[str] = ("fun", "topic"), seed: int = 3) -> Run:
    """Return a run of workers who can all tell the qc bot, with the words of every conversation."""
    rng = np.random.default_rng(seed)
    order = ["chatty", QC, "plain", "echo"]
    systems = [system for _ in range(workers) for system in order]
    who = [f"w{worker:02}" for worker in range(workers) for _ in order]
    levels = np.array([LEVELS[system] for system in systems])[:, None]
    ratings = np.clip(levels + rng.normal(0, 5, (len(systems), len(labels))), 0, 100)
    run = run_of(who, systems, ratings, [1, 2, 3, 4] * workers, words=_words(systems))
    run.criteria["label"] = list(labels)
    run.ratings.columns = pd.Index(labels)
    run.conversations["persona"] = pd.Series([None] * len(systems), dtype="str")
    run.assignments["seconds"] = 600.0
    run.assignments["feedback"] = pd.Series([None] * workers, dtype="str")
    return run


def _words(systems: Sequence[str]) -> Words:
    turns = len(INPUTS)
    number = np.repeat(np.arange(len(systems), dtype=np.int32), turns)
    exchanges = pd.DataFrame(
        {
            "conversation": number,
            "round": np.tile(np.arange(1, turns + 1, dtype=np.int32), len(systems)),
            "input": pd.Series(INPUTS * len(systems), dtype="str"),
            "reply": pd.Series([reply for system in systems for reply in REPLIES[system]], dtype="str"),
        }
    )
    nothing = np.empty(0, np.int32)
    topics = pd.DataFrame({"conversation": nothing, "round": nothing, "topic": [], "opinion": []})
    changes = pd.DataFrame({"conversation": nothing, "round": nothing, "how": [], "bot_opinion": []})
    return Words(exchanges, topics, changes)

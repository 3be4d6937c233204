"""What is known of the words of the conversations."""

import numpy as np
import pandas as pd

from qc.analysis import Analysis
from qc.render.tables.named import GROUPS, Named


def topics(analysis: Analysis) -> Named:
    """Yield opinions of topics, changes of topic, words of topics."""
    found = analysis.topics
    if found is None:
        return
    yield (
        "topics_opinions.csv",
        pd.DataFrame(
            [
                (which, group, shares.n, shares.like, shares.ambivalent, shares.dislike)
                for which, by_group in (("opening", found.opening), ("every", found.every))
                for group, shares in by_group.items()
            ],
            columns=["topics", "group", "n", "like", "ambivalent", "dislike"],
        ),
    )
    yield (
        "topic_changes.csv",
        pd.DataFrame(
            [
                (group, kind, count, count / changes.n if changes.n else np.nan)
                for group, changes in found.changes.items()
                for kind, count in changes.counts.items()
            ],
            columns=["group", "kind", "count", "share"],
        ),
    )
    yield "topic_words.csv", pd.DataFrame(found.words, columns=["word", "count"])


def effort(analysis: Analysis) -> Named:
    """Yield how much workers wrote."""
    found = analysis.effort
    if found is None:
        return
    measures = (
        "inputs_per_conversation",
        "words_per_input",
        "words_per_conversation",
        "characters_per_input",
        "characters_per_conversation",
    )
    lengths = [
        (group, measure, getattr(getattr(found, group), measure)) for group in GROUPS for measure in measures
    ]
    yield (
        "effort.csv",
        pd.DataFrame(
            [(group, measure, each.n, each.mean, each.median) for group, measure, each in lengths],
            columns=["group", "measure", "n", "mean", "median"],
        ),
    )

"""Replace workers' ids with neutral names in all published data of a run."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

import pandas as pd

from qc.run import Answers, LeftOut, Run, Words

# Shorter ids are also ordinary words and numbers in people's texts, so replacing them would damage the text.
SHORTEST_IN_TEXT = 6
_TOKEN = re.compile(r"[\w@.+=-]+")
_WORD = re.compile(r"\w+")


def pseudonyms_for(runs: Iterable[Run]) -> dict[str, str]:
    """Return a name such as `w0017` for each worker of `runs`, in the order of their ids.

    The order is kept so that random draws of workers do not depend on their names.
    """
    names = sorted({name for run in runs for name in _workers(run)})
    width = len(str(len(names)))
    return {name: f"w{number:0{width}}" for number, name in enumerate(names, start=1)}


def _workers(run: Run) -> set[str]:
    return {*run.assignments["worker"].cat.categories, *(out.worker for out in run.left_out)}


def pseudonymous(run: Run, names: Mapping[str, str]) -> Run:
    """Return the file data of `run` with workers renamed by `names`, in ids and in texts."""
    ids, texts = _Replacing(names), _Replacing({k: v for k, v in names.items() if len(k) >= SHORTEST_IN_TEXT})
    assignments = run.assignments.assign(
        assignment=run.assignments["assignment"].map(ids),
        hit=run.assignments["hit"].map(ids),
        worker=run.assignments["worker"].cat.rename_categories(dict(names)),
        feedback=run.assignments["feedback"].map(texts, na_action="ignore"),
    )
    conversations = run.conversations.assign(
        conversation=run.conversations["conversation"].map(ids),
        assignment=run.conversations["assignment"].cat.rename_categories(ids),
        worker=run.conversations["worker"].cat.rename_categories(dict(names)),
    )
    return replace(
        run,
        assignments=assignments,
        conversations=conversations,
        words=None if run.words is None else _said(run.words, texts),
        unrated=None,
        background=None,
        answers=None if run.answers is None else _answered(run.answers, ids, texts),
        left_out=tuple(
            LeftOut(ids(out.assignment), names[out.worker], texts(out.reason)) for out in run.left_out
        ),
        notes=tuple(map(texts, run.notes)),
    )


def _answered(answers: Answers, ids: "_Replacing", texts: "_Replacing") -> Answers:
    given = answers.given
    renamed = {
        name: given[name].map(replacing, na_action="ignore").astype(given[name].dtype)
        for name, replacing in (("assignment", ids), ("conversation", ids), ("text", texts))
    }
    return replace(answers, given=given.assign(**renamed))


def _said(words: Words, texts: "_Replacing") -> Words:
    def mapped(column: pd.Series) -> pd.Series:
        return column.map(texts, na_action="ignore").astype(column.dtype)

    exchanges, topics = words.exchanges, words.topics
    return replace(
        words,
        exchanges=exchanges.assign(input=mapped(exchanges["input"]), reply=mapped(exchanges["reply"])),
        topics=topics.assign(topic=mapped(topics["topic"])),
    )


class _Replacing:
    """Replace ids that are separate words of a text; the time is linear in the text."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = names
        unlike_words = sorted((name for name in names if not _TOKEN.fullmatch(name)), key=len, reverse=True)
        self._others = re.compile("|".join(map(re.escape, unlike_words))) if unlike_words else None

    def __call__(self, text: str) -> str:
        if self._others is not None:
            text = self._others.sub(lambda found: self._names[found[0]], text)
        return _TOKEN.sub(self._token, text)

    def _token(self, found: re.Match[str]) -> str:
        token = found[0]
        if token in self._names:
            return self._names[token]
        core = token.strip(".+=-@")
        if core in self._names:
            return token.replace(core, self._names[core])
        return _WORD.sub(lambda word: self._names.get(word[0], word[0]), token)

"""Signature of a result: one line that identifies its data and options, so that results can be compared.

Modelled on sacreBLEU (Post, *A Call for Clarity in Reporting BLEU Scores*, WMT 2018).
"""

import hashlib
import json
import re
from collections.abc import Collection, Mapping, Sequence
from importlib.metadata import version
from typing import Protocol
from urllib.parse import quote

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from qc.options import Dialogues
from qc.run import Run, Words

DIGEST_LENGTH = 16

# Columns of a run that determine its numbers or identify its workers. Columns that only some formats can
# hold are not hashed.
_ASSIGNMENT = ["assignment", "hit", "worker", "seconds"]
_CONVERSATION = ["assignment", "worker", "position", "system", "is_qc"]
_EXCHANGE = ["conversation", "round", "input"]
_REPLY = ["conversation", "round", "reply"]
_CHOICE = ["assignment", "worker", "pair", "left", "right", "turn", "preference"]
_UNRATED = ["assignment", "worker", "system"]
_QUESTION = ["part", "label", "kind", "question", "points"]
_ANSWER = ["assignment", "system", "part", "label", "text", "number"]
# Characters that would end a part of the line, an item of a part, or the line; and the escape sign.
_UNSAFE = re.compile("[%|,\x00-\x1f\x7f-\x9f\u2028\u2029]")


class Digest(Protocol):
    """A hash object of `hashlib`, updated piece by piece."""

    def update(self, data: bytes | memoryview, /) -> None:
        """Add `data` to the hash."""


def signature(
    run: Run,
    *,
    alpha: float,
    seed: int = 0,
    bootstrap: int | None = None,
    second: Run | None = None,
    reward: float | None = None,
    margins: Mapping[str, Mapping[str, float]] | None = None,
    fee: float = 0.0,
    dialogues: Dialogues | None = None,
) -> str:
    """Return the signature of an analysis of `run`.

    Two analyses with the same signature give the same numbers. The signature does not include the list of
    computed sections, because no section changes another.

    Args:
        run: the analysed run.
        alpha: level of quality control.
        seed: random seed.
        bootstrap: number of resamples; None if there are none.
        second: the run that it is correlated with, if there is one.
        reward: dollars for each assignment; None for the rewards in the data.
        margins: margins of the population that scores are weighted to; None if there are none.
        fee: fee of the platform, as a share of the rewards.
        dialogues: those that workers' messages are compared with; None if there are none.
    """
    parts = {
        "candor": version("candor-eval"),
        **({} if run.items is None else {"task": "transcripts"}),
        "data": f"sha256:{data_hash(run)[:DIGEST_LENGTH]}",
        **({} if run.words is None else {"words": f"sha256:{words_hash(run.words)[:DIGEST_LENGTH]}"}),
        "criteria": ",".join(_criteria(run)),
        "filter": _filter(run),
        "alpha": str(alpha),
        "z": "worker:ddof=1",
        "partial": "yes" if run.partial else "no",
        "seed": str(seed),
        **({} if bootstrap is None else {"bootstrap": str(bootstrap)}),
        **({} if second is None else _second(second)),
        **_background(run, margins),
        **_asked(run),
        **_reward(run.assignments["reward"], reward),
        **({"fee": str(fee)} if fee else {}),
        **({} if dialogues is None else {"dialogues": f"sha256:{_hash(_frame(dialogues))[:DIGEST_LENGTH]}"}),
    }
    return "|".join(f"{key}={value}" for key, value in parts.items())


def comparison_signature(
    choices: pd.DataFrame,
    systems: Sequence[str],
    qc: Collection[str],
    rated: Run | None,
    *,
    alpha: float,
    seed: int,
    bootstrap: int,
) -> str:
    """Return the signature of an analysis of comparisons: the same signature means the same numbers.

    Args:
        choices: with the columns of `qc.loading.choices.Choices.choices`, in their order.
        systems: the compared systems.
        qc: the QC bots.
        rated: the run's ratings; None if it has none.
        alpha: level at which a worker is suspicious, and at which a worker who rated passes.
        seed: random seed.
        bootstrap: number of resamples.
    """
    named = pd.DataFrame(
        [(name, False) for name in systems] + [(name, True) for name in sorted(qc)],
        columns=["system", "is_qc"],
    )
    data = _hash(choices[_CHOICE], named)
    parts = {
        "candor": version("candor-eval"),
        "task": "side_by_side",
        "data": f"sha256:{data[:DIGEST_LENGTH]}",
        **({} if rated is None else {"ratings": f"sha256:{data_hash(rated)[:DIGEST_LENGTH]}"}),
        "alpha": str(alpha),
        "seed": str(seed),
        "bootstrap": str(bootstrap),
    }
    return "|".join(f"{key}={value}" for key, value in parts.items())


def votes_signature(votes: pd.DataFrame, systems: Sequence[str], *, seed: int) -> str:
    """Return the signature of an analysis of an arena's votes: the same signature means the same numbers.

    Args:
        votes: numbers of both systems, the outcome, the voter and the style of each vote, in order.
        systems: names of the systems by number.
        seed: random seed.
    """
    data = _hash(votes, pd.DataFrame({"system": list(systems)}, dtype="str"))
    parts = {
        "candor": version("candor-eval"),
        "task": "arena",
        "data": f"sha256:{data[:DIGEST_LENGTH]}",
        "seed": str(seed),
    }
    return "|".join(f"{key}={value}" for key, value in parts.items())


def several_runs_signature(runs: Sequence[Run], *, alpha: float, seed: int, bootstrap: int) -> str:
    """Return the signature of runs side by side: the same signature means the same numbers.

    Args:
        runs: in the order in which they were given; the key of each part ends in the run's number, from 1.
        alpha: level of quality control.
        seed: random seed.
        bootstrap: number of resamples.
    """
    parts = {"candor": version("candor-eval")}
    for number, run in enumerate(runs, start=1):
        held = {"data": data_hash(run)} | ({} if run.words is None else {"words": words_hash(run.words)})
        parts |= {f"{key}{number}": f"sha256:{digest[:DIGEST_LENGTH]}" for key, digest in held.items()}
        # Unrated conversations count too, in the minutes per conversation.
        parts |= {f"{key}{number}": digest for key, digest in _asked(run, ("unrated", "people")).items()}
    parts |= {"alpha": str(alpha), "seed": str(seed), "bootstrap": str(bootstrap)}
    return "|".join(f"{key}={value}" for key, value in parts.items())


def judgments_signature(rows: pd.DataFrame, metrics: pd.DataFrame, seed: int, bootstrap: int) -> str:
    """Return the signature of estimates from judgments: the same signature means the same numbers.

    Args:
        rows: judgments, with the columns of `qc.judgments.Judgments.rows`.
        metrics: metrics of the pool.
        seed: random seed.
        bootstrap: number of resamples.
    """
    parts = {
        "candor": version("candor-eval"),
        "judgments": f"sha256:{_hash(rows)[:DIGEST_LENGTH]}",
        "pool": str(len(metrics)),
        "metrics": f"sha256:{_hash(metrics)[:DIGEST_LENGTH]}",
        "seed": str(seed),
        "bootstrap": str(bootstrap),
    }
    return "|".join(f"{key}={value}" for key, value in parts.items())


def _background(run: Run, margins: Mapping[str, Mapping[str, float]] | None) -> dict[str, str]:
    """Return hashes of the workers' background and of the population's margins, if there are any."""
    said = [] if run.background is None else [run.background.fillna("")]
    before = None if run.answers is None else run.answers.given.query("part == 'before'")
    if before is not None and len(before):
        said.append(before[["assignment", "label", "text", "number"]])
    parts = {"background": _hash(*said)[:DIGEST_LENGTH]} if said else {}
    if margins is not None:
        given = json.dumps({field: dict(shares) for field, shares in margins.items()}, sort_keys=True)
        parts["margins"] = hashlib.sha256(given.encode()).hexdigest()[:DIGEST_LENGTH]
    return {name: f"sha256:{digest}" for name, digest in parts.items()}


def _second(run: Run) -> dict[str, str]:
    """Return hashes of a second run, and of its systems that are people, if any."""
    people = {f"second_{name}": digest for name, digest in _asked(run, ("people",)).items()}
    return {"second": f"sha256:{data_hash(run)[:DIGEST_LENGTH]}", **people}


def _asked(run: Run, kinds: Collection[str] | None = None) -> dict[str, str]:
    """Return hashes of the run's data besides ratings and words; only of `kinds`, if given."""
    frames = {
        "quiz": _quizzes(run),
        "replies": _replies(run),
        "writing": [] if run.writing is None else [run.writing],
        "references": [] if run.reference_words is None else [run.reference_words.to_frame("words")],
        "waits": [] if run.waits is None else [run.waits.to_frame("wait")],
        "turns": [] if run.turn_ratings is None else [run.turn_ratings],
        "scenarios": [] if run.scenarios is None else [run.scenarios.to_frame("scenario")],
        "answers": _answers(run),
        "unrated": [] if run.unrated is None else [run.unrated.conversations[_UNRATED]],
        "people": [pd.DataFrame({"system": sorted(run.people)}, dtype="str")] if run.people else [],
    }
    return {
        name: f"sha256:{_hash(*held)[:DIGEST_LENGTH]}"
        for name, held in frames.items()
        if held and (kinds is None or name in kinds)
    }


def _frame(dialogues: Dialogues) -> pd.DataFrame:
    return pd.DataFrame({"side": dialogues.sides, "line": dialogues.lines})


def _quizzes(run: Run) -> list[pd.DataFrame]:
    """Return the quizzes. Signatures from before quizzes about personas stay valid."""
    if run.quizzes is None:
        return []
    is_old = (run.quizzes["about"] == "lines").all()
    return [run.quizzes.drop(columns="about") if is_old else run.quizzes]


def _replies(run: Run) -> list[pd.DataFrame]:
    """Return the bots' replies, in which scores with style held constant are computed."""
    if run.words is None or run.words.exchanges["reply"].isna().all():
        return []
    return [run.words.exchanges[_REPLY]]


def _answers(run: Run) -> list[pd.DataFrame]:
    """Return all questions and answers except those before the first conversation (background)."""
    if run.answers is None or (run.answers.questions["part"] == "before").all():
        return []
    questions, given = (
        frame.query("part != 'before'") for frame in (run.answers.questions, run.answers.given)
    )
    choices = questions["choices"].map("\x1d".join)
    return [questions[_QUESTION].assign(choices=choices), given[_ANSWER]]


def _reward(paid: pd.Series, given: float | None) -> dict[str, str]:
    """Return the common reward, or a hash if rewards differ; nothing if none is known."""
    amounts = paid.unique() if given is None else np.array([given])
    if len(amounts) == 1:
        return {} if np.isnan(amounts[0]) else {"reward": str(float(amounts[0]))}
    return {"reward": f"sha256:{_hash(paid.to_frame())[:DIGEST_LENGTH]}"}


def data_hash(run: Run) -> str:
    """Return the SHA-256, in hex, of the analysed data, without words.

    The hash depends on the content and not on how it is stored: the same run read from another format, or
    with its assignments in another order, has the same hash.
    """
    return _data_hash(run, run.systems)


def published_hash(run: Run) -> str:
    """Return `data_hash` without families and personas of systems, which the published form does not hold.

    It identifies two sources as the same run even if one of them lacks these columns.
    """
    return _data_hash(run, run.systems[["system", "is_qc"]])


def _data_hash(run: Run, systems: pd.DataFrame) -> str:
    assignments, conversations = run.assignments[_ASSIGNMENT], run.conversations[_CONVERSATION]
    items = [] if run.items is None else [run.items]
    return _hash(run.criteria, systems, assignments, conversations, run.ratings, *items)


def words_hash(words: Words) -> str:
    """Return the SHA-256, in hex, of the workers' messages and the topics, without the bots' replies."""
    return _hash(words.exchanges[_EXCHANGE], words.topics, words.changes)


def as_part(text: str) -> str:
    """Percent-encode the characters of `text` that would break up a signature."""
    return _UNSAFE.sub(lambda found: quote(found[0], safe=""), text)


def _criteria(run: Run) -> list[str]:
    """Return the labels of the criteria: `-` before a negative one, `*` after one that counts for QC."""
    return [
        f"{'-' if row.negative else ''}{as_part(str(row.label))}{'*' if row.counts_for_qc else ''}"
        for row in run.criteria.itertuples()
    ]


def _hash(*frames: pd.DataFrame) -> str:
    digest = hashlib.sha256()
    for frame in frames:
        for name, column in frame.items():
            digest.update(f"{name}\x1d{len(column)}\x1d".encode())
            _update(digest, column)
    return digest.hexdigest()


def _update(digest: Digest, column: pd.Series) -> None:
    if isinstance(column.dtype, pd.CategoricalDtype):
        _update_texts(digest, column.cat.categories.to_series())
        digest.update(column.cat.codes.to_numpy("<i4").tobytes())
    elif pd.api.types.is_integer_dtype(column):
        digest.update(column.to_numpy("<i4").tobytes())
    elif pd.api.types.is_bool_dtype(column) or pd.api.types.is_numeric_dtype(column):
        digest.update(column.to_numpy("<f8").tobytes())
    else:
        _update_texts(digest, column)


def _update_texts(digest: Digest, column: pd.Series) -> None:
    """Hash the lengths of the texts (−1 if missing), then the texts, independently of their chunks."""
    texts = pa.chunked_array(pa.array(column, pa.large_string(), from_pandas=True))
    lengths = pc.fill_null(pc.binary_length(texts), -1)
    digest.update(lengths.to_numpy().astype("<i4").tobytes())
    for chunk in texts.chunks:
        digest.update(_bytes(chunk.fill_null("")))


def _bytes(texts: pa.Array) -> memoryview:
    """Return the concatenated bytes of `texts`, without a copy."""
    _, offsets, data = texts.buffers()
    if data is None or len(texts) == 0:
        return memoryview(b"")
    bounds = np.frombuffer(offsets, np.int64)[texts.offset : texts.offset + len(texts) + 1]
    return memoryview(data)[bounds[0] : bounds[-1]]


def _filter(run: Run) -> str:
    if run.items is None:
        return "mann-whitney:less:auto"
    return "signed-rank:less:exact<=5" if run.items["kind"].eq("bad").any() else "none"

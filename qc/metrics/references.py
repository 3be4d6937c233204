"""Read reference replies (`--references FILE`), and compare a reply with them word by word.

A CSV or JSON Lines with `conversation`, `reference` and, if a reference is for one reply, `turn`: the number
of the person's message that the reply answers, from 1. A reference without a turn is for all replies of the
system in the conversation together. Several lines for one turn are several references for one reply.

If there are several references, the one with the highest score counts (BLEU and chrF use all at once). Texts
are split into words by `tokens`, for BLEU and chrF by sacreBLEU.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray
from pydantic_core import from_json
from snowballstemmer import stemmer

from candor.common.files import read_file
from qc.errors import DataError, Problem, SourceError, quoted
from qc.loading.validation import repeated_keys
from qc.metrics.metric_table import REPAIR, read_csv
from qc.metrics.transcripts import Transcript, conversation_names
from qc.run import Run

if TYPE_CHECKING:
    from sacrebleu.metrics.base import Metric

_WORD = re.compile(r"\w+(?:['’]\w+)*")

Tokens = tuple[str, ...]


def tokens(text: str) -> Tokens:
    """Return the words of `text` in lower case, without punctuation; `don't` is one word."""
    return tuple(_WORD.findall(text.lower()))


def ngrams(words: Sequence[str], n: int) -> Counter[Tokens]:
    """Count each sequence of `n` words."""
    return Counter(zip(*(words[start:] for start in range(n)), strict=False))


# Parameters of METEOR: the weight of precision, the exponent and the weight of the penalty for scattered
# matches.
ALPHA, BETA, GAMMA = 0.9, 3.0, 0.5
LONGEST_NGRAM = 4


@dataclass(frozen=True, slots=True)
class ReferencedReply:
    """A reply and its references, at least one."""

    reply: str
    references: tuple[str, ...]


def rouge_l(reply: Tokens, reference: Tokens) -> float:
    """Return the F1 of the longest common subsequence of words, 0 to 1.

    Source: Lin, *ROUGE: A Package for Automatic Evaluation of Summaries*, 2004, section 3.1, with β = 1.
    """
    longest = [0] * (len(reference) + 1)
    for word in reply:
        above = longest
        longest = [0]
        for column, other in enumerate(reference, start=1):
            longest.append(
                above[column - 1] + 1 if word == other else max(above[column], longest[column - 1])
            )
    both = len(reply) + len(reference)
    return 2 * longest[-1] / both if both else 0.0


def gleu(reply: Tokens, reference: Tokens) -> float:
    """Return the smaller of precision and recall of all sequences of 1 to 4 words, 0 to 1.

    Source: Wu et al., *Google's Neural Machine Translation System*, 2016, section 6 (GLEU score).
    """
    matches, lengths = 0, [0, 0]
    for n in range(1, LONGEST_NGRAM + 1):
        ours, theirs = ngrams(reply, n), ngrams(reference, n)
        matches += (ours & theirs).total()
        lengths = [lengths[0] + ours.total(), lengths[1] + theirs.total()]
    return matches / max(lengths) if max(lengths) else 0.0


def meteor_exact_stem(reply: Tokens, reference: Tokens) -> float:
    """Return METEOR, 0 to 1, with exact and stem matches, without synonyms.

    Words are matched from the left, first equal words, then words with the same stem. If a word can match
    several, it takes the one that follows the previous match, else the first.

    Source: Banerjee and Lavie, *METEOR*, 2005; parameters of Lavie and Agarwal, 2007.
    """
    pairs = _aligned(reply, reference)
    if not pairs:
        return 0.0
    precision, recall = len(pairs) / len(reply), len(pairs) / len(reference)
    mean = precision * recall / (ALPHA * precision + (1 - ALPHA) * recall)
    follows = sum((b[0] - a[0], b[1] - a[1]) == (1, 1) for a, b in pairwise(pairs))
    chunks = len(pairs) - follows
    return float(mean * (1 - GAMMA * (chunks / len(pairs)) ** BETA))


def _aligned(reply: Tokens, reference: Tokens) -> list[tuple[int, int]]:
    """Return pairs of matching words of the reply and the reference, in the order of the reply."""
    matched: dict[int, int] = {}
    for ours, theirs in ((reply, reference), (_stems(reply), _stems(reference))):
        free = [place for place in range(len(theirs)) if place not in matched.values()]
        for place, word in enumerate(ours):
            found = [other for other in free if theirs[other] == word]
            if place in matched or not found:
                continue
            after = matched.get(place - 1, -1) + 1
            matched[place] = after if after in found else found[0]
            free.remove(matched[place])
    return sorted(matched.items())


def _stems(words: Tokens) -> Tokens:
    return tuple(map(_stem, words))


@cache
def _stem(word: str) -> str:
    return str(stemmer("porter").stemWord(word))


BY_WORDS: dict[str, Callable[[Tokens, Tokens], float]] = {
    "rouge_l": rouge_l,
    "meteor_exact_stem": meteor_exact_stem,
    "gleu": gleu,
}


def mean_overlap(name: str, replies: Sequence[ReferencedReply]) -> float:
    """Return the mean over `replies` of a metric of BY_WORDS; NaN without replies."""
    metric = BY_WORDS[name]
    scores = [
        max(metric(tokens(each.reply), tokens(reference)) for reference in each.references)
        for each in replies
    ]
    return float(np.mean(scores)) if scores else float("nan")


class CorpusOverlap:
    """BLEU and chrF of sacreBLEU: counts are summed over all replies of a conversation or a system.

    Sources: Papineni et al., *BLEU*, 2002; Popović, *chrF*, 2015; Post, *A Call for Clarity in Reporting BLEU
    Scores*, 2018, whose package computes both.
    """

    def __init__(self, name: str) -> None:
        """Prepare `name`: `bleu` or `chrf`."""
        # These imports take 0.2 s, and only runs with references need them.
        from sacrebleu.metrics.bleu import BLEU  # noqa: PLC0415
        from sacrebleu.metrics.chrf import CHRF  # noqa: PLC0415

        # Replies are short: without effective order, a reply of three words would have no BLEU.
        metrics: dict[str, Callable[[], Metric]] = {"bleu": lambda: BLEU(effective_order=True), "chrf": CHRF}
        self._metric = metrics[name]()

    def score(self, replies: Sequence[ReferencedReply]) -> float:
        """Return the score of all `replies` together, 0 to 100; NaN without replies."""
        if not replies:
            return float("nan")
        most = max(len(each.references) for each in replies)
        # sacreBLEU accepts None for a missing reference.
        streams = [
            [each.references[number] if number < len(each.references) else None for each in replies]
            for number in range(most)
        ]
        return float(self._metric.corpus_score([each.reply for each in replies], cast(Any, streams)).score)

    @property
    def signature(self) -> str:
        """sacreBLEU's signature of the scores so far."""
        return str(self._metric.get_signature())


def by_group(
    metric: CorpusOverlap,
    replies: Sequence[Sequence[ReferencedReply]],
    groups: NDArray[np.intp],
    count: int,
    taken: NDArray[np.bool_],
) -> NDArray[np.float64]:
    """Return the score of each group of conversations, (count,); NaN for a group without references.

    Args:
        metric: BLEU or chrF.
        replies: the replies of each conversation.
        groups: (C,), codes.
        count: number of groups.
        taken: (C,), whether the conversation counts.
    """
    gathered: list[list[ReferencedReply]] = [[] for _ in range(count)]
    for conversation in np.flatnonzero(taken).tolist():
        gathered[groups[conversation]] += replies[conversation]
    return np.array([metric.score(each) for each in gathered])


_TURN = re.compile(r"\d{1,9}")
_FIELDS = {"conversation", "turn", "reference"}
# Location in the file, conversation, turn (None: all replies), reference.
_Line = tuple[str, str, int | None, str]


def read_references(
    path: Path, run: Run, spoken: Sequence[Transcript], notes: list[str]
) -> tuple[tuple[ReferencedReply, ...], ...]:
    """Return, for each conversation of `run`, the replies with references in the file at `path`.

    Args:
        path: the file; a CSV if its suffix is `.csv`, else JSON Lines.
        run: the run of the conversations.
        spoken: their transcripts.
        notes: notes on the file are added to it.

    Raises:
        SourceError: the file cannot be read.
        DataError: a line is invalid; the error lists all problems.
    """
    problems: list[Problem] = []
    lines = list(
        _csv(path, problems, notes) if path.suffix.lower() == ".csv" else _json_lines(path, problems)
    )
    row_of = {name: row for row, name in enumerate(conversation_names(run))}
    gathered: dict[tuple[int, str], list[str]] = defaultdict(list)
    for where, name, turn, reference in lines:
        row = row_of.get(name)
        if row is None:
            problems.append(Problem(where, f"unknown conversation {quoted(name)}.", REPAIR))
            continue
        reply = _reply(spoken[row], turn)
        if reply is None:
            problems.append(Problem(where, f"{name!r} has no reply of turn {turn}.", REPAIR))
        else:
            gathered[row, reply].append(reference)
    if problems:
        raise DataError(str(path), problems)
    if not gathered:
        raise SourceError(f"{path}: the file holds no reference. Give one a line, or leave --references out.")
    found: list[list[ReferencedReply]] = [[] for _ in spoken]
    for (row, reply), references in gathered.items():
        found[row].append(ReferencedReply(reply, tuple(references)))
    return tuple(map(tuple, found))


def _reply(spoken: Transcript, turn: int | None) -> str | None:
    """Return the system's reply to message `turn`, or all its replies in the conversation."""
    if turn is None:
        return "\n".join(spoken.replies) or None
    return next((each.reply for each in spoken.exchanges if each.round == turn), None)


def _csv(path: Path, problems: list[Problem], notes: list[str]) -> Iterator[_Line]:
    table = read_csv(path, ("conversation", "reference", "turn"))
    notes += table.notes
    heading, lines = table.header, table.rows
    if set(heading) - {"turn"} != {"conversation", "reference"}:
        raise SourceError(
            f"{path}: the columns should be `conversation`, `reference` and, if wanted, `turn`; they are "
            f"{quoted(','.join(heading))}."
        )
    for number, line in enumerate(lines, start=2):
        cells = dict(zip(heading, line, strict=False))
        turn = cells.get("turn") or None
        given = {**cells, "turn": int(turn) if turn and _TURN.fullmatch(turn) else turn}
        yield from _checked(f"line {number}", given, problems)


def _json_lines(path: Path, problems: list[Problem]) -> Iterator[_Line]:
    try:
        text = read_file(path).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise SourceError(f"{path}: the file cannot be read ({reason}). Give JSON Lines in UTF-8.") from None
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            given = from_json(line)
        except ValueError:
            problems.append(Problem(f"line {number}", "this is no JSON.", REPAIR))
            continue
        problems += repeated_keys(line, f"line {number}")
        yield from _checked(f"line {number}", given, problems)


def _checked(where: str, given: object, problems: list[Problem]) -> Iterator[_Line]:
    """Yield the line if it is valid; else add a problem."""
    fields = given if isinstance(given, dict) else {}
    name, reference, turn = (fields.get(field) for field in ("conversation", "reference", "turn"))
    if unknown := sorted(fields.keys() - _FIELDS):
        problems.append(Problem(where, f"the field {unknown[0]!r} is not known here.", REPAIR))
    elif not isinstance(name, str) or not isinstance(reference, str) or not reference.strip():
        problems.append(Problem(where, "`conversation` and `reference` should both be texts.", REPAIR))
    elif turn is not None and (not isinstance(turn, int) or turn < 1):
        problems.append(Problem(where, f"the turn is {quoted(turn)}, not a whole number from 1.", REPAIR))
    else:
        yield where, name, turn, reference

"""The texts that systems wrote, with what metrics compare them with, and people's scores of the systems.

They come from a run whose workers rated items, or from a plain file.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pydantic_core import from_json

from qc.errors import DataError, OptionError, Problem, SourceError, joined, quoted
from qc.method.sample import Sample
from qc.method.scores import Scores, score
from qc.metrics.findings import PEOPLE
from qc.metrics.metric_table import REPAIR
from qc.metrics.model_metrics import AnsweredQuestion
from qc.metrics.overlap.words import ReferencedReply
from qc.metrics.texts.lines import Line, read_lines
from qc.metrics.transcripts import Exchange, Transcript
from qc.run import REMOVED
from qc.table import OVERALL, counted

QUESTION_MARKS = ("?", "？")


@dataclass(frozen=True, slots=True)
class SystemOutput:
    """What a system wrote for an item: a text, or its part of a conversation.

    Attributes:
        name: its name, unique.
        item: the item; other systems may have an output for it, too.
        system: the system.
        spoken: the output as a conversation: a text replies to its passage and question.
        passage, question, answer: as in `Line`; empty if unknown.
        references: texts to compare it with.
    """

    name: str
    item: str
    system: str
    spoken: Transcript
    passage: str = ""
    question: str = ""
    answer: str = ""
    references: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """All that the system wrote."""
        return "\n".join(self.spoken.replies)


@dataclass(frozen=True)
class TextSet:
    """Outputs, and people's scores.

    Attributes:
        name: name of the run or of the file.
        source: where they were read from.
        outputs: the outputs.
        systems: the systems.
        counted: (outputs,), whether people's scores are of the output.
        human: people's scores of the systems; None if there are none.
        method: how they were computed, in a sentence.
        notes: sentences that a reader must see.
    """

    name: str
    source: str
    outputs: tuple[SystemOutput, ...]
    systems: tuple[str, ...]
    counted: NDArray[np.bool_]
    human: Scores | None
    method: str
    notes: tuple[str, ...]

    @property
    def codes(self) -> NDArray[np.intp]:
        """(outputs,), the number of the system of each output."""
        number = {name: code for code, name in enumerate(self.systems)}
        return np.array([number[each.system] for each in self.outputs], np.intp)

    @property
    def references(self) -> tuple[tuple[ReferencedReply, ...], ...] | None:
        """(outputs), the text of each output with its references; None if none has any."""
        found = tuple(
            (ReferencedReply(each.text, each.references),) if each.references else () for each in self.outputs
        )
        return found if any(found) else None

    @property
    def are_questions(self) -> bool:
        """Whether more than half of the texts end with a question mark."""
        asked = sum(each.text.rstrip().endswith(QUESTION_MARKS) for each in self.outputs)
        return 2 * asked > len(self.outputs)

    @property
    def answered(self) -> list[AnsweredQuestion] | None:
        """(outputs), questions with their answers; None if the texts are no questions or have no answers."""
        if not self.are_questions or not any(each.answer for each in self.outputs):
            return None
        return [AnsweredQuestion(each.passage, each.text, each.answer) for each in self.outputs]


def texts_of_run(sample: Sample, items: pd.DataFrame | None, *, needed: bool) -> TextSet:
    """Return the outputs that the workers of a run of items rated.

    Args:
        sample: its judgments.
        items: its items with their texts (`qc.loading.item_texts`).
        needed: whether the texts are needed; else there are no outputs if the source does not hold them.

    Raises:
        SourceError: the source does not hold the texts.
    """
    run = sample.run
    if run.items is None or sample.items is None:
        raise AssertionError("a run of items has items")
    human = score(sample)
    if items is None or items.empty:
        if not needed:
            systems = tuple(human.z["system"])
            return TextSet(run.name, run.source, (), systems, np.empty(0, bool), human, PEOPLE, run.notes)
        raise SourceError(
            f"{run.source}: the run {run.name!r} is one of items, and this source does not hold their texts. "
            "Give the database, or an export of all data made by this version (candor data export --format "
            "jsonl). Or write the texts into a plain file, and give that."
        )
    keys = zip(items["item_id"].to_list(), items["form"].to_list(), strict=True)
    contents = dict(zip(keys, map(from_json, items["content"].to_list()), strict=True))
    rated = set(run.items["item"].cat.categories[np.unique(sample.items[sample.counted])])
    ordinary = items[items["form"] == "ordinary"].sort_values("item_id")
    outputs = [
        _of_item(name, system, contents)
        for name, system in zip(ordinary["item_id"].to_list(), ordinary["system"].to_list(), strict=True)
    ]
    removed = sum(REMOVED in each.spoken.replies for each in outputs)
    notes = [f"Removed, so without a score: {counted(removed, 'text')}."] if removed else []
    outputs = [each for each in outputs if REMOVED not in each.spoken.replies]
    return TextSet(
        name=run.name,
        source=run.source,
        outputs=tuple(outputs),
        systems=tuple(dict.fromkeys((*human.z["system"], *(each.system for each in outputs)))),
        counted=np.array([each.name in rated for each in outputs], bool),
        human=human,
        method=PEOPLE,
        notes=(*run.notes, *notes),
    )


def _of_item(name: str, system: str, contents: dict[tuple[str, str], dict[str, object]]) -> SystemOutput:
    content = contents[name, "ordinary"]
    reference = contents.get((name, "reference"), {}).get("text")
    passage = str(content.get("context") or "")
    lines = content.get("lines")
    text = str(content.get("text") or "")
    spoken = _conversation(lines) if isinstance(lines, list) else _as_reply(passage, "", text)
    # The server names an item of a file by its item and its system.
    item = name.removesuffix(f" {system}")
    return SystemOutput(
        name, item, system, spoken, passage, references=(str(reference),) if reference else ()
    )


def _conversation(lines: Sequence[dict[str, str]]) -> Transcript:
    exchanges: list[Exchange] = []
    said = ""
    for line in lines:
        if line["author"] == "worker":
            said = f"{said}\n{line['text']}".strip()
        else:
            exchanges.append(Exchange(len(exchanges) + 1, said, line["text"]))
            said = ""
    return Transcript(tuple(exchanges))


def _as_reply(passage: str, question: str, text: str) -> Transcript:
    asked = "\n".join(part for part in (passage, question) if part)
    return Transcript((Exchange(1, asked, text),))


def texts_of_file(path: Path) -> TextSet:
    """Return the outputs in the plain file at `path`.

    Raises:
        SourceError, DataError: as `read_lines`; or a line lacks its system, or contradicts another line.
    """
    notes: list[str] = []
    outputs: dict[str, SystemOutput] = {}
    people: dict[str, list[float]] = {}
    problems: list[Problem] = []
    counted = set()
    for number, (where, line) in enumerate(read_lines(path, notes), start=1):
        if line.system is None:
            problems.append(Problem(where, "there is no system.", REPAIR))
            continue
        of_system = people.setdefault(line.system, [])
        name = f"{line.item or number} {line.system}"
        first = name not in outputs
        if line.text is not None:
            output = outputs.setdefault(name, _of_line(name, line.item or str(number), line))
            if output.text != line.text:
                problems.append(Problem(where, f"{quoted(name)} has another text before.", REPAIR))
            more = tuple(each for each in line.reference if each not in output.references)
            outputs[name] = replace(output, references=(*output.references, *more))
        if line.people is not None and (first or line.text is None):
            of_system.append(line.people)
            counted.add(name)
    if problems:
        raise DataError(str(path), problems)
    return TextSet(
        name=path.name,
        source=str(path),
        outputs=tuple(outputs.values()),
        systems=tuple(people),
        counted=np.array([not counted or name in counted for name in outputs], bool),
        human=_mean_scores(people) if counted else None,
        method="People’s scores: means by system of the column `people`. ",
        notes=tuple(notes),
    )


def _of_line(name: str, item: str, line: Line) -> SystemOutput:
    text = line.text or ""
    spoken = replace(_as_reply(line.passage, line.question, text), fact=line.fact)
    return SystemOutput(name, item, line.system or "", spoken, line.passage, line.question, line.answer)


def _mean_scores(people: dict[str, list[float]]) -> Scores:
    rows = [
        {"system": system, "n": len(values), OVERALL: float(np.mean(values)) if values else np.nan}
        for system, values in people.items()
    ]
    table = pd.DataFrame(rows).sort_values([OVERALL, "system"], ascending=[False, True], ignore_index=True)
    return Scores(table, table)


def with_lines(texts: TextSet, path: Path) -> TextSet:
    """Return `texts` with the references, passages, questions and answers in the file at `path`.

    A line is for all outputs of its item, or only for that of its system.

    Raises:
        SourceError, DataError: as `read_lines`; or an item is not known.
    """
    notes: list[str] = []
    problems: list[Problem] = []
    found: dict[tuple[str, str | None], list[Line]] = defaultdict(list)
    known = {each.item for each in texts.outputs}
    for where, line in read_lines(path, notes):
        if line.item is None or line.item not in known:
            problems.append(Problem(where, f"unknown item {quoted(line.item)}.", REPAIR))
        else:
            found[line.item, line.system].append(line)
    if problems:
        raise DataError(str(path), problems)
    outputs = []
    for each in texts.outputs:
        output = each
        for line in (*found[each.item, None], *found[each.item, each.system]):
            output = replace(
                output,
                references=tuple(dict.fromkeys((*output.references, *line.reference))),
                passage=line.passage or output.passage,
                question=line.question or output.question,
                answer=line.answer or output.answer,
                spoken=replace(output.spoken, fact=line.fact or output.spoken.fact),
            )
        outputs.append(output)
    return replace(texts, outputs=tuple(outputs), notes=(*texts.notes, *notes))


def with_human(texts: TextSet, system: str) -> TextSet:
    """Return `texts` in which the texts of `system` are references of the others' texts on the same item.

    Raises:
        OptionError: there is no such system.
    """
    if system not in texts.systems:
        raise OptionError(f"--human is {system!r}, but the systems are {joined(texts.systems)}.")
    written = {each.item: each.text for each in texts.outputs if each.system == system}
    outputs = tuple(
        replace(each, references=(*each.references, written[each.item]))
        if each.system != system and each.item in written
        else each
        for each in texts.outputs
    )
    return replace(texts, outputs=outputs)

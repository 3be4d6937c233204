"""Items that workers rate instead of chatting, and their bad twins.

A study may give each item the probability with which it is drawn to be rated. The item keeps it, so that
`candor estimate` can weigh ratings by its inverse (Zrnic and Candès, *Active statistical inference*, 2024).

Bad twins follow the rule of Ji's PhD thesis, chapters 3 to 5. A run of words, whose length depends on the
text's length, is replaced by as many consecutive words of another text. In texts of more than two words, the
first and the last word are neither replaced nor taken. The other text answers another question, about another
passage where there are several, and people wrote it where the study says which ones they wrote. At least half
of the replaced words are new to the text.
"""

import csv
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from io import StringIO
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError, model_validator
from pydantic_core import from_json
from sqlalchemy import Connection, text

from bots.serving import run_length
from candor.common.files import read_text
from candor.common.segmentation import join_words, split_words
from server.db.runs.items import Form, NewItem
from server.db.runs.runs import RunEntry, find_run
from server.errors import StudyInvalid
from server.session.item import Highlight, ItemContent, ItemLine, ItemTopic
from server.session.plan import derive_seed
from server.session.protocol import MAX_EDIT, plain
from server.study import Composition, Study, SystemName

PROBABILITY = "rating_probability"
_MOST_PROBLEMS = 20  # reported at once
# Columns of the formats that `candor data convert` makes items of.
_FOREIGN = re.compile(r'"(messages|conversations|dialog|conversation_id|chosen|model_a|model_a_name)"\s*:')
_CONVERT = (
    "the lines are in another format. Make items of them: candor data convert FILE items.jsonl --to items"
)
Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=20_000)]
Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]


class _Turn(BaseModel):
    model_config = ConfigDict(extra="forbid")

    author: Literal["worker", "bot"]
    text: Text


class _Line(BaseModel):
    """A line of the file: a text, or the turns of a conversation, with the system that made it."""

    model_config = ConfigDict(extra="forbid")

    item: Name
    system: SystemName
    family: Name | None = None
    group: Name | None = None
    context: Text | None = None
    answer: Text | None = None
    paragraphs: Annotated[list[Text], Field(max_length=20)] = []
    text: Text | None = None
    turns: Annotated[list[_Turn], Field(min_length=1, max_length=2_000)] | None = None
    reference: Text | None = None

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if (self.text is None) == (self.turns is None):
            raise ValueError("Give either a text or turns")
        if self.turns is not None and all(turn.author == "worker" for turn in self.turns):
            raise ValueError("None of the turns is by the system: set the author of at least one to bot")
        if self.turns is not None and self.reference is not None:
            raise ValueError("Only texts can have a reference, not conversations")
        if self.answer is not None and plain(self.answer) not in plain(self.context or ""):
            raise ValueError("The answer is highlighted in the context, and the context does not have it")
        return self


def read_items(path: Path) -> list[NewItem]:
    """Return the items of a JSONL file, in its order.

    The key of an item is its `item` and its `system` together, so several systems may answer the same item.
    If no line has a `group`, items with the same `context` are a group.

    Raises:
        StudyInvalid: There are mistakes; the message has all of them, with their lines.
    """
    try:
        content = read_text(path)
    except (OSError, UnicodeDecodeError) as error:
        raise StudyInvalid(f"{path}: cannot be read: {error}") from error
    problems: list[str] = []
    lines = list(_lines(path, content, problems))
    items = {
        (line.item, line.system): _item(line, group)
        for line, group in zip(lines, _groups(lines), strict=True)
    }
    times = Counter((line.item, line.system) for line in lines)
    problems += [
        f"{path}: the item `{item}` of `{system}` is there twice"
        for (item, system), number in times.items()
        if number > 1
    ]
    if not lines and not problems:
        problems.append(f"{path}: there are no items in it")
    if problems:
        raise StudyInvalid("\n".join(problems[:_MOST_PROBLEMS]))
    return list(items.values())


def _lines(path: Path, content: str, problems: list[str]) -> Iterator[_Line]:
    for number, line in enumerate(content.splitlines(), start=1):
        if line.strip():
            try:
                yield _Line.model_validate(from_json(line))
            except ValidationError as error:
                if number == 1 and _FOREIGN.search(line):
                    problems.append(f"{path}: {_CONVERT}")
                    return
                problems += [
                    f"{path}:{number}: {''.join(f'{key}: ' for key in found['loc'])}{found['msg']}"
                    for found in error.errors()
                ]
            except ValueError as error:
                problems.append(f"{path}:{number}: not JSON: {error}. Write one JSON object per line.")


def _groups(lines: Sequence[_Line]) -> list[str | None]:
    """Return the group of each line."""
    if any(line.group is not None for line in lines):
        return [line.group for line in lines]
    first: dict[str | None, int] = {}
    for number, line in enumerate(lines, start=1):
        first.setdefault(line.context, number)
    return [None if line.context is None else f"the context of line {first[line.context]}" for line in lines]


def _item(line: _Line, group: str | None) -> NewItem:
    context = plain(line.context) if line.context is not None else None
    around: dict[str, Any] = {"context": context, "paragraphs": tuple(map(plain, line.paragraphs))}
    if line.answer is not None and context is not None:
        start = context.index(plain(line.answer))
        around["highlight"] = Highlight(start=start, end=start + len(plain(line.answer)))

    def shown(text: str) -> ItemContent:
        return ItemContent(**around, text=plain(text))

    forms: dict[Form, ItemContent] = {}
    if line.text is not None:
        forms["ordinary"] = shown(line.text)
    else:
        turns = tuple(ItemLine(author=turn.author, text=plain(turn.text)) for turn in line.turns or ())
        forms["ordinary"] = ItemContent(**around, lines=turns)
    if line.reference is not None:
        forms["reference"] = shown(line.reference)
    return NewItem(
        name=f"{line.item} {line.system}",
        system=line.system,
        family=line.family or line.system,
        forms=forms,
        question=line.item,
        group=group,
    )


def read_conversations(connection: Connection, run: RunEntry) -> list[NewItem]:
    """Return the finished conversations of a run, without those with its QC bot, as items.

    They come from completed assignments, rated or left unrated: those of people, or those of simulated
    workers if no person has completed one, as in an export.

    Raises:
        StudyInvalid: There are none.
    """
    found = connection.execute(_FINISHED, {"run": run.id}).all()
    people = [row for row in found if not row.simulated]
    lines: dict[str, list[ItemLine]] = {}
    for conversation, author, said in connection.execute(_TURNS, {"run": run.id}):
        lines.setdefault(conversation, []).append(ItemLine(author=author, text=said))
    topics: dict[str, list[ItemTopic]] = {}
    for conversation, round_, topic in connection.execute(_TOPICS, {"run": run.id}):
        # A round is a message and its reply: two lines.
        topics.setdefault(conversation, []).append(ItemTopic(line=2 * round_, topic=topic))
    items = [
        NewItem(
            name=row.id,
            system=row.system,
            family=row.family,
            forms={"ordinary": ItemContent(lines=lines[row.id], topics=topics.get(row.id, ()))},
            question=row.id,
            conversation=row.id,
            bot=row.bot,
        )
        for row in people or found
        if row.id in lines
    ]
    if not items:
        raise StudyInvalid(
            f"The run “{run.slug}” has no finished conversations to rate",
            "Let workers take part in it first; simulated ones will do (candor crowd).",
        )
    return items


_FINISHED = text("""
    SELECT conversation.id, system.name AS system, system.family, bot.spec AS bot, assignment.simulated
    FROM conversation
    JOIN assignment ON assignment.id = conversation.assignment_id
    JOIN system ON system.id = conversation.system_id
    JOIN bot ON bot.id = system.bot_id
    WHERE assignment.run_id = :run AND assignment.status = 'completed' AND NOT system.is_qc
      AND conversation.status IN ('rated', 'unrated')
    ORDER BY assignment.created_at, assignment.id, conversation.position""")
_TURNS = text("""
    SELECT turn.conversation_id, turn.author, turn.text
    FROM turn
    JOIN conversation ON conversation.id = turn.conversation_id
    JOIN assignment ON assignment.id = conversation.assignment_id
    WHERE assignment.run_id = :run AND assignment.status = 'completed'
    ORDER BY turn.conversation_id, turn.turn_index""")
_TOPICS = text("""
    SELECT topic_mark.conversation_id, topic_mark.round, topic_mark.topic
    FROM topic_mark
    JOIN conversation ON conversation.id = topic_mark.conversation_id
    JOIN assignment ON assignment.id = conversation.assignment_id
    WHERE assignment.run_id = :run AND assignment.status = 'completed'
    ORDER BY topic_mark.conversation_id, topic_mark.ordinal""")


_ROOM_TO_IMPROVE = MAX_EDIT // 2  # the most characters of a text that workers may have to improve


def items_of(study: Study, connection: Connection | None, folder: Path = Path()) -> list[NewItem]:
    """Return the items of `study` to be rated, with bad twins if it asks for some; none if workers chat.

    Args:
        study: The study.
        connection: A connection to the database of the run whose conversations are rated; None if there is no
            database yet.
        folder: The folder for relative paths to files.

    Raises:
        RunNotFound: There is no run of that name.
        StudyInvalid: The items cannot be read, or do not fit the study.
    """
    if study.items is None:
        return []
    if study.items.file is not None:
        items = read_items(folder / study.items.file)
    elif connection is not None and study.items.run is not None:
        items = read_conversations(connection, find_run(connection, study.items.run))
    else:
        raise StudyInvalid("There is no database yet, and so no run whose conversations could be rated")
    if study.items.probabilities is not None:
        items = _drawn(items, folder / study.items.probabilities, derive_seed("items rated", study.name))
    _require_fit(study, items)
    return _with_bad_twins(study, items) if study.per_assignment.bad else items


def _drawn(items: Sequence[NewItem], path: Path, seed: int) -> list[NewItem]:
    """Draw each item by its own probability, which it keeps.

    The seed is of the study, so `check` and `open` draw the same items.
    """
    probabilities = _probabilities(path)
    missing = [item.name for item in items if item.name not in probabilities]
    if missing:
        raise StudyInvalid(
            f"{path}: {len(missing)} items have no probability; the first is “{missing[0]}”",
            "Give every item a row, named as candor estimate names it, or ask for no probabilities.",
        )
    return [
        replace(item, probability=probabilities[item.name])
        for item in items
        if random.Random(f"rated {seed} {item.name}").random() < probabilities[item.name]
    ]


def _probabilities(path: Path) -> dict[str, float]:
    """Return the probability in each row of a CSV file, by the name of the item.

    The item is named by `output`, or by `item` and `system`.
    """
    try:
        rows = list(csv.DictReader(StringIO(read_text(path).removeprefix("\ufeff"))))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise StudyInvalid(f"{path}: cannot be read: {error}") from error
    found: dict[str, float] = {}
    for number, row in enumerate(rows, start=2):
        name = row.get("output") or f"{row.get('item')} {row.get('system')}"
        try:
            probability = float(row.get(PROBABILITY) or "")
        except ValueError:
            probability = 0.0
        if not 0 < probability <= 1:
            raise StudyInvalid(
                f"{path}:{number}: {PROBABILITY} must be a number above 0 and at most 1",
                "Make the file with candor plan sampling.",
            )
        if name in found:
            raise StudyInvalid(f"{path}:{number}: the item “{name}” is there twice")
        found[name] = probability
    return found


def _require_fit(study: Study, items: Sequence[NewItem]) -> None:
    parts = study.per_assignment
    if len(items) < parts.ordinary:
        raise StudyInvalid(
            f"An assignment has {parts.ordinary} ordinary items, and there are only {len(items)}",
            "Give more items, or ask for fewer in an assignment.",
        )
    if parts.one_group:
        _require_whole_groups(parts, items)
    without = [item.name for item in items if "reference" not in item.forms]
    if parts.reference and without:
        raise StudyInvalid(
            f"{len(without)} items have no reference; the first is “{without[0]}”",
            "Give every item a reference, or ask for no references.",
        )
    if study.post_edit is not None:
        _require_texts(items)
    marking = [question for question in study.questionnaires.conversation if question.text == "context"]
    bare = [item.name for item in items if not item.forms["ordinary"].shown.context]
    without = [item.name for item in items if not item.forms["ordinary"].paragraphs]
    if study.correctness and without:
        raise StudyInvalid(
            f"Answers are judged by paragraphs, and {len(without)} items have none; "
            f"the first is “{without[0]}”",
            "Give every item “paragraphs”, or do not ask for the correctness of answers.",
        )
    if marking and bare:
        raise StudyInvalid(
            f"“{marking[0].label}” marks the context, and {len(bare)} items have none; "
            f"the first is “{bare[0]}”",
            "Give every item a context, or let workers mark the output.",
        )
    if study.simulate is not None:
        unjudged = sorted({item.system for item in items} - set(study.simulate.quality))
        if unjudged:
            raise StudyInvalid(f"Simulated workers need a quality for the system “{unjudged[0]}”")


def _require_whole_groups(parts: Composition, items: Sequence[NewItem]) -> None:
    groups: dict[str | None, list[NewItem]] = {}
    for item in items:
        groups.setdefault(item.group, []).append(item)
    for group, members in groups.items():
        name = f"The group “{group}”" if group is not None else "What is in no group"
        if len(members) < parts.ordinary:
            raise StudyInvalid(
                f"{name} has {len(members)} items, and an assignment takes {parts.ordinary} of one group",
                "Give every group enough items, ask for fewer in an assignment, or do not ask for one group.",
            )
        if parts.human is not None and all(item.system != parts.human for item in members):
            raise StudyInvalid(
                f"{name} has no item of “{parts.human}”, and every assignment has one",
                "Give every group an item that people wrote, or name no system of people.",
            )


def _require_texts(items: Sequence[NewItem]) -> None:
    for item in items:
        for content in item.forms.values():
            if content.text is None:
                raise StudyInvalid(
                    f"Only texts can be improved, and the item “{item.name}” is a conversation",
                    "Do not ask for improvements, or give texts.",
                )
            if len(content.text) > _ROOM_TO_IMPROVE:
                raise StudyInvalid(
                    f"The item “{item.name}” has {len(content.text)} characters, and a text that is to be "
                    f"improved has at most {_ROOM_TO_IMPROVE}",
                    "Shorten it, or do not ask for improvements.",
                )


def _with_bad_twins(study: Study, items: Sequence[NewItem]) -> list[NewItem]:
    seed = derive_seed("bad twins", study.name)
    twins = bad_twins(items, study.degradation, seed, study.language, study.per_assignment.human)
    return [replace(item, forms={**item.forms, "bad": twins[item.name]}) for item in items]


RuleName = Literal["chapter5", "chapter3"]
_TRIES = 20  # redraws of a distortion that has changed hardly anything


def _run_length_of_chapter3(words: int) -> int:
    """Return the length of the run by chapter 3, which falls from 5 to 4 at 21 words."""
    return run_length(words) if words <= 20 else words // 5


RULES: Mapping[RuleName, Callable[[int], int]] = {
    "chapter5": run_length,
    "chapter3": _run_length_of_chapter3,
}


@dataclass(frozen=True, slots=True)
class _Donor:
    """A text whose words may be put into others, and whether people wrote it."""

    question: str
    group: str | None
    words: Sequence[str]
    is_human: bool


def bad_twins(
    items: Sequence[NewItem], rule: RuleName, seed: int, language: str = "en", human: str | None = None
) -> dict[str, ItemContent]:
    """Return the bad twin of every item, by its name.

    A text is distorted once; in a conversation, each line of the system is distorted, and nothing else. The
    inserted words come from an item with another question: its text, or all lines of its system. References
    and the texts of the system `human` are taken if there are any, and items of another group if there are
    any. Words are split by `language`, a tag such as `de` or `zh-TW`.

    Raises:
        StudyInvalid: An item has no bad twin, because no other item has enough words that it has not.
    """
    donors = [
        _Donor(
            item.question,
            item.group,
            split_words(_own(content), language),
            is_human=form == "reference" or item.system == human,
        )
        for item in items
        for form, content in item.forms.items()
        if form != "bad"
    ]
    return {
        item.name: _bad_twin(item, donors, rule, random.Random(f"bad twin {seed} {item.name}"), language)
        for item in items
    }


def distorted(words: Sequence[str], donor: Sequence[str], length: int, rng: random.Random) -> list[str]:
    """Return `words` with `length` consecutive ones replaced by as many consecutive ones of `donor`.

    Both positions are random. In texts of more than two words, the ends are neither replaced nor taken.

    Raises:
        ValueError: One of the two has too few words.
    """
    start = _place_of_run(len(words), length, rng)
    taken = _place_of_run(len(donor), length, rng)
    return [*words[:start], *donor[taken : taken + length], *words[start + length :]]


def _place_of_run(size: int, length: int, rng: random.Random) -> int:
    kept = _kept(size)
    if size - 2 * kept < length:
        raise ValueError(f"a text of {size} words has no run of {length} to exchange")
    return rng.randint(kept, size - kept - length)


def _kept(size: int) -> int:
    return 1 if size > 2 else 0


def _own(content: ItemContent) -> str:
    """Return the system's own text or lines."""
    said = [line.text for line in content.lines if line.author == "bot"]
    return "\n".join([content.text or "", *said])


def _bad_twin(
    item: NewItem, donors: Sequence[_Donor], rule: RuleName, rng: random.Random, language: str
) -> ItemContent:
    def twin(text: str) -> str:
        return _distorted_text(item, text, donors, rule, rng, language)

    content = item.forms["ordinary"]
    return content.model_copy(
        update={
            "text": twin(content.text) if content.text is not None else None,
            "lines": tuple(
                ItemLine(author="bot", text=twin(line.text)) if line.author == "bot" else line
                for line in content.lines
            ),
        }
    )


def _distorted_text(
    item: NewItem, text: str, donors: Sequence[_Donor], rule: RuleName, rng: random.Random, language: str
) -> str:
    own = split_words(text, language)
    length = RULES[rule](len(own))
    fit = _fit_donors(item, donors, length)
    for _ in range(_TRIES if fit else 0):
        changed = distorted(own, rng.choice(fit), length, rng)
        if 2 * _new_words(own, changed) >= length:
            return join_words(changed, language)
    raise StudyInvalid(
        f"The item “{item.name}” has no bad twin: no item with another question has {length} words in a row "
        "to put into it, at least half of them new to it",
        "Give more items, longer ones or ones that differ more; or ask for no bad twins.",
    )


def _fit_donors(item: NewItem, donors: Sequence[_Donor], length: int) -> list[Sequence[str]]:
    """Return the words of the donors that suit an item best."""
    fit = [
        donor
        for donor in donors
        if donor.question != item.question and len(donor.words) - 2 * _kept(len(donor.words)) >= length
    ]
    fit = [donor for donor in fit if item.group is None or donor.group != item.group] or fit
    fit = [donor for donor in fit if donor.is_human] or fit
    return [donor.words for donor in fit]


def _new_words(own: Sequence[str], changed: Sequence[str]) -> int:
    """Return how many words of `changed` the original does not have."""
    known = {word.casefold() for word in own}
    return sum(word.casefold() not in known for word in changed)

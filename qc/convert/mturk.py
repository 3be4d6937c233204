"""Write a run as a batch of results of MTurk, in the form that Ji et al. (ACL 2022) published."""

import csv
import io
import json
import re
from typing import BinaryIO

import numpy as np
import pandas as pd

from candor.common.spreadsheet import harmless_unless_number
from qc.convert.hits import Json, Loss, assignments, common_losses, records
from qc.formats.published import ANSWER, INSTRUMENT, LAST_PERSONA_SEED, MAXIMUM, PERSONA_SUFFIX, QC_TASK
from qc.run import SIMULATED_NOTE, Run, Words

LABELS = [label for label, *_ in INSTRUMENT]
COLUMNS = ["HITId", "AssignmentId", "WorkerId", "AssignmentStatus", "Reward", "WorkTimeInSeconds"]
STATUS = "Submitted"  # of an assignment on which the requester has not yet decided
SEPARATOR = r"###(?:[ub]: |\s*$)"  # between the turns of a dialogue
MARK = r"#\d+@"  # begins a topic, a change or an opinion


def losses(run: Run) -> list[Loss]:
    """Return the data of `run` that the MTurk form cannot hold."""
    seconds, persona = run.assignments["seconds"], run.conversations["persona"]
    return [
        *_criteria_losses(run),
        *_system_losses(run),
        Loss("the mark that all workers were simulated", int(SIMULATED_NOTE in run.notes), fatal=True),
        Loss("assignments of unknown working time", int(seconds.isna().sum()), fatal=True),
        Loss("conversations whose place is taken or below 1", _misplaced(run), fatal=True),
        *common_losses(run),
        Loss("feedback of blanks, or with blanks around it", _blank(run.assignments["feedback"])),
        Loss("facts of conversations", 0 if run.facts is None else int(run.facts.notna().sum().sum())),
        Loss("personas", int(persona.notna().sum())),
        *(_word_losses(run.words) if run.words is not None else []),
    ]


def _blank(feedback: pd.Series) -> int:
    """Count the texts that are empty, or have blanks at an end."""
    return int(((feedback != feedback.str.strip()) | (feedback == "")).where(feedback.notna(), False).sum())


def _criteria_losses(run: Run) -> list[Loss]:
    """Return a loss for each criterion that is not in the published instrument, or is different there."""
    published = {label: [negative, counts, MAXIMUM] for label, negative, counts in INSTRUMENT}
    given = {label: declared for label, *declared in run.criteria.itertuples(index=False)}
    faults = {
        " (the MTurk form has only the seven published criteria)": [
            label for label in given if label not in published
        ],
        ", which the MTurk form needs and this run has not": [
            label for label in published if label not in given
        ],
        " (its direction, use or scale is not the published one)": [
            label for label in published if label in given and given[label] != published[label]
        ],
    }
    rated = len(run.ratings)
    return [
        *(Loss(f"ratings of {label!r}{why}", rated, True) for why in faults for label in faults[why]),
        Loss("places of criteria in the order of reports", _out_of_order(list(given))),
    ]


def _out_of_order(labels: list[str]) -> int:
    """Count the labels that are not in their place in the published instrument, with those for QC first."""
    order = [label for wanted in (True, False) for label, _, counts in INSTRUMENT if counts is wanted]
    return sum(one != other for one, other in zip(labels, order, strict=False))


def _system_losses(run: Run) -> list[Loss]:
    """Return the losses of the systems: names keep only the family and whether there was a persona."""
    systems, met = run.systems, run.conversations["system"].unique()
    names = systems["family"] + np.where(systems["has_persona"], PERSONA_SUFFIX, "")
    named = np.where(systems["is_qc"], QC_TASK, names)
    strange = systems["is_qc"] != (systems["family"] == QC_TASK)
    return [
        Loss(
            "systems not named after their family, with '_p' if with a persona, or 'qc' for the qc bot",
            int((strange | (named != systems["system"]) | (systems["family"] == "")).sum()),
            fatal=True,
        ),
        Loss("systems without a conversation", int((~systems["system"].isin(met)).sum())),
    ]


def _misplaced(run: Run) -> int:
    again = run.conversations.duplicated(["assignment", "position"])
    return int((again | (run.conversations["position"] < 1)).sum())


def _word_losses(words: Words) -> list[Loss]:
    exchanges, topics, changes = words.exchanges, words.topics, words.changes
    torn = exchanges["input"].str.contains(SEPARATOR) | exchanges["reply"].str.contains(SEPARATOR, na=False)
    turns = exchanges.groupby("conversation").cumcount() + 1
    unheld = topics["opinion"].isna() | topics["topic"].str.contains(MARK)
    return [
        Loss(
            "dialogues that hold a separator of the form, '###' (left out)",
            exchanges.loc[torn, "conversation"].nunique(),
        ),
        Loss("rounds of inputs not counted one by one", int((turns != exchanges["round"]).sum())),
        Loss("topics without an opinion, or that hold a separator of the form (left out)", int(unheld.sum())),
        Loss("changes of topic without an opinion (left out)", int(changes["bot_opinion"].isna().sum())),
    ]


def write(run: Run, file: BinaryIO) -> None:
    """Write `run` into `file`."""
    systems = {row["system"]: row for row in records(run.systems)}
    conversations = int(run.conversations["position"].max())
    inputs = [f"Input.u{part}" for part in range(conversations)]
    text = io.TextIOWrapper(file, encoding="utf-8", newline="")
    writer = csv.writer(text)
    writer.writerow([*COLUMNS, *inputs, ANSWER])
    for held in assignments(run):
        tasks = [systems[one["system"]]["family"] for one in held["conversations"]]
        blanks = [""] * (conversations - len(tasks))
        row = [*_of_assignment(held), *tasks, *blanks]
        writer.writerow([*(_harmless(cell) for cell in row), _answer(held, systems)])
    text.detach()


def _harmless(cell: object) -> object:
    return harmless_unless_number(cell) if isinstance(cell, str) else cell


def _of_assignment(held: Json) -> list[object]:
    reward = None if held["reward"] is None else f"${held['reward']}"
    return [held["hit"], held["assignment"], held["worker"], STATUS, reward, held["seconds"]]


def _answer(held: Json, systems: dict[str, Json]) -> str:
    content: dict[str, str] = {}
    for one in held["conversations"]:
        part, system = one["position"] - 1, systems[one["system"]]
        content[f"task{part}"] = system["family"]
        content[f"seed{part}"] = str(LAST_PERSONA_SEED if system["has_persona"] else LAST_PERSONA_SEED + 1)
        content[f"score{part}"] = "".join(f"{one['ratings'][label]}#" for label in LABELS)
        if "exchanges" in one:
            content |= {f"{key}{part}": text for key, text in _said(one).items()}
    if held["feedback"] is not None:
        content["feedback"] = held["feedback"]
    return json.dumps([content], ensure_ascii=False, separators=(",", ":"))


def _said(held: Json) -> dict[str, str]:
    """Return the texts, without those that would be parsed wrongly, as listed by `losses`."""
    texts = [text for said in held["exchanges"] for text in (said["input"], said["reply"] or "")]
    torn = any(re.search(SEPARATOR, text) for text in texts)
    topics = [mark for mark in held["topics"] if mark["opinion"] and not re.search(MARK, mark["topic"])]
    changes = [mark for mark in held["changes"] if mark["bot_opinion"]]
    content = {
        "dialogue": "" if torn else "".join(map(_exchange, held["exchanges"])),
        "topic": _marks(topics, "topic"),
        "topic_opinion": _marks(topics, "opinion"),
    }
    if changes:
        content["topic_change_opinion"] = _marks(changes, "how")
        content["topic_chatbot_opinion"] = _marks(changes, "bot_opinion")
    return content


def _exchange(said: Json) -> str:
    return f"u: {said['input']}###" + ("" if said["reply"] is None else f"b: {said['reply']}###")


def _marks(marks: list[Json], what: str) -> str:
    return "".join(f"#{mark['round']}@{mark[what]}" for mark in marks)

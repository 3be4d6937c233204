"""Derive the figures in this folder from the published runs: python -m tests.data.derive ORIGINALS FOLDER

ORIGINALS holds `free_run1` and `free_run2`, each with a `hits_data.json` and an `mturk_batch.csv` as
Ji et al. (ACL 2022) published them. Both formats and all numbers stay. Every text becomes filler of as many
words and characters, and the ids of HITs and assignments become numbers in the same order.
"""

import csv
import io
import json
import sys
from pathlib import Path
from typing import Any

from qc.formats.published import ANSWER, NO_FEEDBACK
from qc.loading import mturk
from qc.loading.mturk import DIALOGUE, TOPIC, spoken

RUNS = ("free_run1", "free_run2")
HITS, BATCH = "hits_data.json", "mturk_batch.csv"
COLUMNS = ("HITId", "AssignmentId", "WorkerId", "AssignmentStatus", "WorkTimeInSeconds", "Reward")
PARTS = ("task", "seed", "score", *mturk.PARTS)  # what an answer says of a conversation
Json = dict[str, Any]


def filler(text: str) -> str:
    """Return our own words in place of `text`: as many words, and as many characters that are no space."""
    words = text.split()
    each, more = divmod(sum(map(len, words)), len(words) or 1)
    return " ".join(filler_word(each + (at < more)) for at in range(len(words)))


def filler_word(length: int) -> str:
    """Return the filler word of `length` characters: filler, fillerfiller and so on, cut where it is full."""
    return ("filler" * (length // 6 + 1))[:length]


def main(originals: Path, folder: Path) -> None:
    """Write the runs in `originals` to `folder` without their texts."""
    for run in RUNS:
        rows = list(csv.DictReader(io.StringIO((originals / run / BATCH).read_text("utf-8"), newline="")))
        hits, assignments = (
            _numbered(prefix, rows, column) for prefix, column in (("H", COLUMNS[0]), ("A", COLUMNS[1]))
        )
        (folder / run).mkdir(parents=True, exist_ok=True)
        held = json.loads((originals / run / HITS).read_text("utf-8"))
        text = _hits_text(held, hits, assignments)
        (folder / run / HITS).write_text(text, encoding="utf-8")
        _write_batch(folder / run / BATCH, rows, hits, assignments)


def _numbered(prefix: str, rows: list[dict[str, str]], column: str) -> dict[str, str]:
    given = sorted({row[column] for row in rows})
    return {name: f"{prefix}{number:03}" for number, name in enumerate(given, start=1)}


def _hits_text(held: Json, hits: dict[str, str], assignments: dict[str, str]) -> str:
    """Return the content of a hits_data.json with one assignment a line."""
    lines = [
        _compact(
            {
                **given,
                "hit": hits[given["hit"]],
                "assignment": assignments[given["assignment"]],
                "result": [_conversation(one) for one in given["result"]],
                "feedback": _feedback(given["feedback"]),
            }
        )
        for given in held["data"]
    ]
    return f'{{"metadata":{_compact(held["metadata"])},"data":[\n' + ",\n".join(lines) + "\n]}\n"


def _conversation(given: Json) -> Json:
    dialogue = [{**one, "user": filler(one["user"]), "bot": filler(one["bot"])} for one in given["dialogue"]]
    topics = [{**one, "topic": filler(one["topic"])} for one in given["topic"]]
    filled = {**given, "dialogue": dialogue, "topic": topics}
    if "persona" in given:
        filled["persona"] = [filler(line) for line in given["persona"]]
    return filled


def _write_batch(
    path: Path, rows: list[dict[str, str]], hits: dict[str, str], assignments: dict[str, str]
) -> None:
    inputs = [column for column in rows[0] if column.startswith("Input.u")]
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, [*COLUMNS, *inputs, ANSWER], extrasaction="ignore", lineterminator="\n")
        table.writeheader()
        for row in rows:
            ids = {"HITId": hits[row["HITId"]], "AssignmentId": assignments[row["AssignmentId"]]}
            table.writerow({**row, **ids, ANSWER: _answers(row[ANSWER])})


def _answers(cell: str) -> str:
    return _compact([_answer(given) for given in json.loads(cell)]) if cell.strip() else cell


def _answer(given: dict[str, str]) -> dict[str, str]:
    answer: dict[str, str] = {}
    for number in range(6):
        parts = {name: given[f"{name}{number}"] for name in PARTS if f"{name}{number}" in given}
        exchanges, topics, _ = spoken(parts)
        said = {
            DIALOGUE: "###".join(turn for _, line, reply in exchanges for turn in _turns(line, reply)),
            TOPIC: "".join(f"#{at}@{filler(topic)}" for at, topic, _ in topics),
        }
        answer |= {f"{name}{number}": said.get(name, text) for name, text in parts.items()}
    return answer | ({"feedback": _feedback(given["feedback"])} if "feedback" in given else {})


def _turns(line: str, reply: str | None) -> list[str]:
    return [f"u: {filler(line)}", *([] if reply is None else [f"b: {filler(reply)}"])]


def _feedback(text: str) -> str:
    return text if text == NO_FEEDBACK else filler(text)


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))

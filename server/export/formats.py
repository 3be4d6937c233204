"""Write a run to a file in one of several formats, atomically."""

import errno
import json
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import BinaryIO, Literal, assert_never, get_args

from sqlalchemy import Connection, text

from server.db.runs.runs import RunEntry
from server.export.completed import Json, completed
from server.export.hits_data import choice_lines, hits, hits_metadata, item_lines
from server.study import parse_study

Written = Literal["hits_data", "jsonl", "parquet", "csv"]
WRITTEN: tuple[Written, ...] = get_args(Written)
Format = Literal["hits_data", "jsonl", "parquet", "csv", "bundle"]  # a bundle is made from another file
OnStep = Callable[[str, int, int], None]  # the step, its progress, and the total
_SUFFIXES: dict[Format, str] = {
    "jsonl": ".jsonl",
    "parquet": ".parquet.zip",
    "csv": ".csv.zip",
    "bundle": ".bundle.zip",
}
_ANY = text("SELECT 1 FROM v1_assignment WHERE run_id = :run LIMIT 1")


def file_name(run: RunEntry, form: Format) -> str:
    """Return the default name of a file."""
    if form == "hits_data":
        return parse_study(run.yaml).task_type.export
    return f"{run.slug}{_SUFFIXES[form]}"


def has_assignments(connection: Connection, run: RunEntry, form: Format) -> bool:
    """Return whether the file of a run in this format contains any assignment."""
    if form == "hits_data":
        return bool(completed(connection, run).ids)
    return connection.execute(_ANY, {"run": run.id}).first() is not None


def write_run(connection: Connection, run: RunEntry, form: Written, path: Path, on_step: OnStep) -> None:
    """Write a run to `path` atomically, replacing an existing file.

    Args:
        connection: a transaction with a snapshot of the database.
        run: the run.
        form: one of WRITTEN. The meaning of `hits_data` depends on the study's task.
        path: the file.
        on_step: called with the progress.

    Raises:
        OSError: the file cannot be written; an existing file is unchanged.
    """
    with replaced(path) as file:
        if form == "hits_data":
            _write_published(connection, run, file, on_step)
            return
        # Arrow takes long to import, and only these formats need it.
        from server.export.views import RunViews, write_csv, write_jsonl, write_parquet  # noqa: PLC0415

        write = {"jsonl": write_jsonl, "parquet": write_parquet, "csv": write_csv}[form]
        write(RunViews(connection, run, on_step), file)


@contextmanager
def replaced(path: Path) -> Iterator[BinaryIO]:
    """Open a temporary file that replaces `path` at the end of the `with`, or is removed on an error.

    Only its owner can read it, because it contains workers' words or ids. A temporary file left by a killed
    process is overwritten.

    Raises:
        OSError: it cannot be written, or `path` is a folder.
    """
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    unfinished = path.with_name(f".{path.name}.part")
    unfinished.unlink(missing_ok=True)
    try:
        with open(unfinished, "xb", opener=partial(os.open, mode=0o600)) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise


def _write_published(connection: Connection, run: RunEntry, file: BinaryIO, on_step: OnStep) -> None:
    total = len(completed(connection, run).ids)
    task = parse_study(run.yaml).task
    match task:
        case "chat":
            _write_hits(connection, run, file, total, on_step)
        case "transcripts":
            _write_lines(item_lines(connection, run), file, total, on_step)
        case "side_by_side":
            _write_lines(choice_lines(connection, run), file, total, on_step)
        case _:
            assert_never(task)


def _write_hits(connection: Connection, run: RunEntry, file: BinaryIO, total: int, on_step: OnStep) -> None:
    metadata = json.dumps(hits_metadata(connection, run), ensure_ascii=False, indent=1)
    file.write(f'{{"metadata": {metadata},\n"data": ['.encode())
    for number, assignment in enumerate(hits(connection, run)):
        text = json.dumps(assignment, ensure_ascii=False, indent=1)
        file.write(f"{',' if number else ''}\n{text}".encode())
        on_step("Writing assignments", number + 1, total)
    file.write(b"\n]}\n")


def _write_lines(lines: Iterable[Json], file: BinaryIO, total: int, on_step: OnStep) -> None:
    for number, line in enumerate(lines):  # the first one is the header
        file.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")
        on_step("Writing assignments", number, total)

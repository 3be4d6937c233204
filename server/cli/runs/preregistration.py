"""`candor study preregister`: write hypotheses and the analysis plan to a file before the first assignment.

The file is YAML and contains a hash of its content: SHA-256 of the content without `hash` as JSON, keys
sorted, no spaces, in UTF-8. `qc.report --preregistration` reads the file and reports whether it was followed.
"""

import hashlib
import json
import re
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import typer
import yaml
from rich.markup import escape
from sqlalchemy import Connection, func, select

from candor.common.terminal import console, fail
from server.cli.installation import Data, transaction_or_fail
from server.cli.runs import stored_studies
from server.cli.runs.stored_studies import RulesFile, read_rules_file
from server.clock import utc_now
from server.db.audit import CommandLine, record
from server.db.runs.run_rules import rules_of
from server.db.runs.runs import find_opened, require_slug
from server.db.tables import AssignmentTable
from server.errors import CandorError, RunRefused, StudyInvalid
from server.run_rules import RunRules
from server.study import Study, study_hash

FORMAT, VERSION = "candor-preregistration", 1
# The level of the published filter and of most tests; both are fixed in the file.
ALPHA = 0.05
_HYPOTHESIS = re.compile(r"(?P<higher>.+?)\s+>\s+(?P<lower>.+)")
_HEAD = (
    "# A preregistration, written by `candor study preregister`. Do not edit it: its hash covers all of it.\n"
    "# Deposit it where its date is public, such as a registry or a public repository.\n"
)
Json = dict[str, Any]


def preregister(
    study: Annotated[Path, typer.Argument(help="A study file (YAML), or the name of a stored study.")],
    run: Annotated[str, typer.Option("--run", help="The run's name. The run may be open or not.")],
    out: Annotated[Path, typer.Option(help="The file to write.")] = Path("preregistration.yaml"),
    hypothesis: Annotated[
        list[str] | None,
        typer.Option(metavar='"A > B"', help="The system A scores higher than B overall. May be repeated."),
    ] = None,
    alpha: Annotated[float, typer.Option(help="Level at which a worker passes the filter.")] = ALPHA,
    familywise: Annotated[
        float, typer.Option(help="Familywise level at which all hypotheses are tested.")
    ] = ALPHA,
    rules: RulesFile = None,
    stopping: Annotated[
        str, typer.Option(metavar="TEXT", help="The stopping rule in words, in addition to the target.")
    ] = "",
    exclude: Annotated[
        list[str] | None,
        typer.Option(metavar="TEXT", help="A reason to exclude assignments by hand. May be repeated."),
    ] = None,
    after_the_fact: Annotated[
        bool,
        typer.Option(
            "--after-the-fact", help="Write the file although assignments have begun, and note that."
        ),
    ] = False,
    data: Data = None,
) -> None:
    """Write hypotheses, criteria, filter, levels, target, stopping rule and exclusions to a hashed file.

    The command refuses if an assignment of the run has begun, or if there is no database to check that. The
    file is dated, and the audit log records its hash and the time.
    """
    try:
        require_slug(run)
        given_rules = read_rules_file(rules)
    except CandorError as error:
        fail(error.message, error.hint)
    # The database must exist: without it, the file could not say that no assignment had begun.
    with transaction_or_fail(data) as connection:
        content, text = stored_studies.study_of(connection, study)
        given, begun = _of_run(connection, text, run, given_rules)
        if begun and not after_the_fact:
            raise RunRefused(
                f"The run “{run}” has begun ({begun} {'assignment' if begun == 1 else 'assignments'}), so it "
                "cannot be preregistered",
                "--after-the-fact writes the file anyway. The file and reports then say that it came later.",
            )
        plan = plan_of(content, hypothesis or [], given, (alpha, familywise), stopping, exclude or [])
        about = {"run": run, "study": content.name, "study_hash": study_hash(text), "begun_before": begun}
        written = registered(about | plan, utc_now())
        record(connection, CommandLine(), "run.preregister", run, written["hash"])
    _write(out, written)
    console.print(f"{escape(str(out))} holds the preregistration of the run [bold]{escape(run)}[/].")
    console.print(f"Its hash, for a paper or a registry: {written['hash']}", soft_wrap=True)


def plan_of(
    study: Study,
    hypotheses: list[str],
    rules: RunRules,
    levels: tuple[float, float],
    stopping: str,
    exclusions: list[str],
) -> Json:
    """Return the analysis plan.

    Args:
        study: the study whose systems and criteria are analysed.
        hypotheses: each as `A > B`, with two of the study's systems.
        rules: the rules of the run, which include its target.
        levels: the level of the filter, and the familywise level of the hypotheses.
        stopping: the stopping rule in words.
        exclusions: reasons to exclude assignments.

    Raises:
        StudyInvalid: a level is not between 0 and 1, or a hypothesis does not name two systems of the study.
    """
    if not all(0 < level < 1 for level in levels):
        raise StudyInvalid("A level must be between 0 and 1", "Set --alpha and --familywise to, say, 0.05.")
    target = None if rules.target is None else rules.target.model_dump(mode="json", exclude_none=True)
    return {
        "hypotheses": [_hypothesis(study, text) for text in hypotheses],
        "familywise": levels[1],
        "criteria": [
            {"label": one.label, "negative": one.negative, "counts_for_qc": one.qc}
            for one in study.criteria
            if one.is_scored
        ],
        "filter": {"alpha": levels[0]},
        "target": target,
        "stopping": stopping,
        "exclusions": exclusions,
    }


def registered(plan: Json, at: datetime) -> Json:
    """Return the content of the file: the plan, the time, and the hash of both."""
    content = {"format": FORMAT, "version": VERSION, "registered": at.isoformat(timespec="seconds"), **plan}
    return content | {"hash": f"sha256:{_digest(content)}"}


def _digest(content: Json) -> str:
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _hypothesis(study: Study, text: str) -> Json:
    names = {system.name for system in study.systems}
    found = _HYPOTHESIS.fullmatch(text.strip())
    pair = (found["higher"], found["lower"]) if found else ("", "")
    if not set(pair) <= names or pair[0] == pair[1]:
        raise StudyInvalid(
            f"“{text}” is not a hypothesis about two systems of the study",
            f"Write it as 'A > B', with two of: {', '.join(sorted(names))}.",
        )
    return {"higher": pair[0], "lower": pair[1]}


def _of_run(connection: Connection, text: str, run: str, rules: RunRules) -> tuple[RunRules, int]:
    """Return the run's rules and its number of assignments; `rules` and 0 if it is not open yet.

    Raises:
        StudyInvalid: the run is of another study.
    """
    entry = find_opened(connection, text, run)
    if entry is None:
        return rules, 0
    begun = select(func.count()).select_from(AssignmentTable).where(AssignmentTable.c.run_id == entry.id)
    stored = rules_of(connection, entry.id)
    return (stored if rules == RunRules() else rules), int(connection.execute(begun).scalar_one())


def _write(out: Path, content: Json) -> None:
    text = _HEAD + yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=100)
    try:
        with out.open("x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        fail(
            f"{out}: cannot be written: {error.strerror}",
            "Choose another file with --out. Existing files are not replaced.",
        )

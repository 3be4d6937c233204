"""The files of a report: what is declared is what is written, what the page names and the documents list."""

import re
from importlib import resources

from qc.analysis import SECTIONS
from qc.render.manifest import FIGURES, REPORTS, TABLES
from qc.sections import CHAPTERS
from qc.sections.section import ReportFile
from tests.qc.support.analyses import bare, rated
from tests.qc.support.written import Written

FILES: tuple[ReportFile, ...] = (*REPORTS, *TABLES, *FIGURES)
NAMES = [file.name for file in FILES]
OF_TRANSCRIPTS = {file.name for file in FILES if file.option == "transcripts"}
# Of runs with people in a chatbot’s place (tests/qc/method/test_scores.py).
OF_PEOPLE = {"ceiling.csv"}
# Of runs of conversations alone.
OF_CHATS = {"filter", "agreement", "persona", "context", "topics", "effort", "groups"}
TEMPLATE = resources.files("qc.render").joinpath("page.html.jinja").read_text(encoding="utf-8") + "".join(
    chapter.page for chapter in CHAPTERS
)


def test_no_two_files_have_one_name() -> None:
    assert len({name.lower() for name in NAMES}) == len(NAMES)
    assert {file.option for file in FILES} - {None} <= SECTIONS.keys()


def test_what_is_declared_is_what_is_written(complete: Written) -> None:
    assert {file.name for file in complete.directory.iterdir()} == set(NAMES) - OF_TRANSCRIPTS - OF_PEOPLE


def test_what_is_declared_is_what_a_run_of_transcripts_has() -> None:
    made = {file.name for file in (*TABLES, *FIGURES) if file.make(rated()) is not None}
    declared = {file.name for file in (*TABLES, *FIGURES) if file.option not in OF_CHATS}
    # Neither do its systems talk, nor were own questions asked, nor do workers overlap with the second run.
    unheld = {
        *OF_PEOPLE,
        "incidents.csv",
        "offensive.csv",
        "flagged.csv",
        "served.csv",
        "answers.csv",
        "answers_numbers.csv",
        "answers_marks.csv",
        "quiz.csv",
        "quiz_systems.csv",
        "quiz_workers.csv",
        "quiz_filter.csv",
        "quiz_not_asked.csv",
        "writing.csv",
        "writing_workers.csv",
        "writing_scores.csv",
        "writing.svg",
        "turn_ratings.csv",
        "scenarios.csv",
        *(name for name in NAMES if name.endswith("_without_shared_workers.csv")),
    }
    assert made == declared - unheld


def test_without_sections_there_is_what_belongs_to_none() -> None:
    assert {file.name for file in TABLES if file.make(bare())} == {
        file.name for file in TABLES if file.option is None
    } - OF_PEOPLE
    assert not any(file.make(bare()) for file in FIGURES if file.option)


def test_the_page_names_no_other_tables_and_figures() -> None:
    named = set(re.findall(r"[\w-]+\.(?:csv|html|json|xlsx|svg|txt)\b", TEMPLATE))
    assert named <= set(NAMES)
    shown = {f"{name}.svg" for name in re.findall(r'drawing\("([^"]+)"', TEMPLATE)}
    beside = {"criteria-profile.svg", "criteria-correlation-z.svg", "criteria-correlation-raw.svg"}
    assert (
        shown == {file.name for file in FIGURES if file.on_page} == {file.name for file in FIGURES} - beside
    )

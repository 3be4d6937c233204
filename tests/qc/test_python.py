"""`import candor`: what is public, that it starts at once, and that its how-to page says what happens."""

import doctest
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

import bots
import candor
from qc import api
from tests.qc.support.analyses import NASTY, QUICK, awkward_run

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def result() -> candor.AnalysisResult:
    return candor.analyse(awkward_run(), QUICK)


def test_the_public_names_are_these() -> None:
    """Programs of others use them: a name that is added is a promise, one that is taken away breaks them."""
    errors = ["DataError", "EmptyRunError", "OptionError", "OutputError", "QcError", "ReplicationError"]
    errors += ["RunChoiceError", "SourceError"]
    values = ["SECTIONS", "Analysis", "AnalysisOptions", "AnalysisResult", "LeftOut", "Loss", "Problem"]
    functions = ["analyse", "load", "save", "write_report"]
    judgments = ["ConfidenceSequence", "EstimateOptions", "Estimates", "Judged", "Judgments", "Selection"]
    judgments += ["asymptotic", "bounded", "estimate", "read_judgments"]
    of_bots = ["Bot", "BotError", "Chat", "Provenance", "Reply", "Turn", "load_corpus", "open_bot"]
    of_runs = [*errors, *values, *functions, *judgments, "Run", "Words"]
    assert sorted(candor.__all__) == sorted([*of_runs, *of_bots])
    assert set(candor.__all__) <= set(dir(candor))
    assert all(getattr(candor, name) is getattr(api, name) for name in of_runs)
    assert all(getattr(candor, name) is getattr(bots, name) for name in of_bots)
    assert set(api.__all__) == set(of_runs)
    with pytest.raises(AttributeError, match="no attribute 'loads'"):
        _ = candor.loads


def test_importing_it_loads_nothing_heavy() -> None:
    program = "import sys, candor; print({'pandas', 'numpy', 'scipy', 'bots'} & sys.modules.keys())"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("set()\n", "")


def test_the_document_says_what_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(DOCS)
    page = DOCS / "how-to" / "analysis" / "analyse-from-python.md"
    found = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert found.attempted > 8
    assert found.failed == 0


def test_tables_are_frames_that_can_be_changed(result: candor.AnalysisResult) -> None:
    scores = result.tables["scores"]
    assert scores["system"].to_list() == result.scores.z["system"].to_list()
    assert scores["z"].to_list() == result.scores.z["overall"].to_list()
    assert result.intervals is not None
    assert scores["low"].to_list() == result.intervals.z_low[:, 0].tolist()
    labels = result.run.criteria["label"]
    assert scores[[f"z {label}" for label in labels]].to_numpy().tolist() == (
        result.scores.z[labels].to_numpy().tolist()
    )
    scores["z"] = 0.0
    assert result.tables["scores"]["z"].iloc[0] == result.scores.z["overall"].iloc[0]
    assert len(result.tables) == len(list(result.tables))
    with pytest.raises(KeyError, match="'score' is none of the tables scores, system_scores"):
        result.tables["score"]


def test_a_section_that_was_not_asked_for_has_no_table() -> None:
    bare = candor.analyse(awkward_run(), candor.AnalysisOptions(sections=frozenset()))
    assert "intervals" not in bare.tables
    assert "low" not in bare.tables["scores"]


class _Tags(HTMLParser):
    """Collects the names of elements, and the text."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        assert attrs == []

    def handle_data(self, data: str) -> None:
        self.text += data


def test_in_a_notebook_it_shows_itself_without_script_and_with_nothing_of_peoples_as_html(
    result: candor.AnalysisResult,
) -> None:
    seen = _Tags()
    seen.feed(result._repr_html_())
    allowed = {"h4", "p", "ul", "li", "table", "thead", "tbody", "tr", "th", "td", "small"}
    assert seen.names <= allowed
    assert NASTY in seen.text
    assert result.verdict[0] in seen.text
    assert result.signature in seen.text
    assert all(note in seen.text for note in result.notes)


def test_what_is_printed_of_a_run_and_a_result_is_short(result: candor.AnalysisResult) -> None:
    assert repr(result.run) == (
        "<Run <b>run</b>: 160 conversations in 32 assignments by 32 workers, 4 systems>"
    )
    assert repr(result).splitlines() == ["<AnalysisResult of <b>run</b>>", *result.verdict]
    assert repr(result.tables).startswith("<tables scores, system_scores, ")

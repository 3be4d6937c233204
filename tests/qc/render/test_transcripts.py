"""Tests of the report of a run of transcripts."""

import re

import pytest
from rich.console import Console

from qc.analysis import AnalysisOptions, analyse
from qc.render import show, tables
from qc.render.manifest import figures
from qc.render.page import page
from qc.render.sentences import verdict
from tests.qc.support.analyses import rated


@pytest.fixture(scope="module")
def text() -> str:
    return page(rated(), tables(rated()), figures(rated(), beside=False))


def words(text: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<style>.*?</style>|<[^>]+>", " ", text, flags=re.DOTALL))


def test_nothing_is_said_of_chats(text: str) -> None:
    said = words(text).lower()
    for word in ("conversation", "chat", "quality-control bot", "the bad bot"):
        assert word not in said, said[max(0, said.index(word) - 100) : said.index(word) + 60]


def test_every_table_and_figure_has_a_caption(text: str) -> None:
    shown = re.findall(r"<figure.*?</figure>", text, re.DOTALL)
    assert len(shown) > 20
    for figure in shown:
        caption = re.search(r"<figcaption[^>]*><b>(.+?)</b>\s*(.+?)\s*</figcaption>", figure, re.DOTALL)
        assert caption is not None, figure[:200]
        assert caption[1].endswith(".")


def test_contents_lead_to_chapters_that_are_there(text: str) -> None:
    linked = re.findall(r'href="#([\w-]+)"', text)
    assert "transcripts" in linked
    for target in linked:
        assert f'id="{target}"' in text


def test_kappa_is_never_without_its_caution(text: str) -> None:
    said = words(text)
    assert said.index("κ of items that a worker rated twice") < said.index("flat raters raise κ")
    assert said.index("flat raters raise κ") < said.index("Each worker’s correlation with themselves.")


def test_the_verdict_says_what_control_items_tell() -> None:
    # Made with bad twins 30 lower and references 20 higher; the ends of the scale cut some of it off.
    last = verdict(rated()).findings[-1]
    found = re.search(r"bad twins ([\d.]+) points lower and references ([\d.]+) points higher", last)
    assert found is not None, last
    assert float(found[1]) == pytest.approx(30, abs=5)
    assert float(found[2]) == pytest.approx(20, abs=5)


def test_the_terminal_has_control_items_and_kappa() -> None:
    console = Console(markup=False, record=True, width=160)
    with console.capture() as capture:
        show(rated(), console)
    said = capture.get()
    for title in (
        "Control items beside ordinary ones",
        "Items that a worker rated twice: κ",
        "… and r of each",
    ):
        assert title in said


def test_without_its_section_the_rest_is_there() -> None:
    sections = frozenset({"significance"})
    analysis = analyse(rated().run, AnalysisOptions(bootstrap=100, sections=sections))
    bare = page(analysis, tables(analysis), {})
    assert 'id="transcripts"' not in bare
    assert "bad twin" in words(bare)
    assert analysis.transcripts is None

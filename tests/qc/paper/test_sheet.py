"""Names and keys in a paper's figures."""

from collections.abc import Callable
from typing import Any

import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from qc.analysis import AnalysisOptions, analyse
from qc.paper.one_run import paper_figures
from qc.paper.sheet import fitting, parts_within, text_width
from qc.run import Run


def test_a_name_of_any_length_is_measured_a_few_times_only() -> None:
    """Each shorter text was measured from the full length down: names of 3,000 characters took minutes."""
    text_width.cache_clear()
    short = fitting("i" * 3_000, 120, 7)
    assert short.count("…") == 1
    assert text_width(short, 7) <= 120
    assert text_width.cache_info().misses < 50


def test_a_name_that_fits_stays_and_one_that_does_not_keeps_both_ends() -> None:
    assert fitting("  poly encoder\n", 120, 7) == "poly encoder"
    short = fitting("a system with a rather long name, with persona", 80, 7)
    assert short.startswith("a system")
    assert short.endswith("persona")
    assert fitting("WWW", 1, 7).count("W") <= 2


def test_a_legend_that_is_wider_than_the_sheet_has_a_line_for_each_part() -> None:
    """On a figure of one column its beginning was cut off."""
    parts = ("dark: one thing", "grey: another")
    assert parts_within(parts, 500, 7) == "dark: one thing; grey: another"
    narrow = parts_within(parts, 80, 7)
    assert narrow == "dark: one thing;\ngrey: another"
    assert all(text_width(line, 7) <= 80 for line in narrow.splitlines())


@pytest.mark.published
def test_every_system_of_two_runs_is_named_and_hollow_points_are_explained(
    published_run: Callable[[str, str], Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lowest system had no name in either width, and nothing said what hollow points are."""
    runs = [published_run(name, "hits_data.json") for name in ("free_run1", "free_run2")]
    sections = frozenset({"replication", "significance"})
    analysis = analyse(runs[0], AnalysisOptions(sections=sections), runs[1])
    named, written = list[str](), list[str]()
    annotate, text = Axes.annotate, Figure.text

    def noting_annotate(axes: Axes, label: str, *args: Any, **options: Any) -> Any:
        named.append(label)
        return annotate(axes, label, *args, **options)

    def noting_text(sheet: Figure, x: float, y: float, label: str, **options: Any) -> Any:
        written.append(label)
        return text(sheet, x, y, label, **options)

    monkeypatch.setattr(Axes, "annotate", noting_annotate)
    monkeypatch.setattr(Figure, "text", noting_text)
    figures = list(paper_figures(analysis))
    assert len(figures) == 6
    assert sorted(named) == sorted(2 * list(analysis.scores.z["system"]))
    keys = [label for label in written if "with persona" in label]
    assert keys == ["● with persona  ○ without"] * 4  # of ranking and replication, in both widths
    assert all("light: neither" in label for label in written if "dark" in label)

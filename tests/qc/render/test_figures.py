"""Figures: that each is there, stands alone and beside others, and bears whatever a run holds."""

import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

from qc.analysis import Analysis, AnalysisOptions, analyse
from qc.drawing.panel import round_ticks, spread
from qc.drawing.sheet import THEME, Figure, finish, number
from qc.drawing.style import NARROW, WIDE, shortened, text_width
from qc.loading import load
from qc.method.agreement import Agreement, Pairs
from qc.method.replication import Correlations, Replication, SameConclusions
from qc.method.topics import Topics
from qc.method.workload import Effort
from qc.render.manifest import FIGURES, figures
from qc.robustness.filter_check import FilterCheck
from qc.run import Run
from qc.sections.workers.screening import random_level
from qc.sections.workers.topics import scattered
from qc.sections.workers.writing import draw_pasted_shares
from qc.statistics.correlation import CorrelationInterval
from qc.table import percent
from tests.qc.support import analyses
from tests.qc.support.runs import run_of

SVG = "{http://www.w3.org/2000/svg}"
ALWAYS = ["ranking", "worker-p-values", "criteria-profile"]
PUBLISHED = [
    "ranking",
    "significance",
    "replication",
    "worker-p-values",
    "agreement",
    "alpha",
    "persona",
    "context",
    "adjusted",
    "style",
    "topics",
    "effort",
    "criteria-profile",
    "criteria-correlation-z",
    "criteria-correlation-raw",
]
QUICK = AnalysisOptions(bootstrap=100)


def made_up(names: Sequence[str], workers: int = 30, criteria: int = 3, *, honest: bool = True) -> Run:
    """Return a run in which worker i meets five systems from the i-th on, and the qc bot second.

    Later systems are better. Workers who are not honest rate every bot alike.
    """
    rng = np.random.default_rng(1)
    rows: list[tuple[str, str, int, Any]] = []
    for worker in range(workers):
        met = [names[(worker + step) % len(names)] for step in range(min(5, len(names)))]
        for position, system in enumerate([met[0], "qc", *met[1:]], start=1):
            level = 10 if system == "qc" else 40 + 40 * names.index(system) / len(names)
            centre = level if honest else 50
            ratings = np.clip(centre + rng.normal(0, 10, criteria), 0, 100)
            rows.append((f"w{worker:03}", system, position, ratings))
    who, what, where, given = zip(*rows, strict=True)
    return run_of(who, what, np.array(given), where, seconds=600.0)


def parsed(svg: str) -> ElementTree.Element:
    return ElementTree.fromstring(svg)  # noqa: S314 - we wrote it


def one(analysis: Analysis, name: str) -> Figure:
    """Return the figure of that name, drawn without the others."""
    (file,) = (file for file in FIGURES if file.stem == name)
    made = file.make(analysis)
    assert made is not None
    return finish(name, made)


def texts(figure: Figure) -> list[str]:
    return [element.text or "" for element in parsed(figure.svg).iter(f"{SVG}text")]


@pytest.fixture(scope="module")
def of_two_runs(two_runs: Analysis) -> dict[str, Figure]:
    # The file has no words. These are those of METHOD.md's word cloud in kind, not in number.
    words = (("music", 90), ("food", 40), ("<b>rock</b> & roll", 9))
    return figures(two_runs if two_runs.topics else two_runs.having(Topics({}, {}, {}, words)))


@pytest.mark.published
def test_every_figure_of_the_published_runs_in_reading_order(of_two_runs: dict[str, Figure]) -> None:
    assert list(of_two_runs) == PUBLISHED


@pytest.mark.published
def test_a_figure_stands_in_a_page_and_alone(of_two_runs: dict[str, Figure]) -> None:
    ids: list[str] = []
    for name, figure in of_two_runs.items():
        root = parsed(figure.svg)
        assert figure.name == name
        assert root.tag == f"{SVG}svg"
        assert root.attrib["role"] == "img"
        assert root.attrib["viewBox"].startswith("0 0 560 ")
        assert not {"width", "height"} & root.attrib.keys()
        titled, described = root.attrib["aria-labelledby"].split()
        assert root.find(f"{SVG}title[@id='{titled}']").text == figure.title  # type: ignore[union-attr]
        assert root.find(f"{SVG}desc[@id='{described}']").text == figure.alt  # type: ignore[union-attr]
        ids += re.findall(r' id="([^"]+)"', figure.svg)
        ids += re.findall(r' id="([^"]+)"', figure.narrow)
        # A rule would reach beyond the figure; the only address is the name of the namespace.
        assert "<style" not in figure.svg
        assert set(re.findall(r"https?://[^\"]+", figure.svg)) == {"http://www.w3.org/2000/svg"}
    assert len(set(ids)) == len(ids)
    assert not [name for name, figure in of_two_runs.items() if "href" in figure.svg or "url(" in figure.svg]


@pytest.mark.published
def test_the_narrow_drawing_can_be_read_on_a_phone(of_two_runs: dict[str, Figure]) -> None:
    # A phone 360 pixels wide leaves 316 to a drawing: page and frame take 22 on either side.
    for name, figure in of_two_runs.items():
        root = parsed(figure.narrow)
        assert root.attrib["viewBox"].startswith(f"0 0 {NARROW:g} ")
        styles = [text.attrib["style"] for text in root.iter(f"{SVG}text")]
        sizes = [float(re.findall(r"font-size: ([\d.]+)px", style)[0]) for style in styles]
        smallest = min(sizes, default=14.0) * 316 / NARROW
        assert smallest >= 11, name


@pytest.mark.published
@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_no_text_leaves_its_drawing(of_two_runs: dict[str, Figure], width: float) -> None:
    for name, figure in of_two_runs.items():
        for text in parsed(figure.svg if width == WIDE else figure.narrow).iter(f"{SVG}text"):
            if "transform" in text.attrib:
                continue
            style = text.attrib["style"]
            size = float(re.findall(r"font-size: ([\d.]+)px", style)[0])
            length = text_width(text.text or "", size, bold="bold" in style)
            anchor = re.findall(r"text-anchor: (\w+)", style)
            begin = float(text.attrib["x"]) - {"": 0, "middle": length / 2, "end": length}["".join(anchor)]
            assert begin >= -1, (name, text.text)
            assert begin + length <= width + 1, (name, text.text)


@pytest.mark.published
def test_no_figure_holds_a_number_that_is_none(of_two_runs: dict[str, Figure]) -> None:
    for figure in of_two_runs.values():
        assert "nan" not in re.sub(r"<(title|desc).*?</\1>", "", figure.svg).lower()
        assert "nan" not in figure.alt


@pytest.mark.published
def test_the_figures_say_what_the_tables_say(two_runs: Analysis, of_two_runs: dict[str, Figure]) -> None:
    systems = two_runs.scores.z["system"].to_list()
    for name in ("ranking", "criteria-profile", "alpha", "adjusted"):
        assert set(systems) <= set(texts(of_two_runs[name])), name
    assert set(systems) <= set(texts(of_two_runs["replication"]))
    # METHOD.md, section 5: r = 0.968, 38 of 45 pairs, 173 of 248 workers, 680 and 115 pairs of raters.
    assert of_two_runs["replication"].title == "Two runs: r = 0.968"
    assert "38 of 45 pairs" in of_two_runs["replication"].alt
    assert "248 workers: 173 lie below" in of_two_runs["worker-p-values"].alt
    assert "680 pairs" in of_two_runs["agreement"].alt
    assert "115 pairs" in of_two_runs["agreement"].alt
    # Table 5.4: the bi-encoder without persona is best.
    assert of_two_runs["ranking"].alt.startswith("Dot plot of overall z, each with its 95% interval")
    assert "best first: biencoder 0.534," in of_two_runs["ranking"].alt
    assert "0.53" in texts(of_two_runs["criteria-profile"])


def test_the_same_analysis_gives_the_same_bytes(drawn: dict[str, Figure]) -> None:
    assert set(drawn) == {*PUBLISHED, "topic_areas", "writing"}
    assert {name: figure.svg for name, figure in figures(analyses.whole()).items()} == {
        name: figure.svg for name, figure in drawn.items()
    }


@pytest.mark.published
def test_what_was_not_asked_for_is_not_drawn(published: Path) -> None:
    run = load(str(published / "published/free_run1/hits_data.json"))
    assert list(figures(analyse(run, AnalysisOptions(sections=frozenset())))) == ALWAYS


def test_without_a_system_that_has_a_score_only_the_workers_are_drawn() -> None:
    drawn = figures(analyse(made_up(["a", "b", "c", "d"], 9, honest=False), QUICK))
    assert set(drawn) <= {"worker-p-values", "effort", "agreement"}
    assert "0 lie below α = 0.05" in drawn["worker-p-values"].alt


def test_one_system_has_a_ranking_but_nothing_to_compare() -> None:
    drawn = figures(analyse(made_up(["only"]), QUICK))
    assert "only" in texts(drawn["ranking"])
    assert not {"significance", "criteria-correlation-z", "persona", "replication"} & set(drawn)


def test_a_system_without_a_kept_conversation_is_named_and_not_drawn() -> None:
    run = made_up(["a", "b"])
    systems = pd.concat(
        [
            pd.DataFrame({"system": ["absent"], "family": "f", "has_persona": False, "is_qc": False}),
            run.systems,
        ],
        ignore_index=True,
    )
    conversations = run.conversations.assign(
        system=run.conversations["system"].cat.set_categories(systems["system"])
    )
    drawn = figures(analyse(replace(run, systems=systems, conversations=conversations), QUICK))
    assert "absent" in texts(drawn["ranking"])
    assert " no kept conversation" in texts(drawn["ranking"])
    assert "absent" not in drawn["ranking"].alt


def test_names_are_text_whatever_is_in_them() -> None:
    names = ["<b>&amp;", "$x_1$ & \"y\" 'z'", "字系统", "#1d1b18", "a" * 40 + " end"]
    drawn = figures(analyse(made_up(names), QUICK))
    for figure in drawn.values():
        parsed(figure.svg)
        parsed(f"<div>{figure.themed}</div>")
    shown = texts(drawn["ranking"])
    assert set(names[:4]) <= set(shown)
    assert [text for text in shown if text.startswith("aaa") and "…" in text and text.endswith("a end")]
    assert "#1d1b18" in drawn["ranking"].themed


def test_random_workers_are_where_simulated_ones_are() -> None:
    run = made_up(["a", "b", "c", "d"], 40)
    analysis = analyse(run, QUICK)
    check = analysis.filter_check
    assert check is not None
    edges = np.array([0.0, 0.5, 1.0])
    half = replace(check, random_share=0.5, random_p=np.array([0.1, 0.6, 0.7, 0.8]))
    # All 40 vary: half of them, a quarter of these in the lower bin.
    assert random_level(analysis.sample.screening, half, edges).tolist() == [5.0, 15.0]
    # 4 workers who rate everything alike have p = 1 and count as random; 16 others are spread as above.
    workers = analysis.sample.screening.workers
    constant = replace(
        analysis.sample.screening, workers=workers.assign(testable=np.arange(len(workers)) >= 4)
    )
    assert random_level(constant, half, edges).tolist() == [4.0, 16.0]
    uneven = replace(check, random_share=0.9, random_p=np.linspace(0, 0.02, 50))
    drawn = [one(analysis.having(each), "worker-p-values").svg for each in (uneven, half)]
    assert drawn[0] != drawn[1]


def test_the_chosen_level_is_marked_only_where_there_is_an_axis() -> None:
    run = made_up(["a", "b", "c"], 20)
    inside, outside = (
        one(analyse(run, AnalysisOptions(alpha=alpha, bootstrap=100, sections=frozenset({"alpha"}))), "alpha")
        for alpha in (0.1, 0.2)
    )
    assert "chosen" in texts(inside)
    assert "chosen" not in texts(outside)
    assert "The chosen α = 0.2 lies outside." in texts(outside)
    assert "0.2 lies outside" in outside.alt
    assert "outside" not in inside.alt


def test_effort_is_drawn_with_its_section() -> None:
    whole = analyses.whole()
    (effort,) = (file for file in FIGURES if file.name == "effort.svg")
    assert effort.make(whole) is not None
    assert effort.make(whole.without(Effort)) is None
    assert effort.make(whole.without(FilterCheck)) is None


def test_what_was_pasted_is_drawn_where_anybody_wrote() -> None:
    results = analyses.whole().writing
    assert results is not None
    workers = results.workers.assign(
        pasted_share=[0.0, 0.02, 1.0, np.nan] + [0.0] * (len(results.workers) - 4)
    )
    told = replace(results, workers=workers)
    drawing = draw_pasted_shares(told)
    assert drawing is not None
    count = len(workers)
    assert f"of {count - 1} workers: {count - 3} pasted nothing, 1 {percent(0.5, 0)} or more" in drawing.alt
    assert draw_pasted_shares(replace(results, workers=workers.assign(pasted_share=np.nan))) is None


def test_what_the_page_has_as_tables_is_drawn_only_for_files(drawn: dict[str, Figure]) -> None:
    beside = {"criteria-profile", "criteria-correlation-z", "criteria-correlation-raw"}
    assert drawn.keys() - figures(analyses.whole(), beside=False).keys() == beside


def test_thirty_systems_have_thirty_rows() -> None:
    names = [f"system {number:02}" for number in range(30)]
    analysis = analyse(made_up(names, 90), AnalysisOptions(sections=frozenset({"significance"})))
    assert set(names) <= set(texts(one(analysis, "ranking")))
    # 900 numbers would be too small to read; the colours remain: 30 rows, 30 columns, and 4 in the key.
    assert len(texts(one(analysis, "significance"))) == 30 + 30 + 2 * 4


def test_a_page_can_give_figures_its_own_colours() -> None:
    figure = one(analyse(made_up(["a", "b"]), AnalysisOptions(sections=frozenset())), "ranking")
    for colour, name in THEME.items():
        if colour in figure.svg:
            assert f"var({name}, {colour})" in figure.themed
    assert "var(" not in figure.svg


def test_labels_of_points_that_coincide_do_not_cover_one_another() -> None:
    systems = [f"system {number}" for number in range(12)]
    same = {"overall": 1.0}
    result = Replication(
        name="second",
        systems=tuple(systems),
        labels=("fun",),
        z=Correlations(same, same, same),
        raw=Correlations(same, same, same),
        overall_interval=CorrelationInterval(1.0, 1.0),
        same_conclusions=SameConclusions(66, 66, 0.1),
        shared_workers=0,
        without_shared=None,
        without_shared_raw=None,
        points=pd.DataFrame({"system": systems, "first": 0.1, "second": 0.1}),
        notes=(),
    )
    drawn = one(
        analyse(made_up(systems), AnalysisOptions(sections=frozenset())).having(result),
        "replication",
    )
    labels = [text for text in texts(drawn) if text.startswith("system")]
    # Around one point there is room for six labels at most: beside it, three on either side.
    assert 1 <= len(labels) <= 8
    assert len(set(labels)) == len(labels)


def test_agreement_without_pairs_in_one_group() -> None:
    none = Pairs(0, np.array([]), False)
    some = Pairs(3, np.array([-1.0, 0.5, 1.0]), False)
    analysis = analyse(made_up(["a", "b"]), AnalysisOptions(sections=frozenset()))
    drawn = one(analysis.having(Agreement(none, some, 0, 10)), "agreement")
    assert "passed: no pair" in drawn.alt
    # The middle one of -1, 0.5 and 1.
    assert "failed: 3 pairs, median r 0.50" in drawn.alt
    assert "agreement" not in figures(analysis.having(Agreement(none, none, 0, 10)))


def test_topic_words_are_text_and_the_most_frequent_is_the_largest() -> None:
    words = (("<script>alert(1)</script>", 50), ("music & more", 30), ("字", 5), ("x" * 200, 4))
    analysis = analyse(made_up(["a", "b"]), AnalysisOptions(sections=frozenset())).having(
        Topics({}, {}, {}, words)
    )
    figure = one(analysis, "topics")
    root = parsed(figure.svg)
    assert root.find(f".//{SVG}script") is None
    sizes = {
        element.text: float(re.findall(r"font-size: ([\d.]+)px", element.attrib["style"])[0])
        for element in root.iter(f"{SVG}text")
    }
    assert max(sizes.values()) == max(size for text, size in sizes.items() if str(text).startswith("<scr"))
    assert {"music & more", "字"} <= sizes.keys()


def test_scattered_boxes_do_not_cover_one_another() -> None:
    boxes = np.column_stack([np.linspace(180, 20, 40), np.linspace(60, 12, 40)])
    corners = scattered(boxes, np.array([270.0, 190.0]))
    placed = np.isfinite(corners[:, 0])
    # The first is in the middle, so its corner is half its size from there.
    assert corners[0].tolist() == [-90.0, -30.0]
    upper, lower = corners[placed], (corners + boxes)[placed]
    cover = ((upper[:, None] < lower) & (upper < lower[:, None])).all(axis=2)
    assert placed.sum() > 20
    assert cover.sum() == placed.sum()  # each box covers itself, and nothing else


def test_spread_heights() -> None:
    # 0 and 1 are too close: they move apart around 0.5 to be 2 apart. 10 stays.
    assert spread(np.array([10.0, 1.0, 0.0]), 2.0).tolist() == [10.0, 1.5, -0.5]
    assert spread(np.array([]), 2.0).tolist() == []
    apart = np.diff(spread(np.array([0.0, 0.1, 0.2, 3.0, 3.1]), 1.0))
    assert (apart >= 1 - 1e-12).all()


def test_a_name_that_is_too_long_keeps_both_ends() -> None:
    short = shortened("retrieval " * 10 + "with persona", 120)
    assert short.startswith("retr")
    assert short.endswith("persona")
    assert text_width(short) <= 120
    assert shortened("two\nlines", 120) == "two lines"


def test_a_name_of_any_length_is_measured_only_once() -> None:
    # Names of 3,000 characters took minutes, when every shorter text was measured from the full length down.
    assert shortened("i" * 200_000, 120).count("…") == 1
    assert shortened("W" * 200_000, 1).count("W") <= 2


@pytest.mark.parametrize(
    ("low", "high", "most", "ticks"),
    [
        (0, 1, 5, [0, 0.2, 0.4, 0.6, 0.8, 1]),
        (-0.47, 0.15, 3, [-0.4, -0.2, 0]),
        (0, 185, 4, [0, 50, 100, 150]),
        (3, 3, 4, [3]),
    ],
)
def test_ticks_are_round(low: float, high: float, most: int, ticks: list[float]) -> None:
    assert round_ticks(low, high, most) == ticks


def test_whole_ticks_are_whole() -> None:
    assert round_ticks(0, 3, 10, whole=True) == [0, 1, 2, 3]


def test_a_mark_at_no_number_is_refused() -> None:
    assert [number(value) for value in (1, -0.001, 2.50, 3.14159)] == ["1", "0", "2.5", "3.14"]
    with pytest.raises(ValueError, match="a mark at nan"):
        number(float("nan"))


def test_a_whole_report_loads_neither_matplotlib_nor_the_statistics_of_scipy(
    small_hits: dict[str, Any], hits_file: Callable[[object], Path], tmp_path: Path
) -> None:
    code = (
        "import sys; from qc.report.__main__ import app\n"
        "try:\n    app(sys.argv[1:])\nfinally:\n"
        "    print('loaded:', sorted(sys.modules.keys() & {'matplotlib', 'scipy.stats', 'scipy.optimize'}))"
    )
    source, out = str(hits_file(small_hits)), str(tmp_path / "out")
    command = [sys.executable, "-c", code, source, "--out", out, "--bootstrap", "100"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "loaded: []"

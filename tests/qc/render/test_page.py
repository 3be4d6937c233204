"""report.html as text."""

import html
import re
from dataclasses import replace
from html.parser import HTMLParser
from importlib import resources
from pathlib import Path

import pandas as pd
import pytest

from qc.analysis import Analysis, AnalysisOptions, analyse
from qc.drawing.sheet import THEME, Figure
from qc.render import tables
from qc.render.page import SHOWN_ROWS, all_notes, page, tight
from qc.render.sentences import SIMULATED
from qc.run import SIMULATED_NOTE
from qc.sections.systems.ranking import ranking
from qc.sections.workers.screening import workers as workers_table
from qc.table import shade
from tests.qc.support.analyses import NASTY, awkward_run, bare, whole
from tests.qc.support.rendered import rendered

CSS = resources.files("qc.render").joinpath("page.css").read_text(encoding="utf-8")
TOKENS = resources.files("qc.render").joinpath("tokens.css").read_text(encoding="utf-8")
DESIGN = Path(__file__).parents[3] / "frontend" / "src" / "design"
VOID = {"meta", "link", "br", "hr", "img", "input"}


class Outline(HTMLParser):
    """What a page is made of; checks that elements are closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.tags: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        for name, value in attrs:
            assert not name.startswith("on"), (tag, name)
            if name == "id":
                self.ids.append(value or "")
            if name in {"href", "src", "xlink:href"}:
                self.links.append(value or "")
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self._open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag


def test_the_page_needs_nothing_but_itself(text: str) -> None:
    outline = Outline(text)
    assert "script" not in outline.tags
    assert all(link.startswith("#") or link == "data:," for link in outline.links)
    assert not re.search(r"url\((?!#|data:)|@import", text)


def test_the_report_has_the_colours_and_type_of_the_desk() -> None:
    assert (DESIGN / "tokens.css").read_text(encoding="utf-8") == TOKENS, "run `npm run tokens` in frontend/"
    light = dict(re.findall(r"(--[\w-]+): (#\w{6});", TOKENS[: TOKENS.index("@media")]))
    assert {name: light[name] for name in THEME.values()} == {name: colour for colour, name in THEME.items()}
    used = set(re.findall(r"var\((--[\w-]+)\)", CSS))
    assert used <= set(re.findall(r"^\s*:?\w*\s*\{?\s*(--[\w-]+):", TOKENS, re.MULTILINE)) | {"--measure"}


def test_ids_are_unique_and_links_lead_somewhere(text: str) -> None:
    outline = Outline(text)
    assert len(set(outline.ids)) == len(outline.ids)
    assert {link[1:] for link in outline.links if link.startswith("#")} <= set(outline.ids)


def test_names_are_text_whatever_is_in_them(text: str) -> None:
    assert NASTY not in text
    assert "&lt;script&gt;" in text
    for part in ("<b>run</b>", "<u>A</u>", "<b>w", "<i>one</i>"):
        assert part not in text
    assert "a &lt; b &amp; c" in text


def test_every_table_and_figure_has_a_caption(text: str) -> None:
    shown = re.findall(r"<figure.*?</figure>", text, re.DOTALL)
    assert len(shown) > 25
    for figure in shown:
        caption = re.search(r"<figcaption[^>]*><b>(.+?)</b>\s*(.+?)\s*</figcaption>", figure, re.DOTALL)
        assert caption is not None, figure[:200]
        assert caption[1].endswith(".")
        assert caption[2].rstrip().endswith((".", "?", "</span>")), caption[0]


def test_verdict_first_then_notes_then_ranking_and_signature_at_the_end(text: str) -> None:
    offsets = [
        text.index(part) for part in ('id="verdict"', "a &lt; b &amp; c", 'id="ranking"', 'id="method"')
    ]
    assert offsets == sorted(offsets)
    assert text.count(whole().signature.replace("'", "&#39;")) == 2


def test_every_figure_drawn_for_the_page_is_in_it(text: str, drawn: dict[str, Figure]) -> None:
    shown = drawn.keys() - {"criteria-profile", "criteria-correlation-z", "criteria-correlation-raw"}
    assert len(shown) >= 11
    for name in shown:
        assert text.count(f'id="{name}-title"') == 1, name
        assert re.search(rf'<svg [^>]*aria-labelledby="{name}-title', text), name


def section(text: str, name: str) -> str:
    """Return the words of a section, one space between them."""
    found = re.search(rf'<section id="{name}">(.*?)</section>', text, re.DOTALL)
    assert found is not None
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", found[1])).replace("\xa0", " ").split())


def standards(analysis: Analysis) -> str:
    return section(page(analysis, tables(analysis), {}), "significance")


def test_the_standards_are_named_before_anything_is_called_better() -> None:
    found = standards(whole())
    names = (
        "All pairs together, by worker.",
        "The published convention.",
        "The convention, corrected.",
        "They can differ:",
        "Groups of systems",
        "What may be called better.",
    )
    offsets = [found.index(name) for name in names]
    assert offsets == sorted(offsets)
    assert "significantly better" not in found


def test_groups_that_may_be_called_better_come_before_those_by_convention() -> None:
    analysis = whole()
    assert analysis.clusters is not None
    assert analysis.intervals is not None
    one = replace(analysis.intervals, groups=(("first", "second"),))
    by_convention = replace(
        analysis.clusters, groups=(("a",), ("b",), ("c",)), holm_groups=(("a", "b"), ("c",))
    )
    found = standards(analysis.having(one, by_convention))
    assert found.index("There are no groups") < found.index("By the published convention,")
    two = replace(one, groups=(("x", "y"), ("z",)))
    found = standards(analysis.having(two, by_convention))
    places = [found.index(words) for words in ("x, y z", "By the published convention,", "a b c", "a, b c")]
    assert places == sorted(places)
    assert "not corrected for the number of tests" in found
    none = replace(by_convention, groups=(("a", "b"),), holm_groups=(("a", "b"),))
    assert "makes no groups" in standards(analysis.having(none))


@pytest.mark.parametrize("off", ["intervals", "significance"])
def test_a_standard_that_was_not_computed_is_not_named(off: str) -> None:
    options = AnalysisOptions(bootstrap=100, sections=frozenset({"intervals", "significance"} - {off}))
    found = standards(analyse(awkward_run(), options))
    assert ("All pairs together, by worker" in found) == (off != "intervals")
    assert ("The published convention" in found) == (off != "significance")
    assert "can differ" not in found


def test_nothing_is_told_apart_where_there_is_nothing_to_compare() -> None:
    run = awkward_run()
    nobody = standards(analyse(replace(run, ratings=run.ratings * 0 + 50), AnalysisOptions(bootstrap=100)))
    assert "There are no two systems with a score" in nobody
    assert "told apart" not in nobody
    assert "What may be called better" not in nobody


def test_captions_claim_no_more_than_is_so(text: str) -> None:
    words = " ".join(html.unescape(re.sub(r"<[^>]*>", " ", text)).split())
    context = whole().context
    assert context is not None
    assert "assignments paid" not in words
    assert "assignments analysed" in words
    assert "dollars if all of them are paid" in words
    assert "spread evenly" not in words
    assert "drawn at random, so" not in words
    assert "chance gave it" not in words
    for said in (
        "as ours does",
        "two assignments of one worker are a pair as well",
        "Neither is corrected for the number of families: with 2 of them",
        f"These {len(context.effects)} tests are not corrected for their number.",
        "the published tests take the conversations of one worker to be independent",
        "correlation of the scores with those of the workers who failed",
    ):
        assert said in words, said


def test_a_page_with_the_least() -> None:
    text = page(bare(), tables(bare()), {})
    Outline(text)
    for kept in ("ranking", "criteria", "workers", "cost", "left-out", "method"):
        assert f'<section id="{kept}">' in text


def test_nobody_passed() -> None:
    run = awkward_run()
    analysis = analyse(replace(run, ratings=run.ratings * 0 + 50), AnalysisOptions(bootstrap=100))
    text = rendered(analysis)
    Outline(text)
    assert "No worker passed the filter" in text
    assert "nan" not in re.sub(r"<[^>]*>", " ", text).lower().split()


def test_simulated_workers_are_told_first() -> None:
    analysis = replace(bare(), run=replace(bare().run, notes=(SIMULATED_NOTE,)))
    text = page(analysis, tables(analysis), {})
    assert re.search(
        rf'id="verdict">\s*<h2[^>]*>Verdict</h2>\s*<p class="warning">{re.escape(SIMULATED)}', text
    )


def test_many_workers_are_cut_and_the_rest_is_named() -> None:
    run = awkward_run(workers=SHOWN_ROWS + 30)
    analysis = analyse(run, AnalysisOptions(bootstrap=100, sections=frozenset({"filter"})))
    text = page(analysis, tables(analysis), {})
    rest = "<code>--format csv</code> writes all rows to <code>workers.csv</code>"
    assert f"The first {SHOWN_ROWS} of {SHOWN_ROWS + 30} rows are shown. {rest}" in text


def test_notes_of_every_part_stand_in_one_place_before_the_ranking(text: str) -> None:
    analysis = whole()
    notes = all_notes(analysis)
    box = text[text.index('<div class="notes">') : text.index('id="ranking"')]
    assert box.count("<li>") - box.count('<li><a href="#') == len(notes)
    body = text[text.index('id="ranking"') :]
    assert not [note for note in notes if html.escape(note) in body]


def test_notes_on_adjusted_scores_stand_beside_them_and_not_on_the_first_screen() -> None:
    adjusted = whole().adjusted
    assert adjusted is not None
    analysis = whole().having(replace(adjusted, notes=("Left out: A & B.",)))
    text = page(analysis, tables(analysis), {})
    assert text.count("Left out: A &amp; B.") == 1
    chapter = text[text.index('<section id="context">') : text.index('<section id="topics">')]
    assert "Left out: A &amp; B." in chapter


def test_one_share_of_random_workers_is_in_sight(text: str) -> None:
    sight = re.sub(
        r"<details.*?</details>", "", text[text.index('<section id="workers">') :], flags=re.DOTALL
    )
    assert len(re.findall(r"\brated at random, at most \(95 % confidence\)", sight)) == 1
    assert "rates at random</b> if" in sight
    assert "(α)" not in sight


def test_the_ranking_says_how_many_conversations_and_raters(text: str) -> None:
    rows = {row[0].text: [cell.text for cell in row] for row in ranking(whole()).cells()}
    sample, scores = whole().sample, whole().scores
    kept = pd.DataFrame(
        {
            "system": sample.run.conversations["system"].astype(str),
            "worker": sample.workers,
            "counted": sample.counted,
        }
    )
    for name, group in kept[kept["counted"]].groupby("system"):
        assert rows[str(name)][-2:] == [str(len(group)), str(group["worker"].nunique())]
    assert len(rows) == len(scores.z)
    for head in ("Conver\u00adsations", "Raters"):
        assert head in section_html(text, "ranking")


def section_html(text: str, name: str) -> str:
    return text[text.index(f'<section id="{name}">') :].partition("</section>")[0]


def test_the_list_of_workers_is_folded_and_not_printed(text: str) -> None:
    workers = section_html(text, "workers")
    folded = workers[workers.index('<details class="screen">') :]
    assert 'id="table-workers"' in folded
    assert 'id="table-workers"' not in workers[: workers.index('<details class="screen">')]


def test_workers_who_passed_with_a_remark_come_after_those_who_failed() -> None:
    analysis = whole()
    assert analysis.filter_check is not None
    workers = analysis.filter_check.workers
    marked = workers.index[workers["passed"]][-1]
    table = workers.assign(
        remark=["0.2 minutes per conversation" if i == marked else "" for i in workers.index]
    )
    rows = workers_table(replace(analysis.filter_check, workers=table)).cells()
    outcomes = [row[1].text for row in rows]
    failed = outcomes.count("failed")
    assert outcomes == ["failed"] * failed + ["passed"] * (len(outcomes) - failed)
    assert rows[failed][0].text == workers.loc[marked, "worker"]
    assert rows[failed][2].text == "0.2 minutes per conversation"
    assert rows[0][2].text == workers.set_index("worker").loc[rows[0][0].text, "reason"]


def test_units_stay_with_their_numbers() -> None:
    assert tight("r = 0.9 (95 % interval, p < 0.1)") == "r\xa0=\xa00.9 (95\xa0% interval, p\xa0<\xa00.1)"


def luminance(colour: str) -> float:
    """Return the relative luminance of #rrggbb. Source: WCAG 2.2, definition of relative luminance."""
    parts = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_coloured_cells_can_be_read() -> None:
    rules = re.findall(r"^\.([\w-]+) \{ background: (#\w{6}); color: (#\w{6}); \}", CSS, re.MULTILINE)
    classes = {shade(step / 100) for step in range(-150, 151)} - {""} | {"significant", "suggestive"}
    assert {name for name, _, _ in rules} == classes
    assert len(classes) == 12
    for name, *colours in rules:
        dark, light = sorted(map(luminance, colours))
        assert (light + 0.05) / (dark + 0.05) >= 4.5, name


def test_shades_grow_with_the_distance_from_zero() -> None:
    values = (0.05, 0.2, 0.95, 7, -0.4, -1.2, float("nan"))
    assert [shade(value) for value in values] == [
        "",
        "above-1",
        "above-5",
        "above-5",
        "below-2",
        "below-5",
        "",
    ]

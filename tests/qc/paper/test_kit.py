"""The files of a paper kit: what is in them, that they compile, and that an earlier kit leaves nothing."""

import json
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from qc.analysis import Analysis
from qc.errors import OutputError
from qc.paper.datasheet import AUTHOR, datasheet
from qc.paper.kit import FOLDER, MAIN
from qc.paper.methods import ENTRIES, bibliography, methods_paragraph
from qc.paper.one_run import paper_tables, write_paper
from qc.paper.tex import escaped
from qc.sections.course.adherence import follow
from qc.statistics.correlation import CorrelationInterval
from qc.table import Column, Table
from tests.needs import need_programs
from tests.qc.paper.conftest import BOTH
from tests.qc.support.analyses import QUICK, SYSTEMS, bare, rated, whole
from tests.qc.support.registrations import registration
from tests.qc.support.written import Written

FIGURES = {
    f"{name}-{width}.pdf"
    for name in ("ranking", "significance", "replication")
    for width in ("one-column", "two-columns")
}
TEXTS = {
    MAIN, "methods.tex", "ranking.tex", "scores.tex", "pass-rates.tex", "criteria.tex", "replication.tex",
    "references.bib", "datasheet.md", "heds.json",
}  # fmt: skip


def test_what_is_in_a_kit(kit: Written) -> None:
    assert {file.name for file in kit.files} == {*FIGURES, *TEXTS}
    assert kit.files[0].name == MAIN
    assert len(kit.steps) == len(BOTH)


def test_the_same_analysis_gives_the_same_bytes(kit: Written, tmp_path: Path) -> None:
    again = write_paper(whole(), tmp_path, BOTH, lambda _: None)
    assert {file.name: file.read_bytes() for file in again} == {
        file.name: file.read_bytes() for file in kit.files
    }


def test_figures_are_as_wide_as_columns(kit: Written) -> None:
    for file in kit.files:
        if file.suffix == ".pdf":
            box = re.search(rb"/MediaBox \[ ?0 0 ([\d.]+)", file.read_bytes())
            assert box is not None
            # 77 and 160 mm in points, 72 to 25.4 mm.
            assert float(box[1]) == pytest.approx(218.27 if "one-column" in file.name else 453.54, abs=0.01)
            assert b"/Type3" not in file.read_bytes()


def test_tables_hold_the_numbers_of_the_analysis(kit: Written) -> None:
    folder = kit.directory / FOLDER
    table = (folder / "ranking.tex").read_text(encoding="utf-8")
    z = whole().scores.z
    rows = table.partition(r"\midrule")[2].partition(r"\bottomrule")[0].strip().splitlines()
    assert len(rows) == len(z)
    for row, (name, overall) in zip(rows, z[["system", "overall"]].itertuples(index=False), strict=True):
        cells = row.removesuffix(r" \\").split(" & ")
        assert cells[:2] == [escaped(name), escaped(f"{overall:.3f}".replace("-", "−"))]
    # Each of the 24 workers met each of the four systems once, so raters are conversations.
    assert {tuple(row.removesuffix(r" \\").split(" & ")[-2:]) for row in rows} == {
        (str(whole().rates.workers.passed),) * 2
    }
    assert len((folder / "replication.tex").read_text(encoding="utf-8").split(r"\\")) == 2 + 1 + len(
        whole().replication.labels  # type: ignore[union-attr]
    )


def test_the_paragraph_says_what_was_done(kit: Written) -> None:
    text = (kit.directory / FOLDER / "methods.tex").read_text(encoding="utf-8")
    rates = whole().rates
    assert f"{rates.workers.total} workers completed {rates.assignments.total} assignments" in text
    assert f"{rates.workers.passed} of {rates.workers.total}" in text
    assert f"\\${QUICK.reward:.2f} for an assignment" in text
    assert f"with {QUICK.bootstrap} draws" in text
    cited = set(re.findall(r"\\cite\{([^}]+)\}", text))
    assert cited <= ENTRIES.keys()
    assert len(re.findall(r"^@", bibliography(), re.MULTILINE)) == len(ENTRIES)


def test_r_of_two_runs_has_its_interval_and_the_workers_of_both(kit: Written) -> None:
    folder, found = kit.directory / FOLDER, whole().replication
    assert found is not None
    shared = replace(found, shared_workers=3, overall_interval=CorrelationInterval(0.5, 0.9))
    analysis = whole().having(replace(shared, without_shared=replace(found.z, pearson={"overall": 0.8})))
    both = "3 workers took part in both runs; without them $r = 0.800$."
    for text in (methods_paragraph(analysis), dict(_texts_of(analysis))["replication"]):
        assert r"95 \% interval 0.500 to 0.900" in text
        assert both in text
    nobody = replace(shared, shared_workers=0, without_shared=None)
    assert "No worker took part in both runs." in methods_paragraph(whole().having(nobody))
    main = (folder / MAIN).read_text(encoding="utf-8")
    assert "took part in both runs" in main[main.index("in two runs; on the dashed line") :]


def _texts_of(analysis: Analysis) -> list[tuple[str, str]]:
    return [(table.name, table.text) for table in paper_tables(analysis)]


def test_the_interval_of_the_first_is_said_to_be_another(kit: Written, tmp_path: Path) -> None:
    folder = kit.directory / FOLDER
    for name in (MAIN, "ranking.tex"):
        text = (folder / name).read_text(encoding="utf-8")
        assert "The interval of the first allows for its having been picked as the highest score." in text
    assert "that of the highest score allows for" in (folder / "methods.tex").read_text(encoding="utf-8")
    write_paper(bare(), tmp_path, BOTH, lambda _: None)
    text = (tmp_path / FOLDER / MAIN).read_text(encoding="utf-8")
    assert r"\caption{Overall scores of the systems.}" in text


def test_what_was_registered_is_in_the_paragraph_and_the_sheet() -> None:
    best, worst = whole().scores.z["system"].iloc[[0, -1]]
    pairs = [{"higher": best, "lower": worst}, {"higher": worst, "lower": best}]
    plan = registration(hypotheses=pairs, filter={"alpha": 0.01})
    analysis = whole().having(follow(whole(), plan))
    text = methods_paragraph(analysis)
    assert f"preregistered on 2026-02-28 ({plan.hash})." in text
    assert (
        "Of 2 registered hypotheses 1 is supported by rank tests by worker, at a familywise level of" in text
    )
    assert re.search(r"^Not followed: .*filter.*\.$", text, re.MULTILINE)
    sheet = datasheet(analysis)
    assert f"**3.3.1** Preregistered?: yes, 2026-02-28T12:00:00+00:00, {plan.hash}; not followed: " in sheet
    assert f"**3.3.1** Preregistered?: {AUTHOR}" in datasheet(whole())
    assert "preregistered" not in methods_paragraph(whole())


def test_systems_that_make_no_groups_do_not_fall_into_one() -> None:
    found = whole().intervals
    assert found is not None
    names = tuple(name for group in found.groups for name in group)
    text = methods_paragraph(whole().having(replace(found, groups=(names,))))
    assert "pairs of systems can be told apart, which makes no groups." in text


def test_the_sheet_marks_what_it_does_not_know(kit: Written) -> None:
    text = (kit.directory / FOLDER / "datasheet.md").read_text(encoding="utf-8")
    assert f"**3.2.1** How many evaluators: {whole().rates.workers.total}, of whom" in text
    assert f"**5.1** Approval by an ethics committee: {AUTHOR}" in text
    assert "<script>" not in text


def test_the_form_of_the_datasheet_has_what_the_sheet_answers(kit: Written) -> None:
    form = json.loads((kit.directory / FOLDER / "heds.json").read_text(encoding="utf-8"))
    number = form["heds-sample_evaluators_design-evaluators-number_of_evaluators"]
    assert number == {"data": {"": str(whole().rates.workers.total)}, "control": {}, "number": "3.2.1"}
    criteria = form["heds-criteria-criterion"]["control"]
    assert len(criteria) == len(whole().run.criteria)
    assert not any(set(name) & set("<>&") for name in criteria)  # the form shows these names as HTML
    slider = form["heds-criteria-criterion-response_elicitation-scale_presented_as-3"]
    assert slider["data"] == dict.fromkeys(criteria, True)
    sheet = (kit.directory / FOLDER / "datasheet.md").read_text(encoding="utf-8")
    answered = {
        line.split("**")[1] for line in sheet.splitlines() if line.startswith("- **") and AUTHOR not in line
    }
    asked = {number for number in answered if number[0].isdigit()}
    assert {element["number"] for element in form.values()} - {""} == asked


def test_a_name_speaks_to_no_terminal_that_shows_the_sheet() -> None:
    run = replace(whole().run, name="\x1b]0;title\x07\u202etide")
    assert "# Human evaluation datasheet: �\\]0;title��tide\n" in datasheet(replace(whole(), run=run))


def test_a_run_of_transcripts_and_one_without_sections_have_kits(tmp_path: Path) -> None:
    write_paper(rated(), tmp_path / "rated", frozenset({"latex"}), lambda _: None)
    text = (tmp_path / "rated" / FOLDER / "methods.tex").read_text(encoding="utf-8")
    assert "one-sided signed-rank test" in text
    assert "conversed" not in text
    names = {file.name for file in write_paper(bare(), tmp_path / "bare", BOTH, lambda _: None)}
    assert names == {
        MAIN, "methods.tex", "ranking.tex", "scores.tex", "pass-rates.tex", "references.bib", "datasheet.md",
        "heds.json", "ranking-one-column.pdf", "ranking-two-columns.pdf",
    }  # fmt: skip


def test_an_earlier_kit_leaves_nothing_and_files_of_others_stay(kit: Written, tmp_path: Path) -> None:
    folder = tmp_path / FOLDER
    shutil.copytree(kit.directory / FOLDER, folder)
    (folder / "mine.tex").write_text("mine", encoding="utf-8")
    write_paper(bare(), tmp_path, frozenset({"latex"}), lambda _: None)
    assert {file.name for file in folder.iterdir()} == {
        MAIN, "methods.tex", "ranking.tex", "scores.tex", "pass-rates.tex", "references.bib", "datasheet.md",
        "heds.json", "mine.tex",
    }  # fmt: skip


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / FOLDER).write_text("", encoding="utf-8")
    with pytest.raises(OutputError, match="Name another --out"):
        write_paper(bare(), tmp_path, BOTH, lambda _: None)


@pytest.mark.tex
def test_the_kit_compiles_as_it_is_whatever_people_call_their_systems(kit: Written, tmp_path: Path) -> None:
    need_programs("pdflatex", "bibtex")
    folder = tmp_path / "paper"
    shutil.copytree(kit.directory / FOLDER, folder)
    signs = "".join(map(chr, (*range(32, 127), *range(0xA0, 0x180), *range(0x391, 0x3CA), 0x2026, 0x4E2D)))
    every = "\n\n".join(escaped(f"x{sign}--{sign}") for sign in signs)
    main = folder / MAIN
    text = main.read_text(encoding="utf-8")
    main.write_text(text.replace(r"\bibliographystyle", every + "\n\\bibliographystyle"), encoding="utf-8")
    for command in (["pdflatex"], ["bibtex"], ["pdflatex"], ["pdflatex"]):
        options = [] if command == ["bibtex"] else ["-interaction=nonstopmode", "-halt-on-error"]
        ran = subprocess.run(
            [*command, *options, "paper"],
            cwd=folder,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
        assert ran.returncode == 0, ran.stdout[-2000:]
    log = (folder / "paper.log").read_text(encoding="utf-8", errors="replace")
    assert "Missing character" not in log
    assert "undefined" not in log.replace("Font shape", "")
    assert not re.findall(r"Overfull \\hbox \((\d{2,})", log)
    assert (folder / "paper.pdf").stat().st_size > 10_000
    assert all(escaped(name) in (folder / "ranking.tex").read_text(encoding="utf-8") for name in SYSTEMS)


def test_an_empty_cell_and_a_bracket_begin_no_argument() -> None:
    import pandas as pd

    from qc.paper.tex import floating

    table = Table(pd.DataFrame({"a": ["[1]", ""]}), (Column("a", "A"),))
    assert "{[1]} \\\\\n \\\\" in floating(table, "c", "l")

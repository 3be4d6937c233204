"""The registry of what outputs say: complete, and in step with the benchmark and its published tables."""

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import candor
from benchmarks.qc_truth import COVERAGE, PARTS
from benchmarks.truth.arenas import BOARDS, drawn_votes
from benchmarks.truth.registry import STATEMENTS, TRIED, Statement, claims, keys_of, unregistered
from benchmarks.truth.summary import measured, published, summary, wanted
from qc.bundle.certificate import CERTIFICATE, certificate, certificate_files
from qc.comparison.alarms import alarms
from qc.comparison.several_runs import set_side_by_side
from qc.comparison.side_by_side import compare
from qc.comparison.votes import analyse_votes
from qc.estimate import app as estimate
from qc.loading.choices import Choices
from qc.metrics.__main__ import app as metrics
from qc.options import AnalysisOptions
from qc.plan import app as plan
from qc.power import app as power
from qc.precision.watch import app as watch
from qc.randomisation import app as randomisation
from qc.render.document import as_json, json_schema
from qc.render.findings import Findings, write_findings
from qc.render.findings.arena import arena_findings
from qc.render.findings.comparison import comparison_findings
from qc.render.findings.several_runs import several_runs_findings
from tests.qc.support.analyses import rated, whole
from tests.qc.support.judgments import write_judgments
from tests.qc.support.spoken import spoken_run
from tests.qc.support.transcripts import add_item_run, item_database, simulated

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
JSON = frozenset({"json"})


@cache
def outputs() -> dict[str, Any]:
    """Return what each command writes of made-up data, by the name of its document."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        return dict(_outputs(folder))


def _outputs(folder: Path) -> Iterator[tuple[str, Any]]:
    source, scores = write_judgments(folder)
    yield "estimate", _of(estimate, folder, source, "--metrics", scores, "--bootstrap", 100)
    yield "power", _of(power, folder, source, "--metrics", scores, "--bootstrap", 100)
    yield "randomisation", _of(randomisation, folder, source)
    run = EXAMPLES / "first.json"
    yield "plan", _of(plan, folder, run, "--experiments", 20)
    yield "metrics", _of(metrics, folder, _spoken(folder), "--cache", folder / "cache.db", "--bootstrap", 100)
    both = [candor.load(EXAMPLES / f"{name}.json") for name in ("first", "second")]
    options = AnalysisOptions(bootstrap=100)
    yield "runs", _written(several_runs_findings(set_side_by_side(both, options), both, options), folder)
    yield "side_by_side", _written(comparison_findings(compare(_choices(), bootstrap=100), None, ""), folder)
    votes, _ = drawn_votes(replace(BOARDS["arena-sampled"], style=True), np.random.default_rng(7))
    found = analyse_votes(votes)
    yield "arena", _written(arena_findings(found, alarms(found), ""), folder)
    certified = certificate(whole())
    assert certified is not None
    yield "certificate", json.loads(certificate_files(certified)[CERTIFICATE])
    database = item_database(folder / "rated.db")
    add_item_run(database, simulated(np.random.default_rng(5)))
    yield "watch", json.loads(CliRunner().invoke(watch, [str(database.path)]).stdout)


def _of(app: Any, folder: Path, *arguments: object) -> Any:
    out = folder / "out"
    result = CliRunner().invoke(app, [*map(str, arguments), "--out", str(out), "--format", "json"])
    assert result.exit_code == 0, result.output
    (file,) = out.iterdir()
    content = json.loads(file.read_text(encoding="utf-8"))
    file.unlink()
    return content


def _written(found: Findings, folder: Path) -> Any:
    (file,) = write_findings(found, folder / "out", JSON)
    content = json.loads(file.read_text(encoding="utf-8"))
    file.unlink()
    return content


def _spoken(folder: Path) -> Path:
    candor.save(spoken_run(), folder / "run.json", "hits")
    return folder / "run.json"


def _choices() -> Choices:
    rng = np.random.default_rng(3)
    rows = [
        (
            f"w{worker:02}",
            *rng.choice(["ash", "birch", "cedar", "qc"], 2, replace=False),
            rng.choice(["left", "tie"]),
        )
        for worker in range(20)
        for _ in range(8)
    ]
    frame = pd.DataFrame(rows, columns=["worker", "left", "right", "preference"])
    frame = frame.assign(assignment=frame["worker"], pair=frame.groupby("worker").cumcount() + 1, turn=3)
    return Choices("trees", "here", frame, ("ash", "birch", "cedar"), frozenset({"qc"}), False, ())


def schema_keys(schema: dict[str, Any], shared: dict[str, Any], path: str) -> Iterator[str]:
    """Yield the keys that `schema` allows, those of a name from the data as `*`."""
    schema = shared.get(schema.get("$ref", "").rpartition("/")[2], schema)
    inside = [
        *((f"{path}.{key}" if path else key, value) for key, value in schema.get("properties", {}).items()),
        *((path, each) for each in schema.get("anyOf", [])),
        *((f"{path}[]", schema[key]) for key in ("items",) if isinstance(schema.get(key), dict)),
    ]
    more = schema.get("additionalProperties")
    inside += [(f"{path}.*", more)] if isinstance(more, dict) else []
    for key, value in inside:
        yield from schema_keys(value, shared, key)
    if not inside:
        yield f"report:{path}"


@cache
def report_keys() -> frozenset[str]:
    """Return the keys of report.json: all that its schema allows, and those of reports with everything."""
    schema = json_schema()
    made = (key for analysis in (whole(), rated()) for key in keys_of("report", as_json(analysis)))
    return frozenset({*schema_keys(schema, schema["$defs"], ""), *made})


@cache
def printed() -> frozenset[str]:
    return report_keys() | {key for name, content in outputs().items() for key in keys_of(name, content)}


def test_every_interval_and_chance_that_an_output_prints_is_registered() -> None:
    assert unregistered(printed()) == []


@pytest.mark.parametrize(
    "key",
    [
        "report:filter.random_share_interval.low",
        "report:systems[].chance_of_a_win",
        "report:writing.workers[].p",
        "estimate:efficiency[].de_low",
        "plan:expected[].cost_high",
    ],
)
def test_a_field_that_is_added_is_found(key: str) -> None:
    assert unregistered({*printed(), key}) == [key]


def test_a_field_that_a_report_adds_is_found() -> None:
    content = as_json(whole())
    content["cost"]["interval"] = {"low": 1.0, "high": 2.0}
    assert unregistered(keys_of("report", content)) == [
        "report:cost.interval.high",
        "report:cost.interval.low",
    ]


def test_what_is_neither_interval_nor_chance_needs_no_statement() -> None:
    plain = {
        "report:systems[].z",
        "report:cost.total",
        "report:minutes_per_conversation.passed",
        "plan:expected[].r",
    }
    assert claims(plain) == []


def test_every_statement_is_printed_by_an_output() -> None:
    # The made-up run has too few systems for the one, and no judge for the other.
    unprinted = [each.what for each in STATEMENTS if not any(map(each.covers, printed()))]
    assert unprinted == [
        "metrics: one metric correlates more strongly than another",
        "metrics: order of a judge's questions",
    ]


@pytest.mark.parametrize("statement", STATEMENTS, ids=lambda statement: statement.what)
def test_a_statement_is_measured_or_says_why_not(statement: Statement) -> None:
    if statement.part is None:
        assert statement.remark
        assert not statement.columns
        return
    part = PARTS[statement.part]
    assert statement.columns
    assert set(statement.columns) <= {column for columns in part.tables.values() for column in columns}
    assert set(statement.designs) <= set(part.designs)


def test_a_part_or_design_that_the_benchmark_lacks_is_found() -> None:
    with pytest.raises(KeyError):
        test_a_statement_is_measured_or_says_why_not(Statement("x", ("report:x",), "absent", ("held (95)",)))
    wrong = Statement("x", ("report:x",), "few", ("score held (95)",), ("few-1-1",))
    with pytest.raises(AssertionError):
        test_a_statement_is_measured_or_says_why_not(wrong)


def test_what_every_part_has_tried_is_said() -> None:
    assert set(TRIED) == {each.part for each in STATEMENTS if each.part}


COUNTS = published(COVERAGE.read_text(encoding="utf-8"), PARTS)
# What was measured may differ by so many points from what it should be; a bound may be safer.
WITHIN = 1.5


def test_the_published_summary_is_that_of_the_published_tables() -> None:
    assert summary(COUNTS) in COVERAGE.read_text(encoding="utf-8"), "python benchmarks/qc_truth.py --summary"


@pytest.mark.parametrize("statement", [each for each in STATEMENTS if each.part], ids=lambda each: each.what)
def test_what_is_published_is_as_it_should_be(statement: Statement) -> None:
    for column in statement.columns:
        values, should_be = np.array(measured(statement, column, COUNTS)), wanted(column)
        assert len(values)
        if not should_be:
            assert statement.remark, "no level is claimed, so the summary says why"
            continue
        level = float(should_be.strip("≤≥ "))
        if not should_be.startswith("≥"):
            assert values.max() <= level + WITHIN, column
        if not should_be.startswith("≤"):
            assert values.min() >= level - WITHIN, column

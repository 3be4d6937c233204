"""The chain: what is asked for is there, and nothing that is left out changes anything else."""

from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from qc.analysis import SECTIONS, Analysis, AnalysisOptions, analyse, steps
from qc.loading import load
from qc.options import MOST_COMPARED
from qc.render.document import as_json
from qc.run import Run
from qc.statistics.confidence import ALPHA
from tests.qc.support.runs import run_of

# The results that each section adds, by name.
PARTS = {
    "significance": {"significance", "clusters"},
    "intervals": {"intervals", "fragility", "fragile_pairs"},
    "forecast": {"forecast"},
    "replication": {"replication", "reproducibility"},
    "criteria": {"criteria"},
    "agreement": {"agreement"},
    "filter": {"filter_check"},
    "alpha": {"alpha"},
    "persona": {"persona"},
    "context": {"context", "adjusted", "style"},
    "topics": {"topics", "topic_areas"},
    "effort": {"effort"},
    "groups": set(),  # nothing is known of the workers of the published runs
    "transcripts": set(),  # these are runs of conversations
}
Hits = dict[str, Any]
NAMES = set().union(*PARTS.values())


def test_every_section_is_known() -> None:
    assert PARTS.keys() == SECTIONS.keys()


@pytest.fixture(scope="module")
def runs(published_run: Callable[[str, str], Run]) -> tuple[Run, Run]:
    return published_run("free_run1", "hits_data.json"), published_run("free_run2", "hits_data.json")


@pytest.fixture(scope="module")
def whole(runs: tuple[Run, Run]) -> Analysis:
    first, second = runs
    return analyse(first, AnalysisOptions(), second)


@pytest.mark.published
@pytest.mark.parametrize("section", PARTS)
def test_a_section_alone_is_what_it_is_among_all(
    runs: tuple[Run, Run], whole: Analysis, section: str
) -> None:
    first, second = runs
    alone = analyse(first, AnalysisOptions(sections=frozenset({section})), second)
    assert {name for name in NAMES if getattr(alone, name) is not None} == PARTS[section]
    assert alone.results.keys() == {type(getattr(alone, name)) for name in PARTS[section]}
    for part in PARTS[section]:
        np.testing.assert_equal(numbers(getattr(alone, part)), numbers(getattr(whole, part)))


def numbers(part: object) -> object:
    """Return a result as something whose repetition can be compared digit by digit."""
    if hasattr(part, "__dataclass_fields__"):
        return {field.name: numbers(getattr(part, field.name)) for field in fields(part)}  # type: ignore[arg-type]
    if isinstance(part, dict):
        return {key: numbers(value) for key, value in part.items()}
    if isinstance(part, tuple):
        return [numbers(value) for value in part]
    if hasattr(part, "to_dict"):
        return part.to_dict()
    return part


@pytest.mark.parametrize("replicating", [False, True])
@pytest.mark.parametrize(
    "sections",
    [SECTIONS, ["effort"], ["replication"], ["context", "replication"], []],
    ids=lambda names: ",".join(names) if len(names) < 3 else "all",
)
def test_steps_are_told(
    sections: list[str], replicating: bool, small_hits: Hits, hits_file: Callable[[object], Path]
) -> None:
    run = load(str(hits_file(small_hits)))
    options, said = AnalysisOptions(bootstrap=100, sections=frozenset(sections)), list[str]()
    analyse(run, options, run if replicating else None, said.append)
    expected = [name for name in SECTIONS if name in sections and (replicating or name != "replication")]
    assert said == [
        "Who is kept, and the scores",
        *(SECTIONS[name][0].upper() + SECTIONS[name][1:] for name in expected),
    ]
    assert steps(options, replicating) == len(said)


def test_groups_of_systems_do_not_depend_on_the_level_of_the_filter(
    small_hits: Hits, hits_file: Callable[[object], Path]
) -> None:
    run = load(str(hits_file(small_hits)))
    for alpha in (0.05, 0.2):
        found = analyse(run, AnalysisOptions(alpha=alpha, sections=frozenset({"significance"}))).clusters
        assert found is not None
        assert found.alpha == ALPHA == 0.05


def test_the_same_data_twice_are_told_of(small_hits: Hits, hits_file: Callable[[object], Path]) -> None:
    run = load(str(hits_file(small_hits)))
    note = "The two runs are the same data, so their agreement says nothing about replication."
    small_hits["data"][0]["result"][0]["score"]["fun"] += 1
    options = AnalysisOptions(sections=frozenset({"replication"}))
    assert note in analyse(run, options, run).notes
    assert note not in analyse(run, options, load(str(hits_file(small_hits)))).notes
    assert note not in analyse(run, options).notes


def test_nobody_passed_in_the_second_run(small_hits: Hits, hits_file: Callable[[object], Path]) -> None:
    run = load(str(hits_file(small_hits)))
    small_hits["data"] = small_hits["data"][1:]  # without anna, who alone passes
    other = load(str(hits_file(small_hits)))
    content = as_json(analyse(run, AnalysisOptions(bootstrap=100), other))
    assert content["replication"]["same_conclusions"] == {"n": 0, "of": 0, "alpha": 0.1}
    assert content["replication"]["z"]["pearson"]["overall"] is None
    assert content["verdict"]


def of_systems(count: int) -> Analysis:
    """Return the analysis of a worker who rates `count` systems, each one higher than the one before."""
    systems = [f"s{number:04}" for number in range(count)]
    ratings = [[20 + 70 * number / count, 21 + 70 * number / count] for number in range(count)]
    positions = list(range(1, count + 2))
    run = run_of(["w"] * (count + 1), [*systems, "qc"], [*ratings, [1.0, 2.0]], positions, seconds=60.0)
    chosen = frozenset({"significance", "intervals", "criteria"})
    return analyse(run, AnalysisOptions(bootstrap=100, sections=chosen))


def test_of_many_systems_every_two_are_not_compared_and_the_report_says_so() -> None:
    """Intervals of 2,000 systems would take 149 GiB."""
    most, more = of_systems(MOST_COMPARED), of_systems(2_000)
    assert most.significance is not None
    assert most.intervals is not None
    assert (more.significance, more.clusters, more.intervals) == (None, None, None)
    assert more.criteria is not None
    assert len(more.scores.z) == 2_000
    said = (
        "The run has 2,000 systems. Every two of at most 150 are compared, so these sections are left out: "
        "intervals, significance."
    )
    assert said in more.notes
    assert not [note for note in most.notes if "left out" in note]

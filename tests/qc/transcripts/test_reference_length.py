"""Scores by the length of the reference: means by hand, the file of references, and refusals."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from qc.errors import DataError, OptionError
from qc.loading.analyst_files import with_references
from qc.method.scores import score
from qc.run import Run
from qc.transcripts.judgments import take_judgments
from qc.transcripts.reference_length import ReferenceLengths, score_by_reference
from tests.qc.support.spoken import spoken_run
from tests.qc.support.transcripts import loaded, simulated


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return loaded(simulated(np.random.default_rng(5)), tmp_path_factory.mktemp("items"))


def scored(run: Run, words: pd.Series) -> ReferenceLengths:
    sample = take_judgments(replace(run, reference_words=words))
    found = score_by_reference(sample, score(sample))
    assert found is not None
    return found


def test_groups_are_quarters_of_the_items_and_effects_are_means(run: Run) -> None:
    assert run.items is not None
    # Items i000 to i039 have references of 1 to 40 words, so the quarters end at 10.75, 20.5 and 30.25.
    words = run.items["item"].astype(str).str[1:4].astype(float) + 1
    found = scored(run, words)
    assert found.groups["group"].tolist() == ["up to 10", "11 to 20", "21 to 30", "31 or more"]
    assert found.groups["items"].sum() == found.items
    sample = take_judgments(run)
    rows = run.items["kind"].eq("ordinary").to_numpy()
    table = pd.DataFrame(
        {"z": sample.overall["z"], "w": sample.weights, "s": sample.systems, "words": words[rows].to_numpy()}
    )[sample.counted]
    means = table.groupby("s").apply(lambda each: np.average(each["z"], weights=each["w"]))
    short = table[table["words"] <= 10]
    by_hand = np.average(short["z"] - means[short["s"]].to_numpy(), weights=short["w"])
    assert found.groups.loc[0, "effect"] == pytest.approx(by_hand)
    assert found.groups.loc[0, "low"] < by_hand < found.groups.loc[0, "high"]
    assert len(found.systems) == 4 * 4


def test_one_length_or_few_items_are_refused(run: Run) -> None:
    assert run.items is not None
    flat = pd.Series(3.0, run.items.index)
    assert scored(run, flat).why_not == "All references have the same length."
    few = flat.where(run.items["item"].astype(str) < "i002")
    assert scored(run, few).why_not == "20 items with a known reference are needed."


def test_the_file_of_items_is_read(run: Run, tmp_path: Path) -> None:
    named = replace(run, items=run.items)
    assert named.items is not None
    first = str(named.items["item"].iloc[0])
    items = named.items.assign(item=named.items["item"].cat.rename_categories({first: "q 1 ada"}))
    named = replace(named, items=items)
    file = tmp_path / "items.jsonl"
    lines = [
        {"item": "q 1", "system": "ada", "text": "x", "reference": "in the year 1912"},
        {"item": "q 2", "system": "ada", "text": "x"},
    ]
    file.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    words = with_references(named, file).reference_words
    assert words is not None
    assert set(words[items["item"] == "q 1 ada"]) == {4.0}
    assert words[items["item"] != "q 1 ada"].isna().all()


def test_a_file_of_other_items_and_a_run_of_chats_are_refused(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "items.jsonl"
    file.write_text('{"item": "z", "system": "y", "reference": "x"}\n', encoding="utf-8")
    with pytest.raises(DataError, match="has no reference of any item of the run"):
        with_references(run, file)
    with pytest.raises(OptionError, match="there are no items"):
        with_references(spoken_run(), file)

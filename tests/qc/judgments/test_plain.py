"""Judgments in plain CSV files, as somebody who never used the server has them."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from qc.errors import DataError, OptionError, SourceError
from qc.judgments import Selection, read_judgments
from tests.qc.judgments.conftest import LONG, Written


def said(path: Path, selection: Selection | None = None) -> str:
    """Return all notes on a file."""
    return "\n".join(read_judgments(str(path), selection).notes)


def test_a_long_file(long_file: Path) -> None:
    judgments = read_judgments(str(long_file))
    assert judgments.systems == ("a", "b")
    assert judgments.criteria == ("fun", "clear")
    assert judgments.outputs["output"].tolist() == ["a / i1", "a / i2", "b / i1", "b / i2"]
    assert judgments.metrics["bleu"].tolist() == [0.1, 0.2, 0.3, 0.4]
    # What differs between the judgments of an output says nothing of the output.
    assert "remark" not in judgments.outputs
    of_a = judgments.of("fun", "a")
    assert of_a.values.tolist() == [1, 3, 5]
    assert of_a.outputs.tolist() == [0, 0, 1]
    assert of_a.counts.tolist() == [2, 1]
    assert of_a.workers is not None
    assert of_a.workers.tolist() == [0, 1, 0]
    assert judgments.of("clear").pool == 4


def test_the_order_of_outputs_is_that_of_the_file(written: Written) -> None:
    path = written("j.csv", "output,system,worker,value\nz,s,w,1\na,s,w,2\nz,s,v,3\n")
    assert read_judgments(str(path)).of("value").names.tolist() == ["z", "a"]


def test_a_judge_is_a_number_of_judgments_or_a_metric(written: Written) -> None:
    rows = "output,system,worker,judge,value\n1,s,w,{},1\n1,s,v,{},2\n2,s,w,7,3\n"
    assert list(read_judgments(str(written("number.csv", rows.format(0, 1)))).metrics) == []
    metrics = read_judgments(str(written("model.csv", rows.format(4, 4)))).metrics
    assert metrics["judge"].tolist() == [4, 7]


def test_one_output_of_two_systems(written: Written) -> None:
    path = written("j.csv", "output,system,worker,value\n1,a;b,w,1\n2,b,w,2\n")
    judgments = read_judgments(str(path))
    assert judgments.of("value", "a").values.tolist() == [1]
    assert judgments.of("value", "b").values.tolist() == [1, 2]


def test_a_wide_file_and_its_shorter_series_are_metrics(written: Written) -> None:
    text = "instance,system,fun_1,fun_2,fun_3,rouge_1,rouge_2\nx,a,1,2,,0.5,0.6\ny,a,4,5,6,0.7,0.8\n"
    judgments = read_judgments(str(written("wide.csv", text)))
    assert judgments.criteria == ("fun",)
    assert list(judgments.metrics) == ["rouge_1", "rouge_2"]
    assert sorted(judgments.of("fun").values) == [1, 2, 4, 5, 6]
    assert judgments.of("fun").counts.tolist() == [2, 3]
    assert judgments.of("fun").workers is None
    assert "worker is unknown" in judgments.notes[1]


def test_z_is_over_all_that_a_worker_judged_on_the_criterion(written: Written) -> None:
    rows = [
        f"o{i},s,w,{value},{place}" for i, (value, place) in enumerate(zip(range(5), "ppppq", strict=True))
    ]
    path = written("j.csv", "\n".join(["output,system,worker,value,place", *rows]))
    judged = read_judgments(str(path), Selection(where=("place", "p"))).of("value")
    # Of 0, 1, 2, 3, 4 the mean is 2 and the sd √2.5; the fifth output is selected away, not forgotten.
    np.testing.assert_allclose(judged.z, (np.arange(4) - 2) / np.sqrt(2.5))
    assert judged.pool == 4
    few = written("few.csv", "\n".join(["output,system,worker,value,place", *rows[:4]]))
    assert np.isnan(read_judgments(str(few)).of("value").z).all()
    assert len(read_judgments(str(few)).of("value").standardised().values) == 0


def test_metrics_by_output_bring_what_nobody_judged_into_the_pool(long_file: Path, written: Written) -> None:
    metrics = written(
        "metrics.csv",
        "system,item,judge_llm\na,i1,1\na,i2,2\na,i3,3\nb,i1,4\nb,i2,\nb,i3,6\n",
    )
    judgments = read_judgments(str(long_file), Selection(metrics))
    assert judgments.of("fun", "a").pool == 3
    assert judgments.of("fun", "a").counts.tolist() == [2, 1, 0]
    assert judgments.metrics["judge_llm"].tolist()[:4] == [1, 2, 3, 4]
    np.testing.assert_array_equal(judgments.metrics["bleu"], [0.1, 0.2, np.nan, 0.3, 0.4, np.nan])
    assert "Without a value of judge_llm, so left out where it is used: 1 output." in "\n".join(
        judgments.notes
    )
    known = judgments.of("fun", "b").with_metrics("judge_llm")
    assert known.pool == 2
    assert known.values.tolist() == [2]


def test_an_unjudged_output_of_two_systems_joins_both_pools(long_file: Path, written: Written) -> None:
    metrics = written(
        "metrics.csv",
        "output,item,system,llm\na / i1,i1,a,1\na / i2,i2,a,2\nb / i1,i1,b,3\nb / i2,i2,b,4\nx,i3,a;b,5\n",
    )
    judgments = read_judgments(str(long_file), Selection(metrics))
    assert judgments.of("fun", "a").pool == judgments.of("fun", "b").pool == 3


def test_metrics_by_system(long_file: Path, written: Written) -> None:
    metrics = written("metrics.csv", "system,perplexity\nb,20\na,10\n")
    judgments = read_judgments(str(long_file), Selection(metrics))
    assert judgments.metrics["perplexity"].tolist() == [10, 10, 20, 20]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (LONG.replace("value", "score"), "column 'value': is missing"),
        (LONG.replace("system", "model"), "column 'system': is missing"),
        (LONG.replace("i2,a,w1,fun,5", "i2,a,w1,fun,much"), "row 4, column 'value': holds 'much'"),
        (LONG.replace("i2,a,w1,fun,5", "i2,a,w1,fun,"), "row 4, column 'value': is empty"),
        (
            LONG.replace("w2,fun,3,0.1", "w2,fun,3,0.9"),
            "column 'bleu': differs between rows of the same output: a / i1",
        ),
        (LONG.replace("i1,b,w1,fun,2,0.3,", "i1,b,w1,fun,2,0.3"), "row 5: has 6 cells, but the header has 7"),
        (LONG.replace("remark", "bleu"), "column 'bleu': is there twice"),
        (LONG.splitlines()[0] + "\n", "the header: is not followed by any rows"),
        (LONG.replace("i1,b", "i1,"), "has no system"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_in_words(written: Written, text: str, words: str) -> None:
    with pytest.raises(DataError) as refused:
        read_judgments(str(written("j.csv", text)))
    assert words in str(refused.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("system,bleu\na,1\nb,2\nc,3\n", "systems c: are not among the judgments"),
        ("system,bleu\na,1\n", "systems b: were judged, but are not here"),
        ("system,bleu\na,1\na,2\nb,3\n", "'a': has more than one row"),
        ("system,name\na,x\nb,y\n", "has no column of numbers that could be a metric"),
        ("output,bleu\na / i1,1\na / i2,1\nb / i1,2\n", "1 judged output: without metrics: b / i2"),
        (
            "output,bleu\na / i1,1\na / i2,1\nb / i1,2\nb / i2,2\nc,3\n",
            "row 6: is of an output that nobody judged",
        ),
        (
            "output,system,bleu\na / i1,b,1\na / i2,a,1\nb / i1,b,2\nb / i2,b,2\n",
            "row 2: names another system than the judgments",
        ),
        ("item,bleu\ni1,1\n", "column 'system': is missing"),
    ],
)
def test_metrics_that_do_not_fit_are_refused_in_words(
    long_file: Path, written: Written, text: str, words: str
) -> None:
    with pytest.raises(DataError) as refused:
        read_judgments(str(long_file), Selection(written("metrics.csv", text)))
    assert words in str(refused.value)


def test_what_is_no_csv_is_refused(written: Written, tmp_path: Path, long_file: Path) -> None:
    with pytest.raises(SourceError, match="cannot be read"):
        read_judgments(str(long_file), Selection(tmp_path / "absent.csv"))
    binary = tmp_path / "m.csv"
    binary.write_bytes(b"system,bleu\n\xff\xfe,1\n")
    with pytest.raises(SourceError, match="not a CSV in UTF-8"):
        read_judgments(str(long_file), Selection(binary))


def test_notes_say_what_limits_the_estimates(written: Written) -> None:
    once = said(written("once.csv", "output,system,worker,value\n1,a,w,1\n2,a,w,2\n"))
    assert "one judgment only" in once
    uneven = said(written("uneven.csv", "output,system,worker,value\n1,a,w,1\n1,a,v,1\n2,a,w,2\n"))
    assert "Outputs have 1 to 2 judgments" in uneven
    assert "one judgment only" not in uneven


def test_two_scales_are_told(written: Written) -> None:
    def rows(scale: Callable[[int], float]) -> list[str]:
        return [f"o{i},s,w{scale(1)},{scale(i)}" for i in range(5)]

    header = "output,system,worker,value"
    mixed = "\n".join([header, *rows(lambda i: i / 4), *rows(lambda i: 25.0 * i)])
    assert "value: two scales. Values of 1 worker stay within 0 and 1, while those of 1 go beyond 5" in said(
        written("m.csv", mixed)
    )
    same = "\n".join([header, *rows(lambda i: 20.0 * i), *rows(lambda i: 25.0 * i)])
    assert "two scales" not in said(written("s.csv", same))


def test_unknown_names_are_refused(long_file: Path) -> None:
    judgments = read_judgments(str(long_file))
    with pytest.raises(OptionError, match=r"no system 'c'\. There are: a, b"):
        judgments.of("fun", "c")
    with pytest.raises(OptionError, match=r"no criterion 'wit'\. There are: fun, clear"):
        judgments.of("wit")
    with pytest.raises(OptionError, match="no output has that value"):
        judgments.where("item", "i9")

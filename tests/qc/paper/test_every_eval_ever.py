"""Records of Every Eval Ever: the numbers of the analysis, in the fields that their schema requires.

The fields are stated here, because the schema is not shipped. docs/paper.md says how records were validated.
"""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from candor.common.terminal import Console
from qc.errors import OptionError
from qc.options import RECORDS, AnalysisOptions
from qc.paper.every_eval_ever import FOLDER, losses, write_records
from qc.report.reporting import ReportSource, report_on
from qc.run import SIMULATED_NOTE
from tests.qc.support.analyses import whole

REQUIRED = {
    "schema_version", "evaluation_id", "retrieved_timestamp", "source_metadata", "model_info", "eval_library",
    "evaluation_results",
}  # fmt: skip
# data/collection/developer/model/ and a random UUID (version 4).
PLACE = r"data/[^/]+/[^/]+/[^/]+/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\.json"


def written(directory: Path) -> list[dict[str, Any]]:
    simulated = replace(whole(), run=replace(whole().run, notes=(SIMULATED_NOTE,)))
    files = write_records(simulated, directory, 1e9)
    assert all(re.fullmatch(PLACE, str(file.relative_to(directory / FOLDER))) for file in files)
    return [json.loads(file.read_text()) for file in files]


def test_records_hold_the_scores_with_their_intervals(tmp_path: Path) -> None:
    (tmp_path / FOLDER).mkdir()
    (tmp_path / FOLDER / "earlier.json").touch()
    found = written(tmp_path)
    assert not (tmp_path / FOLDER / "earlier.json").exists()
    scores, intervals = whole().scores, whole().intervals
    assert intervals is not None
    assert [record["model_info"]["name"] for record in found] == scores.z["system"].to_list()
    for row, record in enumerate(found):
        assert record.keys() - {"evaluation_timestamp"} == REQUIRED
        assert record["evaluation_id"] == f"b-run-b/{record['model_info']['id']}/1000000000"
        assert record["source_metadata"]["additional_details"]["raters"] == "programs in place of people"
        results = {one["evaluation_result_id"]: one for one in record["evaluation_results"]}
        assert len(results) == 2 * (1 + len(whole().run.criteria))
        for kind, table, low in (("z", scores.z, intervals.z_low), ("raw", scores.raw, intervals.raw_low)):
            overall = results[f"{kind}::overall"]
            assert overall["score_details"]["score"] == table["overall"].iloc[row]
            interval = overall["score_details"]["uncertainty"]["confidence_interval"]
            assert interval["lower"] == low[row, 0]
            assert interval["confidence_level"] == intervals.level
        ends = {one["metric_config"]["min_score"] for one in results.values()}
        assert ends == {"-Infinity", 0}


def test_what_records_cannot_hold_is_counted_and_they_are_of_one_run() -> None:
    # 32 workers; four systems make six pairs.
    assert [loss.count for loss in losses(whole())] == [32, 6]
    together = ReportSource(source="one.json", together=("two.json",))
    with pytest.raises(OptionError, match="--format every-eval-ever and --with cannot be combined"):
        report_on(together, AnalysisOptions(), Path("out"), frozenset({RECORDS}), Console())

"""Estimate the noise of real workers: variance components of the published run 1, for the simulated crowd.

    python benchmarks/crowd_calibration.py tests/data/published/free_run1/hits_data.json PASSED.json

Every rating, with negative criteria reversed, is split into the mean of its system and criterion, the
worker's bias, the conversation's effect and the residual. PASSED.json lists the workers to keep.
"""

import json
import sys
from pathlib import Path

import pandas as pd


def ratings(hits: dict[str, object], passed: set[str]) -> pd.DataFrame:
    scores = hits["metadata"]["score"]  # type: ignore[index]
    rows = [
        (a["worker"], a["assignment"], r["model"], label, v if scores[label]["positive"] else 100 - v)
        for a in hits["data"]  # type: ignore[attr-defined]
        if a["worker"] in passed
        for r in a["result"] or []
        for label, v in r["score"].items()
    ]
    return pd.DataFrame(rows, columns=["worker", "assignment", "system", "criterion", "value"])


def main() -> None:
    hits = json.loads(Path(sys.argv[1]).read_text())
    scores = hits["metadata"]["score"]
    every = ratings(hits, set(json.loads(Path(sys.argv[2]).read_text())))
    strong = every[every.criterion.map(lambda label: scores[label]["qc"])]
    weak = every[~every.index.isin(strong.index)]
    for name, frame in (("count for qc", strong), ("do not", weak)):
        means = frame.groupby("system")["value"].mean()
        worst, best = means.drop("qc").min(), means.drop("qc").max()
        print(f"criteria that {name}: qc bot {means['qc']:.1f}, systems {worst:.1f} to {best:.1f}")
    zeros = (strong[strong.system == "qc"]["value"] == 0).mean()
    print(f"share of exact zeros among the qc bot's ratings {zeros:.3f}")
    systems = strong[strong.system != "qc"]
    rest = systems["value"] - systems.groupby(["system", "criterion"])["value"].transform("mean")
    for name, keys in {"worker": ["worker"], "conversation": ["assignment", "system"]}.items():
        groups = [systems[key] for key in keys]
        print(f"sd of the {name}'s effect {rest.groupby(groups).mean().std():.1f}")
        rest = rest - rest.groupby(groups).transform("mean")
    print(f"sd of the rest {rest.std():.1f}")


if __name__ == "__main__":
    main()

"""How noisy are real workers? Variance components of the published run 1, for the simulated crowd.

    python benchmarks/crowd_calibration.py ../shared/data/published/free_run1/hits_data.json PASSED.json

Every rating, negative criteria reversed, is taken apart into the mean of its system and criterion, the
worker's bias, the conversation's effect and the rest. PASSED.json lists the workers to keep.
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
    frame = ratings(hits, set(json.loads(Path(sys.argv[2]).read_text())))
    systems = frame[frame.system != "qc"].groupby("system")["value"].mean().sort_values()
    print("mean of the worst and the best system", systems.iloc[0].round(1), systems.iloc[-1].round(1))
    print("mean of qc", frame[frame.system == "qc"]["value"].mean().round(1))
    by_criterion = frame.assign(qc=frame.system == "qc").groupby(["criterion", "qc"])["value"].mean().unstack()
    print(by_criterion.round(1).to_string())
    rest = frame["value"] - frame.groupby(["system", "criterion"])["value"].transform("mean")
    for name, keys in {"worker": ["worker"], "conversation": ["assignment", "system"]}.items():
        effect = rest.groupby([frame[k] for k in keys]).transform("mean")
        print(f"sd of the {name}'s effect {effect.drop_duplicates().std():.1f}")
        rest = rest - effect
    print(f"sd of the rest {rest.std():.1f}")


if __name__ == "__main__":
    main()

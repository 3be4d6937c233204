"""docs/tutorial.ipynb: every cell runs, in order, and shows what a notebook would show.

The cells are run as a kernel runs them, the last expression of each being what it shows. A real kernel would
bring twenty packages with it and test no line of ours.
"""

import ast
import json
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


def shown_by(source: str, names: dict[str, object]) -> object:
    """Run a cell; return the value of its last expression, None if it ends otherwise."""
    body = ast.parse(source).body
    last = body.pop() if isinstance(body[-1], ast.Expr) else None
    exec(compile(ast.Module(body, []), "cell", "exec"), names)  # noqa: S102
    if last is None:
        return None
    return eval(compile(ast.Expression(last.value), "cell", "eval"), names)  # noqa: S307


def test_every_cell_runs(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(DOCS)
    notebook = json.loads(Path("tutorial.ipynb").read_text("utf-8"))
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)
    names: dict[str, object] = {}
    shown = [shown_by("".join(cell["source"]), names) for cell in code]
    run, result, scores, apart, points, last = shown
    assert repr(run).startswith("<Run first: ")
    assert "<table>" in result._repr_html_()
    assert len(scores) == 5
    assert 0 < len(apart) < 10
    assert set(points["system"]) == {"retrieval", "rules", "neural", "markov"}
    assert last is None
    printed = capsys.readouterr().out
    assert "Only in the second run" in printed
    assert "at least 100 resamples" in printed

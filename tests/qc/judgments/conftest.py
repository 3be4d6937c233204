"""Small files of judgments."""

from collections.abc import Callable
from pathlib import Path

import pytest

Written = Callable[[str, str], Path]

LONG = """\
item,system,worker,criterion,value,bleu,remark
i1,a,w1,fun,1,0.1,first
i1,a,w2,fun,3,0.1,second
i2,a,w1,fun,5,0.2,
i1,b,w1,fun,2,0.3,
i2,b,w2,fun,4,0.4,
i2,b,w2,clear,90,0.4,
"""


@pytest.fixture
def written(tmp_path: Path) -> Written:
    """Return a function that writes a text to a file of a name and returns its path."""

    def write(name: str, text: str) -> Path:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


@pytest.fixture
def long_file(written: Written) -> Path:
    """Judgments of two systems on two items, one judgment a row, with one metric."""
    return written("judgments.csv", LONG)

"""Small files of judgments for the commands that read them."""

from pathlib import Path

# Two workers judge three systems on two items. Worker w1 is strict, w2 lenient by 10.
# The systems' means are 20, 25 and 32.5.
ROWS = (
    ("i1", "a", "w1", 10),
    ("i1", "b", "w1", 20),
    ("i1", "c", "w1", 25),
    ("i2", "a", "w1", 20),
    ("i2", "b", "w1", 20),
    ("i2", "c", "w1", 30),
    ("i1", "a", "w2", 20),
    ("i1", "b", "w2", 30),
    ("i1", "c", "w2", 35),
    ("i2", "a", "w2", 30),
    ("i2", "b", "w2", 30),
    ("i2", "c", "w2", 40),
)
# Of each system's outputs on i1 and i2; it orders a and b the other way round.
METRIC = {"a": (3, 4), "b": (1, 2), "c": (5, 7)}


def judgment_lines() -> list[str]:
    return [
        f"{item},{system},{worker},{value},{METRIC[system][item == 'i2']}"
        for item, system, worker, value in ROWS
    ]


def write_judgments(path: Path, lines: list[str] | None = None) -> Path:
    text = "\n".join(["item,system,worker,value,overlap", *(lines or judgment_lines())])
    path.write_text(text + "\n", encoding="utf-8")
    return path

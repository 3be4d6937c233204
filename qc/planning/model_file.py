"""A model of raters as a file: `candor plan --model` writes it, and simulated workers rate by it.

JSON: `format`, `version`; `systems`, by name what each deserves on each criterion, by label, in points of
0 to 100 that all point the same way, before ratings are cut off, the quality-control bot among them as `qc`;
`worker_sd`, `conversation_sd`, `rating_sd`, in these points; `random_share` of the workers.
"""

import json
from collections.abc import Sequence
from pathlib import Path

from qc.errors import OptionError
from qc.planning.rater_model import RaterModel

FORMAT, VERSION = "candor-rater-model", 1
BOT = "qc"  # as the server calls it, whatever the source does
POINTS = 100.0  # the crowd's scale


def write_model(model: RaterModel, criteria: Sequence[str], path: Path) -> None:
    """Write a model of raters.

    Args:
        model: fitted to a run.
        criteria: their labels, in the order of its means.
        path: is replaced if it is there.

    Raises:
        OptionError: the file cannot be written.
    """
    scale = POINTS / model.maximum
    names = (*model.systems[:-1], BOT)
    content = {
        "format": FORMAT,
        "version": VERSION,
        "systems": {
            name: dict(zip(criteria, (means * scale).tolist(), strict=True))
            for name, means in zip(names, model.means, strict=True)
        },
        "worker_sd": model.worker_sd * scale,
        "conversation_sd": model.conversation_sd * scale,
        "rating_sd": model.rating_sd * scale,
        "random_share": model.random_share,
    }
    try:
        path.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    except OSError as error:
        raise OptionError(f"--model {path}: it cannot be written: {error.strerror}.") from None

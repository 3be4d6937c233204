"""A crowd that rates as the workers of a run: simulated workers draw from what `candor plan workers` fits."""

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bots.crowd.profile import PROFILES, FittedRaterModel, Honest, ModelRefused, mix_of, read_rater_model
from candor.common.api_models import CriterionSigns
from qc.method.sample import take_sample
from qc.planning import rater_model
from qc.planning.rater_model import draw_ratings, fit, write_model
from tests.qc.support import designs

WORKERS = 400
MODEL: dict[str, Any] = {
    "format": "candor-rater-model",
    "version": 1,
    "systems": {"pear": {"fun": 80.0}},
    "worker_sd": 0.0,
    "conversation_sd": 0.0,
    "rating_sd": 0.0,
    "random_share": 0.25,
}


@pytest.fixture(scope="module")
def fitted() -> rater_model.RaterModel:
    return fit(take_sample(designs.run_of(designs.DESIGNS["forty"], np.random.default_rng(4))), seed=1)


def test_a_crowd_rates_as_the_model_of_a_run(fitted: rater_model.RaterModel, tmp_path: Path) -> None:
    labels = [f"c{number}" for number in range(fitted.means.shape[1])]
    write_model(fitted, labels, tmp_path / "model.json")
    model = read_rater_model(tmp_path / "model.json")
    signs = [
        CriterionSigns(label=label, negative=number == 1, qc=bool(fitted.counts_for_qc[number]))
        for number, label in enumerate(labels)
    ]
    names = [*fitted.systems[:-1], "qc"]
    given = np.empty((WORKERS, len(names), len(labels)))
    careless = round(WORKERS * mix_of(model)["random"])
    for number in range(WORKERS):
        rng = random.Random(number)
        worker = PROFILES["random"](rng) if number < careless else Honest(rng, model)
        for place, name in enumerate(names):
            ratings = worker.rate(0.0, signs, None, name)  # a quality that would make all of them bad
            given[number, place] = [ratings[label] for label in labels]
    given[..., 1] = 100 - given[..., 1]

    drawn = draw_ratings(fitted, 4000, np.random.default_rng(2))
    wanted = np.stack([drawn.raw[drawn.systems == place].mean(axis=0) for place in range(len(names))])
    # A mean of 400 workers whose ratings have a standard deviation of at most 35 has an error of 1.75.
    assert np.abs(given.mean(axis=0) - wanted).max() < 4 * 1.75
    assert np.abs(given.mean(axis=0) - wanted).mean() < 1.75
    spread = drawn.raw[drawn.systems != drawn.qc].std()
    assert given[:, :-1].std() == pytest.approx(spread, rel=0.05)


def test_what_the_model_does_not_know_is_rated_by_quality() -> None:
    model = FittedRaterModel.model_validate(MODEL)
    fun, odd = (CriterionSigns(label=label, negative=False, qc=True) for label in ("fun", "odd"))
    worker = Honest(random.Random(0), model)
    # Without any noise: what `pear` deserves, and −4 + 100 · quality for all else.
    assert worker.rate(0.5, [fun, odd], None, "pear") == {"fun": 80, "odd": 46}
    assert worker.rate(0.5, [fun], None, "apple") == {"fun": 46}
    assert worker.rate(0.5, [fun], "an item") == {"fun": 46}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "cannot be read"),
        ("no JSON", "is not a rater model"),
        (json.dumps(MODEL | {"format": "other"}), "format: Input should be 'candor-rater-model'"),
        (json.dumps(MODEL | {"worker_sd": -1}), "worker_sd: "),
    ],
)
def test_a_file_that_is_no_model_is_refused(content: str | None, said: str, tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    if content is not None:
        path.write_text(content, encoding="utf-8")
    with pytest.raises(ModelRefused, match=said):
        read_rater_model(path)

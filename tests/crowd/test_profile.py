"""Tests of simulated workers' ratings, and of dealing out a mix of profiles."""

import random
from statistics import mean, stdev

import pytest

from bots.crowd.profile import (
    CONVERSATION_SD,
    LOWEST,
    PER_QUALITY,
    RATING_SD,
    WORKER_SD,
    Flat,
    Honest,
    Random,
    deal,
    parse_mix,
)
from candor.common.api_models import CriterionSigns

FUN = CriterionSigns(label="fun", negative=False, qc=True)
ROBOTIC = CriterionSigns(label="robotic", negative=True, qc=False)


def ratings_by_many(quality: float, criterion: CriterionSigns, workers: int = 4000) -> list[int]:
    return [Honest(random.Random(i)).rate(quality, [criterion])[criterion.label] for i in range(workers)]


def test_honest_ratings_have_the_mean_and_the_noise_of_the_calibration() -> None:
    # At quality 0.54 the latent mean is -4 + 54 = 50, the middle of the scale, where the cut-off at both
    # ends hardly matters: sd = sqrt(15.6² + 15.8² + 17.5²) = 28.3, a little less after the cut.
    values = ratings_by_many(0.54, FUN)
    assert mean(values) == pytest.approx(LOWEST + PER_QUALITY * 0.54, abs=1.5)
    sd = (WORKER_SD**2 + CONVERSATION_SD**2 + RATING_SD**2) ** 0.5
    assert sd == pytest.approx(28.3, abs=0.1)
    assert 0.85 * sd < stdev(values) <= sd


def test_more_than_half_of_the_ratings_of_a_worthless_bot_are_zero() -> None:
    # P(-4 + 28.3 x < 0.5) = P(x < 0.159) = 0.563; the published run 1 has 0.549.
    values = ratings_by_many(0.0, FUN)
    assert sum(value == 0 for value in values) / len(values) == pytest.approx(0.563, abs=0.03)


def test_negative_criteria_are_turned_round() -> None:
    better, worse = mean(ratings_by_many(0.9, ROBOTIC)), mean(ratings_by_many(0.1, ROBOTIC))
    assert better < worse
    assert worse > 50


def test_one_workers_ratings_share_a_bias() -> None:
    means = [
        mean(worker.rate(0.5, [FUN])["fun"] for _ in range(60))
        for worker in (Honest(random.Random(i)) for i in range(300))
    ]
    # sd of the mean of 60 conversations of one rating: bias 15.6, and (15.8² + 17.5²) / 60 = 9.3 beside it.
    assert stdev(means) == pytest.approx((WORKER_SD**2 + 9.3) ** 0.5, rel=0.15)


def test_random_ratings_do_not_depend_on_quality() -> None:
    low = [Random(random.Random(i)).rate(0.0, [FUN])["fun"] for i in range(50)]
    high = [Random(random.Random(i)).rate(1.0, [FUN])["fun"] for i in range(50)]
    assert low == high
    assert len(set(low)) > 20


def test_flat_ratings_never_vary() -> None:
    worker = Flat(random.Random(3))
    values = {v for q in (0.0, 0.5, 1.0) for v in worker.rate(q, [FUN, ROBOTIC]).values()}
    assert len(values) == 1


def test_who_was_there_mostly_knows_a_line_again_and_who_was_not_guesses() -> None:
    lines, heard = ["I sail.", "I knit.", "I bake.", "I read."], {"I bake.", "I ski."}
    honest = [Honest(random.Random(i)).recognise(lines, heard) for i in range(200)]
    careless = [Random(random.Random(i)).recognise(lines, heard) for i in range(200)]
    # 0.9 + 0.1 / 4 and 1 / 4, each give or take four standard errors of 200 draws.
    assert abs(honest.count(3) / 200 - 0.925) < 0.075
    assert abs(careless.count(3) / 200 - 0.25) < 0.125
    assert {Flat(random.Random(i)).recognise(lines, heard) for i in range(9)} == {1}
    personas, said = ["I sail.\nI read.", "I knit.\nI bake."], {"Well, I bake."}
    assert sum(Honest(random.Random(i)).recognise(personas, said) == 2 for i in range(100)) > 90
    assert len({Honest(random.Random(i)).recognise(lines, ()) for i in range(50)}) == 4


def test_a_mix_is_scaled_to_one() -> None:
    assert parse_mix("honest=2, random=1,flat=1") == {"honest": 0.5, "random": 0.25, "flat": 0.25}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("keen=1", "`keen` is not a kind of worker; choose from honest, random, flat"),
        ("honest", "the share of honest is ``, not a number"),
        ("honest=much", "the share of honest is `much`, not a number"),
        ("honest=-1", "the share of honest is -1; it must be 0 or more"),
        ("honest=nan", "the share of honest is nan"),
        ("honest=0", "the shares sum to 0"),
    ],
)
def test_a_mix_with_a_mistake_is_refused(text: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        parse_mix(text)


@pytest.mark.parametrize("workers", [1, 7, 50, 200])
def test_everybody_gets_a_profile_as_close_to_the_shares_as_can_be(workers: int) -> None:
    dealt = deal(parse_mix("honest=0.7,random=0.2,flat=0.1"), workers, random.Random(0))
    assert len(dealt) == workers
    for name, share in (("honest", 0.7), ("random", 0.2), ("flat", 0.1)):
        assert abs(dealt.count(name) - share * workers) < 1

"""Calls that may cost money: which do, how many there are, and what is said of them."""

from typing import Any

import pytest

from bots.endpoints import planned_calls
from bots.endpoints.hosted import Estimate, PlannedCalls, Price, in_words
from bots.endpoints.moderation import Moderation
from tests.server.support.talker import endpoint

OPENAI = {"kind": "openai", "model": "m"}
HERE, THERE = ["http://127.0.0.1:8000/v1"], ["https://api.example.org/v1"]
PRICE, FREE = {"input": 0.5, "output": 2}, {"input": 0, "output": 0}


@pytest.mark.parametrize(
    ("given", "costs"),
    [
        (OPENAI | {"urls": THERE}, True),
        (OPENAI | {"urls": HERE}, False),
        (OPENAI | {"urls": [*HERE, *THERE]}, True),
        (OPENAI | {"urls": ["http://localhost:8000/v1"]}, False),
        (OPENAI | {"urls": ["http://[::1]:8000/v1"]}, False),
        (OPENAI | {"urls": ["http://127.0.0.1.example.org/v1"]}, True),
        (OPENAI | {"urls": ["http://10.0.0.7/v1"]}, True),
        (OPENAI | {"urls": HERE, "key": "KEY"}, True),  # who wants a key is taken to charge
        (OPENAI | {"urls": HERE, "price": PRICE}, True),  # a proxy here that asks a provider
        (OPENAI | {"urls": THERE, "key": "KEY", "price": FREE}, False),  # one's own, elsewhere
        ({"kind": "anthropic", "model": "m"}, True),
        ({"kind": "http", "urls": ["http://127.0.0.1:8601/mine"], "key": "KEY"}, False),  # our own bot host
        ({"kind": "http", "urls": ["https://bots.example.org/mine"]}, True),
        ({"kind": "parlai-web", "urls": ["http://bots.example.org:8080"]}, True),
        ({"kind": "dial-in"}, False),
    ],
)
def test_an_endpoint_elsewhere_or_with_a_key_or_a_price_may_cost(given: dict[str, Any], costs: bool) -> None:
    assert endpoint(given).may_cost is costs
    assert (planned_calls("`m`", endpoint(given), Estimate(1)) is not None) is costs


def test_a_moderation_service_elsewhere_or_with_a_key_may_cost() -> None:
    assert Moderation("http://127.0.0.1:1/v1/moderations").planned_calls(3) is None
    assert Moderation("http://127.0.0.1:1/v1/moderations", "k3y").planned_calls(3) is not None
    far = Moderation("https://api.example.org/v1/moderations")
    assert far.planned_calls(0) is None
    assert str(far.planned_calls(3)) == (
        "about 3 calls to the moderation service at api.example.org: no price is set, and the provider may"
        " charge"
    )


def test_it_is_said_how_many_calls_to_whom_and_at_what_price() -> None:
    # 2 million tokens in at 0.5 are 1.00, half a million out at 2 are another.
    paid = endpoint(OPENAI | {"urls": THERE, "price": PRICE})
    found = planned_calls("`gpt`", paid, Estimate(1200, 2_000_000, 500_000), "all 40 assignments: ")
    assert found is not None
    cheap = planned_calls("`gpt`", paid, Estimate(1, 2_000, 500))
    assert str(cheap).endswith(
        "at api.example.org: less than 0.01, at 0.5 and 2 for a million tokens in and out"
    )
    unpriced = PlannedCalls("`mine`", (), Estimate(1), None)
    assert in_words("The run `pilot`", [found, unpriced]) == (
        "The run `pilot` may cost money:\n"
        "- all 40 assignments: about 1,200 calls to `gpt` at api.example.org: about 2.00, at 0.5 and 2 for a"
        " million tokens in and out\n"
        "- about 1 call to `mine`: no price is set, and the provider may charge"
    )
    assert in_words("Nothing", []) is None
    assert Price(input=0.5, output=2).cost(2_000_000, 500_000) == 2.0

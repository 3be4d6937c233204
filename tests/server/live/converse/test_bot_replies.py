"""Tests of the pauses before a bot is asked again."""

import pytest

from bots import BotError
from server.live.converse.bot_replies import pause_after, pauses


@pytest.mark.parametrize(
    ("unasked", "after", "least", "most"),
    [
        (True, 0.4, 0.4, 0.5),  # all replicas rest: it is asked when the rest ends
        (False, None, 4.0, 4.0),  # its own failures: after 0.25, 0.5, 1 and 2 s
        (False, 30.0, 30.0, 30.0),  # the server asks to be left alone
    ],
)
def test_a_rest_does_not_add_up_with_the_pauses_after_failures(
    unasked: bool, after: float | None, least: float, most: float
) -> None:
    waits = pauses()
    assert [pause_after(BotError("no"), waits) for _ in range(4)] == [0.25, 0.5, 1.0, 2.0]
    error = BotError("no")
    error.unasked, error.after = unasked, after
    assert least <= pause_after(error, waits) <= most

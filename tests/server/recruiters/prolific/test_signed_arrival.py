"""Prolific's keys: read where one is needed, and not for everybody who makes one up."""

from collections.abc import Iterator

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from server.recruiters.prolific import signed_arrival
from server.recruiters.prolific.signed_arrival import KEYS_PATH, StudyKeys
from server.recruiters.signatures import Forged, KeysUnavailable
from server.recruiters.stand_in.serving import Signer, serving


class KeySite:
    """Serves the keys of some signers, or a failure where there are none; counts."""

    def __init__(self) -> None:
        self.signers: list[Signer] = []
        self.readings = 0
        self.app = Starlette(routes=[Route(KEYS_PATH, self._keys)])

    async def _keys(self, _request: Request) -> Response:
        self.readings += 1
        keys = [key for signer in self.signers for key in signer.keys()["keys"]]
        return JSONResponse({"keys": keys}, 200 if keys else 500)


@pytest.fixture
def site() -> KeySite:
    return KeySite()


@pytest.fixture
def url(site: KeySite) -> Iterator[str]:
    with serving(site.app) as url:
        yield url


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that have passed, which tests set."""
    passed = [1_000.0]
    monkeypatch.setattr(signed_arrival, "monotonic", lambda: passed[0])
    return passed


async def test_keys_are_kept_for_a_day_and_unknown_ones_are_looked_up_once_a_minute(
    site: KeySite, url: str, clock: list[float]
) -> None:
    site.signers = [Signer("first")]
    keys = StudyKeys(url)
    for _ in range(3):
        assert (await keys.key("first")).key_id == "first"
        with pytest.raises(Forged):
            await keys.key("second")
    assert site.readings == 1
    site.signers = [Signer("second")]
    clock[0] += 61
    assert (await keys.key("second")).key_id == "second"
    with pytest.raises(Forged):  # is no key of theirs any more
        await keys.key("first")
    assert site.readings == 2
    clock[0] += 86_401
    await keys.key("second")
    assert site.readings == 3


async def test_while_keys_cannot_be_read_the_known_ones_are_good_and_nothing_else_is_said(
    site: KeySite, url: str, clock: list[float]
) -> None:
    keys = StudyKeys(url)
    for _ in range(2):
        with pytest.raises(KeysUnavailable):
            await keys.key("first")
    assert site.readings == 1
    site.signers = [Signer("first")]
    clock[0] += 6
    await keys.key("first")
    site.signers = []
    clock[0] += 86_401
    assert (await keys.key("first")).key_id == "first"
    assert site.readings == 3

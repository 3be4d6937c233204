"""Simulated participants of a platform: they follow its link, take part, and return as they are told.

Started by `candor demo prolific`. To the server they are people: nothing marks them as simulated.
"""

import asyncio
import random
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, get_args
from urllib.parse import parse_qsl, urlsplit

import httpx2
import typer

from bots.corpus import load_corpus
from bots.crowd.profile import PROFILES
from bots.crowd.talk import Speaker, Talk, speaker
from bots.crowd.worker import Conduct, Diary, SimulatedWorker
from bots.researcher_api import JoinAnswer, RequestFailed
from candor.common.api_models import SimulatedBeliefs
from candor.common.network import trusted
from candor.common.terminal import fail

_PATIENCE = 60.0
_RETURN = "return"  # closes the page, and returns the submission at the platform
_CONDUCTS: dict[str, Conduct] = {name: name for name in get_args(Conduct)} | {_RETURN: "vanish"}
_WORDS: dict[Conduct, str] = {
    "finish": "finished, and submitted there",
    "decline": "did not agree, and went back",
    "leave": "left by the button after one line, and went back",
    "vanish": "closed the page after one line",
}
cli = typer.Typer(pretty_exceptions_enable=False, add_completion=False)


@dataclass(slots=True)
class _Participant:
    """A participant with a browser and a submission at the platform; joins for a SimulatedWorker."""

    browser: httpx2.AsyncClient
    address: str
    believed: SimulatedBeliefs

    async def join(self, run: str, _worker: str, _reply_pace: float, _simulated_as: str, /) -> JoinAnswer:
        """Join through the address that the platform gave. Raises RequestFailed."""
        parts = urlsplit(self.address)
        body = {"run": run, "parameters": dict(parse_qsl(parts.query))}
        answer = await self.browser.post(f"{_server_of(self.address)}/api/join", json=body)
        if not answer.is_success:
            raise RequestFailed(answer.json()["error"]["message"])
        return JoinAnswer.model_validate(answer.json())

    async def beliefs(self, _assignment: str, /) -> SimulatedBeliefs:
        """Return the beliefs given to all participants: the server tells no person which system is which."""
        return self.believed


def _server_of(address: str) -> str:
    """Return the base address of the server of a worker's link, without a slash at the end."""
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc}{parts.path.rpartition('/w/')[0]}"


@dataclass(frozen=True, slots=True)
class _Visit:
    """One participant's visit: the platform's page, and the participant's conduct."""

    page: str
    name: str
    conduct: str
    believed: SimulatedBeliefs
    speaking: Speaker = field(repr=False)

    async def pay(self) -> str:
        """Visit, take part, and return; return the outcome in words."""
        async with httpx2.AsyncClient(verify=trusted(), timeout=_PATIENCE) as browser:
            sent = await browser.get(self.page, params={"as": self.name})
            address = sent.headers.get("Location")
            if address is None:
                return "got no place there"
            worker = self._worker(browser, address)
            await worker.run(urlsplit(address).path.rpartition("/")[2], 1.0)
            if worker.diary.failure is not None:
                return f"could not continue: {worker.diary.failure}"
            if self.conduct == _RETURN:
                parts = urlsplit(self.page)
                await browser.get(f"{parts.scheme}://{parts.netloc}/submissions/return")
                return f"{_WORDS['vanish']}, and returned the place there"
            if worker.return_to is None:
                return _WORDS["vanish"]
            await browser.get(worker.return_to)
            return _WORDS[_CONDUCTS[self.conduct]]

    def _worker(self, browser: httpx2.AsyncClient, address: str) -> SimulatedWorker:
        rng = random.Random(self.name)
        return SimulatedWorker(
            name=self.name,
            profile=PROFILES["honest"](rng),
            rng=rng,
            speaker=self.speaking,
            client=_Participant(browser, address, self.believed),
            socket_url=f"{_server_of(address).replace('http', 'ws', 1)}/ws",
            patience=_PATIENCE,
            diary=Diary(lambda _assignment, _message: None),
            conduct=_CONDUCTS[self.conduct],
        )


@cli.command()
def participants(
    page: Annotated[str, typer.Argument(help="The platform's page that sends a participant to the study.")],
    who: Annotated[
        list[str], typer.Argument(metavar="NAME=CONDUCT…", help=f"One of {', '.join(_CONDUCTS)}.")
    ],
    beliefs: Annotated[str, typer.Option(help="The beliefs of all participants, as JSON.")],
) -> None:
    """Let participants arrive all at once; as each one ends, print its NAME, a tab, and the outcome."""
    pairs = [(name, conduct) for name, _, conduct in (each.partition("=") for each in who)]
    if unknown := {conduct for _, conduct in pairs} - set(_CONDUCTS):
        fail(f"unknown conduct: {', '.join(sorted(unknown))}", f"Choose from {', '.join(_CONDUCTS)}.")
    asyncio.run(_visit_all(page, pairs, SimulatedBeliefs.model_validate_json(beliefs)))


async def _visit_all(page: str, pairs: Sequence[tuple[str, str]], believed: SimulatedBeliefs) -> None:
    async with speaker(Talk(None, None, None), load_corpus("builtin:smalltalk")) as speaking:

        async def one(name: str, conduct: str) -> None:
            came_of_it = await _Visit(page, name, conduct, believed, speaking).pay()
            sys.stdout.write(f"{name}\t{came_of_it}\n")
            sys.stdout.flush()

        await asyncio.gather(*(one(*pair) for pair in pairs))


if __name__ == "__main__":
    cli()

"""A running `interactive_web` of ParlAI.

The process has a single conversation for all callers: `POST /interact` takes a bare line and answers {"text":
...}, and `POST /reset` forgets everything. Each reply is therefore made in a fresh conversation: reset, then
send the whole history as one text, its lines joined as ParlAI itself joins them.
"""

import asyncio
from typing import Literal

from pydantic import BaseModel

from bots.core.chat import Chat, Reply
from bots.core.visible_text import checked_reply
from bots.endpoints.kind import EndpointSettings, Urls, described
from bots.endpoints.remote import Remote, RemoteBot
from bots.endpoints.replicas import Replica


class _Answer(BaseModel):
    text: str | None = None


class ParlaiWebBot(RemoteBot):
    """An `interactive_web` process, asked for one conversation at a time."""

    def __init__(self, remote: Remote) -> None:
        """Ask `remote`, which must have no other users."""
        super().__init__(remote)
        self._turn = asyncio.Lock()

    async def reply(self, chat: Chat) -> Reply:
        """Return the answer of the process to the history of `chat`. Raises BotError."""
        async with self._turn:
            # The process handles requests one after the other, so a call that was cancelled halfway is over
            # when this reset is done.
            await self._remote.post("/reset", _Answer)
            answer = await self._remote.post("/interact", _Answer, content=history(chat).encode())
        return checked_reply(answer.text or "", tokens=True)

    async def probe(self) -> None:
        """Fetch the page that the process serves, unless a reply is under way. Raises BotError."""
        if not self._turn.locked():
            await self._remote.get("/")


def history(chat: Chat) -> str:
    """Return `chat` as ParlAI's own tasks write it: persona first, one line each."""
    persona = (f"your persona: {sentence}" for sentence in chat.persona)
    return "\n".join([*persona, *(" ".join(turn.text.split()) for turn in chat.turns)])


class ParlaiWebEndpoint(EndpointSettings):
    """Equivalent processes of ParlAI's `interactive_web`, for the exclusive use of this server."""

    model_config = described(
        "parlai-web: ParlAI’s interactive_web",
        "It has one conversation at a time, so give it to nobody else meanwhile; here at http://127.0.0.1:8080:",
        "parlai interactive_web \\\n  -mf my/model --port 8080",
    )
    kind: Literal["parlai-web"]
    urls: Urls

    def client(self, remote: Remote) -> Replica:
        """Return the process at `remote`."""
        return ParlaiWebBot(remote)

"""Simulate one worker, who chats, changes topics, reads, rates, and reconnects."""

import asyncio
import json
import random
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol

from tenacity import AsyncRetrying, RetryCallState, RetryError, retry_if_exception_type
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException

from bots.core.failures import BotError
from bots.crowd.profile import Manner, Profile
from bots.crowd.talk import OwnChat, Speaker, seconds_to_write, topics_in, writing_of
from bots.crowd.view import (
    History,
    Message,
    PageView,
    draw,
    draw_answers,
    judge_paragraphs,
    nearest_point,
    show,
)
from bots.researcher_api import JoinAnswer, RequestFailed
from candor.common.api_models import SimulatedBeliefs
from candor.common.network import backoff

PROTOCOL_VERSION = 6  # of the protocol between a page and the server
_LOST = (OSError, WebSocketException, TimeoutError, EOFError)
_OVER = frozenset({"done", "expired", "returned"})
_SILENCE = 90.0
OPEN_SECONDS = 20.0
_OPINIONS = ("like", "ambivalent", "dislike")
_IMPROVEMENT = "That is all I know of it."  # added to a text that must be improved


# Workers who do not finish either decline the consent ("decline"), or after their first line press the button
# to leave ("leave") or close the page ("vanish").
Conduct = Literal["finish", "decline", "leave", "vanish"]


class AssignmentFailed(Exception):
    """The server refused a message of the worker, or ended the assignment."""


class _PageClosed(Exception):
    """The worker has closed the page for good."""


class WorkerApi(Protocol):
    """Joins an assignment and returns the worker's beliefs. Both methods raise RequestFailed."""

    async def join(self, run: str, worker: str, reply_pace: float, simulated_as: str, /) -> JoinAnswer:
        """Join an assignment of `run`; return its session."""

    async def beliefs(self, assignment: str, /) -> SimulatedBeliefs:
        """Return the worker's beliefs about the systems of its assignment."""


@dataclass(slots=True)
class Diary:
    """The record of one worker's visit.

    `acknowledged` is called with the assignment's id and each message that the server says is stored.
    `language`: of the study's chat.
    """

    acknowledged: Callable[[str, Message], None]
    reconnects: int = 0
    inputs: int = 0
    conversations: int = 0
    failure: str | None = None
    language: str = "en"


@dataclass(slots=True)
class SimulatedWorker:
    """A worker of the crowd.

    `speaker` writes its messages, as the character of `persona`, in the style `manner`. `simulated_as` is
    recorded in the data. `writing_pace` scales the time for writing: 1 is a person's. Call `run` once; it
    returns when the assignment is submitted or cannot continue, and `diary` tells which. `return_to` is then
    the address to which the worker was sent at the end, if any.
    """

    name: str
    profile: Profile
    rng: random.Random
    speaker: Speaker
    client: WorkerApi
    socket_url: str
    patience: float
    diary: Diary
    persona: tuple[str, ...] = ()
    manner: Manner = "plain"
    simulated_as: str = "honest"
    writing_pace: float = 0.0
    conduct: Conduct = "finish"
    return_to: str | None = field(default=None, init=False)
    _seed: int = 0
    _history: History = field(default_factory=History)
    _topics: dict[tuple[int, int], str] = field(default_factory=dict)  # the new ones, after a change
    _raised: set[tuple[int, int, str | None]] = field(default_factory=set)  # topics already mentioned
    _outbox: Message | None = None
    _changed_in: set[int] = field(default_factory=set)
    _replies: set[str] = field(default_factory=set)
    _rated_replies: set[tuple[int, int, int]] = field(default_factory=set)
    _believed: SimulatedBeliefs | None = None
    _heard: float = 0.0
    _heard_before: float = 0.0

    def __post_init__(self) -> None:
        """Draw the speaker's seed."""
        self._seed = self.rng.getrandbits(62)

    async def run(self, run: str, reply_pace: float) -> None:
        """Take part in `run` from the first page to the last."""
        try:
            joined = await self.client.join(run, self.name, reply_pace, self.simulated_as)
            await self._take_part(joined)
        except (AssignmentFailed, RequestFailed) as error:
            self.diary.failure = str(error)
        except BotError as error:
            self.diary.failure = f"the worker's message could not be written: {error}"
        except _PageClosed:
            pass
        except (TimeoutError, RetryError):
            self.diary.failure = f"the server was away for more than {self.patience:.0f} s"

    async def _take_part(self, joined: JoinAnswer) -> None:
        self._heard = time.monotonic()
        tries = AsyncRetrying(
            retry=retry_if_exception_type(_LOST),
            wait=backoff(0.1, longest=2.0, growth=1.6),
            after=self._lost,
            stop=lambda _: time.monotonic() - self._heard > self.patience,
        )
        await tries(self._connect, joined)

    async def _connect(self, joined: JoinAnswer) -> None:
        self._heard_before = self._heard
        async with connect(self.socket_url, open_timeout=OPEN_SECONDS) as socket:
            hello = {"type": "hello", "id": "hello", "token": joined.token, "protocol": PROTOCOL_VERSION}
            await socket.send(json.dumps(hello))
            await self._converse(socket, joined)

    def _lost(self, tried: RetryCallState) -> None:
        if self._heard > self._heard_before:
            self.diary.reconnects += 1
            tried.attempt_number = 1  # the shortest pause again

    async def _converse(self, socket: ClientConnection, joined: JoinAnswer) -> None:
        view: PageView | None = None
        while view is None or view.phase not in _OVER or self._outbox is not None:
            async with asyncio.timeout(_SILENCE):
                frame = json.loads(await socket.recv())
            self._heard = time.monotonic()
            messages: list[Message] = frame if isinstance(frame, list) else [frame]
            for message in messages:
                if message["type"] == "error":
                    await self._refused(socket, message)
                    continue
                if view is None and message["type"] != "snapshot":
                    continue  # the session was taken over before its snapshot came
                self._hear(message)
                accepted = self._accepted(joined, message["id"]) if message["type"] == "accepted" else None
                view = draw(message) if view is None else show(view, message)
                if accepted == "choose" and view.phase == "chat":
                    view = replace(view, choice_due=None)
                if message["type"] == "snapshot" and self._outbox is not None:
                    await socket.send(json.dumps(self._outbox))
            if self._outbox is None and view is not None:
                await self._act(socket, view, joined)
        if (view.phase == "done") != (self.conduct == "finish"):
            raise AssignmentFailed(f"the assignment ended as {view.phase}")

    def _hear(self, message: Message) -> None:
        """Record the bots' lines: a quiz may ask for them later, without showing the conversation."""
        self._history.hear(message)
        if message["type"] == "said":
            self._replies.add(message["text"])
        elif message["type"] == "snapshot" and message["conversation"] is not None:
            turns = message["conversation"]["turns"]
            self._replies.update(turn["text"] for turn in turns if turn["author"] == "bot")
        elif message["type"] in {"completed", "ended"}:
            self.return_to = message["return_to"]

    def _accepted(self, joined: JoinAnswer, message_id: str) -> str | None:
        """Record that a message is stored; return its type, or None if this connection did not send it."""
        sent = self._outbox
        if sent is None or sent["id"] != message_id:
            return None
        self.diary.acknowledged(joined.assignment, sent)
        self.diary.inputs += sent["type"] == "say"
        self.diary.conversations += sent["type"] == "rate"
        if sent["type"] == "say":
            self._history.speak(sent)
            here = (sent["conversation"], sent["attempt"])
            self._raised.add((*here, self._topics.get(here)))
        elif sent["type"] == "topic_change":
            self._topics[sent["conversation"], sent["attempt"]] = sent["topic"]
        self._outbox = None
        return str(sent["type"])

    async def _refused(self, socket: ClientConnection, error: Message) -> None:
        if not error["retry"]:
            raise AssignmentFailed(f"{error['code']}: {error['message']}")
        await asyncio.sleep(0.5)
        if self._outbox is not None:
            await socket.send(json.dumps(self._outbox))

    async def _act(self, socket: ClientConnection, view: PageView, joined: JoinAnswer) -> None:
        content = await self._next(view, joined)
        if content is not None:
            self._outbox = {"id": uuid.uuid4().hex, **content}
            await socket.send(json.dumps(self._outbox))

    async def _next(self, view: PageView, joined: JoinAnswer) -> Message | None:
        """Return the worker's next message on the current page; None while there is nothing to do."""
        match view.phase:
            case "instructions":
                return {"type": "leave"} if self.conduct == "decline" else {"type": "agree", **view.consent}
            case "topic":
                text = None if view.icebreaker is not None else self.rng.choice(topics_in(view.language))
                opinion = self.rng.choice(_OPINIONS)
                return {"type": "topic", **_named(view), "text": text, "opinion": opinion}
            case "chat":
                return await self._chat(view, joined)
            case "choice":
                return await self._choose(view, joined)
            case "rating":
                return await self._rate(view, joined)
            case "quiz":
                choice = self.profile.recognise(view.quiz, self._replies)
                return {"type": "answer_quiz", **_named(view), "choice": choice}
            case "questions_before":
                return self._questionnaire(view, "before")
            case "questions_after":
                return self._questionnaire(view, "after")
            case "tutorial":
                right = (await self._beliefs(joined)).answers[view.question - 1]
                return {"type": "answer", "question": view.question, "answer": right}
            case "feedback":
                return {"type": "feedback", "text": self.rng.choice(["", "That was interesting, thank you."])}
        return None

    def _questionnaire(self, view: PageView, part: str) -> Message:
        answers = draw_answers(view.questions[part], self.rng)
        return {"type": "questionnaire", "part": part, "answers": answers}

    async def _chat(self, view: PageView, joined: JoinAnswer) -> Message | None:
        if self.conduct == "vanish" and view.inputs > 0:
            raise _PageClosed
        if self.conduct == "leave" and view.inputs > 0:
            return {"type": "leave"}
        if view.typing:
            return None
        if self.diary.inputs == 0:
            await self._beliefs(joined)  # a study that gives none is refused before anything is said
        return await (self._line(view) if view.choice_due is None else self._choose(view, joined))

    async def _line(self, view: PageView) -> Message:
        if (rating := self._rate_reply(view)) is not None:
            return rating
        if view.inputs >= view.minimum_inputs:
            return {"type": "end_conversation", **_named(view)}
        if view.inputs > 2 and view.conversation not in self._changed_in and self.rng.random() < 0.2:
            self._changed_in.add(view.conversation)
            return {
                "type": "topic_change",
                **_named(view),
                "how": "user change next",
                "topic": self.rng.choice(topics_in(view.language)),
                "opinion": self.rng.choice(_OPINIONS),
                "bot_opinion": self.rng.choice(_OPINIONS),
            }
        return await self._say(view)

    async def _say(self, view: PageView) -> Message:
        """Return the next line, after the time that it takes to write."""
        here = (view.conversation, view.attempt)
        changed_to = self._topics.get(here)
        chat = OwnChat(
            name=f"{self.name}-{view.conversation}.{view.attempt}",
            seed=self._seed + view.conversation,
            persona=self.persona,
            topic=changed_to or view.topic or topics_in(view.language)[0],
            is_new_topic=(*here, changed_to) not in self._raised,
            turns=self._history.turns,
            manner=self.manner,
            language=view.language,
        )
        self.diary.language = view.language
        text = await self.speaker.say(chat)
        seconds = seconds_to_write(text, self.manner, self.rng)
        await asyncio.sleep(self.writing_pace * seconds)
        said = {"type": "say", **_named(view), "turn": view.turns, "text": text}
        if not view.records_writing:
            return said
        return {**said, "writing": writing_of(text, seconds, self.manner, self.rng)}

    def _rate_reply(self, view: PageView) -> Message | None:
        """Return a random rating of the last reply; None for some replies."""
        if view.turn_points is None or view.unrated_turn is None:
            return None
        reply = (view.conversation, view.attempt, view.unrated_turn)
        if reply in self._rated_replies:
            return None
        self._rated_replies.add(reply)
        if self.rng.random() < 0.3:
            return None
        value = self.rng.randint(1, view.turn_points)
        return {"type": "rate_turn", **_named(view), "turn": view.unrated_turn, "value": value}

    async def _rate(self, view: PageView, joined: JoinAnswer) -> Message:
        beliefs = await self._beliefs(joined)
        # The dict keeps the last attempt at each conversation.
        found = {row.conversation: row for row in beliefs.conversations}[_position(view)]
        ratings = self.profile.rate(found.quality, beliefs.criteria, found.item, found.system)
        shown = self._history.shown(view)
        answers = draw_answers(view.questions["conversation"], self.rng, shown)
        if view.correctness:  # two criteria are computed from the answers
            correct = ratings.pop("any_correct") / 100
            ratings.pop("avg_correct")
            answers |= judge_paragraphs(shown["context"], correct, self.rng)
        given = {
            label: nearest_point(value, view.points[label]) if label in view.points else value
            for label, value in ratings.items()
        }
        return {
            "type": "rate",
            **_named(view),
            "ratings": given,
            "answers": answers,
            "edit": self._improved(view, ratings),
            "side": view.side,
        }

    async def _choose(self, view: PageView, joined: JoinAnswer) -> Message:
        """Return which of two bots the worker prefers. The left bot's conversation has an odd number."""
        quality = {row.conversation: row.quality for row in (await self._beliefs(joined)).conversations}
        right = 2 * view.conversation
        ties = view.comparison is not None and view.comparison["ties"]
        preferred = self.profile.prefer(quality[right - 1], quality[right], ties=ties)
        return {"type": "choose", **_named(view), "turn": view.choice_due, "preference": preferred}

    def _improved(self, view: PageView, ratings: dict[str, int]) -> str | None:
        """Return the text with a sentence added, if it must be improved."""
        asked = view.post_edit
        if asked is None or view.text is None or ratings[asked["criterion"]] >= asked["top"]:
            return None
        return f"{view.text} {_IMPROVEMENT}"

    async def _beliefs(self, joined: JoinAnswer) -> SimulatedBeliefs:
        """Return the worker's beliefs; for items they are requested once, because none is ever replaced."""
        if self._believed is None:
            beliefs = await self.client.beliefs(joined.assignment)
            if any(row.item is None for row in beliefs.conversations):
                return beliefs
            self._believed = beliefs
        return self._believed


def _position(view: PageView) -> int:
    """Return the server's number of the conversation: side by side, each of the two has its own."""
    if view.side is None:
        return view.conversation
    return 2 * view.conversation - (view.side == "left")


def _named(view: PageView) -> Message:
    """Return the fields that identify a message's conversation."""
    return {"conversation": view.conversation, "attempt": view.attempt}

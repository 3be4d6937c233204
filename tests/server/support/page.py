"""A worker's page that speaks the real protocol over a real WebSocket."""

import itertools
import json
from typing import Any

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection

from server.session.protocol import PROTOCOL_VERSION
from tests.server.support.study import RATINGS
from tests.support.waiting import PATIENCE

Message = dict[str, Any]


OF_A_CONVERSATION = {
    "topic",
    "say",
    "topic_change",
    "end_conversation",
    "rate",
    "report",
    "take_back_report",
    "answer_quiz",
}


class Page:
    """A worker's page at its plainest. `frames` keeps every frame that came, `heard` every message read.

    It knows by what it hears which conversation it is in, which attempt at it, and which line is next.
    """

    _ids = itertools.count()

    def __init__(self, connection: ClientConnection) -> None:
        self.connection = connection
        self.frames: list[str] = []
        self.heard: list[Message] = []
        self._unread: list[Message] = []
        self.snapshot: Message = {}
        self.conversation, self.attempt, self.turn = 1, 1, 0

    def raw(self, frame: str | bytes) -> None:
        self.connection.send(frame)

    def send(self, type_: str, id_: str | None = None, **fields: Any) -> str:
        """Send a message without waiting; return its id."""
        chosen = id_ or f"m{next(self._ids)}"
        where = {"protocol": PROTOCOL_VERSION} if type_ == "hello" else {}
        if type_ in OF_A_CONVERSATION:
            where = {"conversation": self.conversation, "attempt": self.attempt}
        where |= {"turn": self.turn} if type_ == "say" else {}
        self.raw(json.dumps({"type": type_, "id": chosen, **where, **fields}))
        return chosen

    def receive(self) -> Message:
        if not self._unread:
            frame = self.connection.recv(timeout=PATIENCE)
            assert isinstance(frame, str)
            self.frames.append(frame)
            content = json.loads(frame)
            self._unread = content if isinstance(content, list) else [content]
        message = self._unread.pop(0)
        self.heard.append(message)
        self._follow(message)
        return message

    def _follow(self, message: Message) -> None:
        match message["type"]:
            case "snapshot" if card := message["conversation"]:
                self.conversation, self.attempt = card["conversation"], card["attempt"]
                self.turn = len(card["turns"])
            case "topic_due" | "item_due":
                self.conversation, self.attempt, self.turn = message["conversation"], message["attempt"], 0
            case "said":
                self.turn = message["turn"] + 1

    def until(self, type_: str) -> Message:
        """Return the next message of a type; anything unexpected on the way is in `heard`."""
        while (message := self.receive())["type"] != type_:
            assert message["type"] != "error", message
        return message

    def until_any(self, *types: str) -> str:
        """Return which of these types comes first."""
        while (message := self.receive())["type"] not in types:
            assert message["type"] != "error", message
        return str(message["type"])

    def ask(self, type_: str, id_: str | None = None, **fields: Any) -> Message:
        """Send a message; return the `accepted` or the `error` that answers it."""
        sent = self.send(type_, id_, **fields)
        while True:
            message = self.receive()
            if message["type"] in {"accepted", "error"} and message.get("id") == sent:
                return message

    def refused(self, frame: str | bytes) -> Message:
        """Send a raw frame; return the error that answers it."""
        self.raw(frame)
        while (message := self.receive())["type"] == "accepted":
            pass  # of an earlier message that nobody waited for
        assert message["type"] == "error", message
        return message

    def closed(self) -> list[Message]:
        """Return what comes until the server closes the connection."""
        messages = []
        try:
            while True:
                messages.append(self.receive())
        except ConnectionClosed:
            return messages

    # ---- steps of the way, each waiting for what shows that it is done

    def agree(self, **fields: Any) -> Message:
        self.send("agree", **fields)
        return self.until("topic_due")

    def open_topic(self, text: str | None = "the sea") -> Message:
        self.send("topic", opinion="like", **({"text": text} if text else {}))
        return self.until("conversation_started")

    def say(self, text: str) -> Message:
        self.send("say", text=text)
        return self.until("said")

    def rate(self, then: str = "topic_due") -> Message:
        self.send("rate", ratings=RATINGS)
        return self.until(then)

    def converse(self, inputs: int = 2) -> None:
        """Hold a whole conversation, up to its rating."""
        self.open_topic()
        for number in range(inputs):
            self.say(f"line {number}")
        self.send("end_conversation")
        self.until("rating_due")

    def whole(self, conversations: int = 4, **agreed: Any) -> Message:
        """Go all the way; return the `completed` message. `agreed`: what agreeing says of a consent."""
        self.agree(**agreed)
        return self.finish(conversations)

    def finish(self, conversations: int = 4) -> Message:
        """Go all the way from the first topic on; return the `completed` message."""
        for number in range(1, conversations + 1):
            self.converse()
            self.rate("topic_due" if number < conversations else "feedback_due")
        self.send("feedback", text="Thank you.")
        return self.until("completed")

    def whole_unless_unrated(self, conversations: int = 4) -> None:
        """Go all the way in a study that leaves some conversations unrated."""
        self.agree()
        for _ in range(conversations):
            self.open_topic()
            for number in range(2):
                self.say(f"line {number}")
            self.send("end_conversation")
            if self.until_any("rating_due", "topic_due", "feedback_due") == "rating_due":
                self.send("rate", ratings=RATINGS)
                self.until_any("topic_due", "feedback_due")
        self.send("feedback", text="")
        self.until("completed")

"""What a persona has to say about a question it is asked."""

from collections.abc import Sequence

from bots.builtin.acts import act
from bots.builtin.choice import staleness
from bots.builtin.topics import TOPICS, topics_of
from bots.chat import Chat
from bots.prose import present
from bots.words import content, sentences


def fact_about(text: str, chat: Chat, least: float = 1.0) -> str | None:
    """Return the sentence of the chat's persona nearest to `text` that has not been said, if any is near."""
    rated = [(_nearness(text, fact), -at, fact) for at, fact in enumerate(untold(chat))]
    score, _, fact = max(rated, default=(0.0, 0, ""))
    return fact if score >= least else None


def asked_fact(chat: Chat) -> str | None:
    """Return what the persona can answer to the worker's latest line, if that asks for something."""
    question = question_in(chat)
    return fact_about(question, chat) if question else None


def untold(chat: Chat) -> list[str]:
    """Return the persona's sentences that the bot has not said yet, as they are shown."""
    shown = [present(sentence) for sentence in chat.persona]
    return [sentence for sentence in shown if staleness(sentence, chat) < 1]


def question_in(chat: Chat) -> str | None:
    """Return what the worker's latest line asks about; a question put back takes its subject from before."""
    if not chat.turns:
        return None
    last = chat.turns[-1].text
    doing = act(last)
    if doing == "asks back":
        return " ".join([*(turn.text for turn in chat.turns[-2:-1]), last])
    if doing in ("asks what", "asks whether"):
        return next(part for part in reversed(sentences(last)) if act(part) == doing)
    return None


def _nearness(text: str, fact: str) -> float:
    shared = len(set(content(text)) & set(content(fact)))
    asked = _widened(topics_of(text)[:3])
    return 1.5 * shared + len(asked & set(topics_of(fact)))


def _widened(names: Sequence[str]) -> set[str]:
    return {each for name in names for each in (name, *TOPICS[name].includes)}

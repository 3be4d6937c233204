"""A conversation as a ParlAI agent hears it: what was said to it and what it answered, in pairs."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bots.core.chat import Turn

PERSONA = "your persona: "
SILENCE = "__SILENCE__"


@dataclass(frozen=True, slots=True)
class EpisodeExchange:
    """What was said to the agent, and its answer; `answered` is empty where it has yet to answer."""

    said: str
    answered: str


def exchanges(turns: Iterable[Turn]) -> list[EpisodeExchange]:
    """Return `turns` as exchanges, the last of them unanswered.

    Lines that one side says in a row are one line. An agent that speaks first answers silence, as in
    ConvAI2's own files.
    """
    pairs: list[EpisodeExchange] = []
    for turn in turns:
        text = " ".join(turn.text.split())
        last = pairs[-1] if pairs else None
        if turn.author == "worker":
            if last is not None and not last.answered:
                pairs[-1] = EpisodeExchange(f"{last.said} {text}".strip(), "")
            else:
                pairs.append(EpisodeExchange(text, ""))
        elif last is None:
            pairs.append(EpisodeExchange(SILENCE, text))
        else:
            pairs[-1] = EpisodeExchange(last.said, f"{last.answered} {text}".strip())
    if not pairs or pairs[-1].answered:
        pairs.append(EpisodeExchange(SILENCE, ""))
    return [EpisodeExchange(each.said or SILENCE, each.answered) for each in pairs]


def opening(persona: Sequence[str], said: str) -> str:
    """Return the first text of an episode: the agent's persona, a line each, then what was said."""
    return "\n".join([*(PERSONA + " ".join(sentence.split()) for sentence in persona), said])

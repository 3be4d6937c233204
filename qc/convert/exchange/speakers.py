"""Conversations of named speakers, in formats that do not say which of them is the system."""

from collections.abc import Sequence

from qc.convert.exchange.content import ChatMessage, SharedTranscript
from qc.convert.exchange.rows import Reading

Said = tuple[str, str]  # speaker and text


def transcript(
    where: str, name: str, system: object, said: Sequence[Said], reading: Reading
) -> SharedTranscript:
    """Return a conversation.

    The system is the speaker whom the user names, else the one called `system`, else the second to speak.

    Args:
        where: its place.
        name: its name.
        system: name of its system if the source says it; else it is called like its speaker.
        said: its lines.
        reading: takes what is wrong or left out.
    """
    speakers = list(dict.fromkeys(speaker for speaker, _ in said))
    speaker = reading.naming.speaker
    if speaker is None:
        speaker = system if isinstance(system, str) and system in speakers else next(iter(speakers[1:2]), "")
    if speaker not in speakers:
        named = ", ".join(speakers) or "nobody"
        reason = f"{speaker} does not speak here, only {named}." if speaker else f"only {named} speaks here."
        reading.refuse(where, reason, "Name the system with --speaker, or take the conversation out.")
    if (others := len(speakers) - 2) > 0:
        reading.unread["speakers beside the system and one person, shown as that person"] += others
    return SharedTranscript(
        name,
        reading.system(where, system or reading.naming.system or speaker),
        tuple(ChatMessage("bot" if one == speaker else "worker", text) for one, text in said),
    )

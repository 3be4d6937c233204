"""The speakers of a file that describes them without naming them."""

from collections.abc import Iterable

from bots.corpus.model import Dialogue, Persona


class Cast:
    """Gives each distinct description of a speaker one persona, numbered in order of appearance."""

    def __init__(self) -> None:
        self._personas: dict[tuple[str, ...], Persona] = {}

    def persona(self, sentences: Iterable[str]) -> Persona | None:
        """Return the persona with these sentences, the same one each time; None for no sentences."""
        key = tuple(sentences)
        if not key:
            return None
        return self._personas.setdefault(key, Persona(f"p{len(self._personas) + 1}", key))

    def personas(self) -> tuple[Persona, ...]:
        """Return every persona met so far."""
        return tuple(self._personas.values())


def taking_turns(
    dialogue_id: str, lines: Iterable[tuple[int, str]], personas: tuple[Persona | None, Persona | None]
) -> Dialogue | None:
    """Return the dialogue in which speakers 0 and 1 say `lines`, None if fewer than two turns are left.

    Silence is left out. Lines that one speaker then says in a row are one turn. Whoever speaks
    first becomes the dialogue's first speaker.
    """
    spoken: list[tuple[int, str]] = []
    for speaker, text in lines:
        if not text or text.replace(" ", "").upper() == "__SILENCE__":
            continue
        if spoken and spoken[-1][0] == speaker:
            spoken[-1] = (speaker, f"{spoken[-1][1]} {text}")
        else:
            spoken.append((speaker, text))
    if len(spoken) < 2:
        return None
    first = spoken[0][0]
    return Dialogue(dialogue_id, (personas[first], personas[1 - first]), tuple(text for _, text in spoken))

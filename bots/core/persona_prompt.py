"""The instructions for a language model before a conversation, with the bot's persona in them."""

from collections.abc import Sequence
from pathlib import Path

from candor.common.files import read_text

_WHO = "This is who you are:\n{persona}"
DEFAULT_PROMPT = f"""\
You are chatting with somebody whom you have just met. Answer as people do in a chat: one or two short \
sentences, no lists, no headings.

{_WHO}"""


class PromptError(ValueError):
    """A prompt cannot be read. The message says why, and what to do."""


def persona_prompt(prompt: str, persona: Sequence[str], of_conversation: str = "") -> str:
    """Return `prompt` with {persona} replaced by the sentences of `persona`, one a line.

    Without a persona, paragraphs with {persona} are left out. A prompt without {persona} gets the persona at
    its end, so that no persona is lost. The instructions `of_conversation` come last, unchanged.
    """
    if persona:
        whole = prompt if "{persona}" in prompt else f"{prompt}\n\n{_WHO}"
        filled = whole.replace("{persona}", "\n".join(persona))
    else:
        filled = "\n\n".join(part for part in prompt.split("\n\n") if "{persona}" not in part)
    return f"{filled.strip()}\n\n{of_conversation}".strip()


def given_prompt(given: str) -> str:
    """Return the prompt given to a command: the text itself, or the contents of FILE for @FILE.

    Raises:
        PromptError: there is no such file, it cannot be read, or the text is a file's name without its @.
    """
    if given.startswith("@"):
        return text_of(given[1:])
    if "\n" not in given and len(given) < 256 and Path(given).is_file():
        raise PromptError(f"{given} is a file: write @{given} for its text")
    return given


def text_of(file: str) -> str:
    """Return the text in `file`. Raises PromptError."""
    try:
        return read_text(Path(file))
    except UnicodeDecodeError as error:
        raise PromptError(f"{file} is not UTF-8 text: save it as UTF-8") from error
    except OSError as error:
        raise PromptError(f"{file} cannot be read: {error.strerror}. Check the path.") from error

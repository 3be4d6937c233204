"""The instructions that a language model gets before a conversation, with the bot's persona in them."""

from collections.abc import Sequence

DEFAULT_PROMPT = """\
You are chatting with somebody whom you have just met. Answer as people do in a chat: one or two short \
sentences, no lists, no headings.

This is who you are:
{persona}"""


def persona_prompt(prompt: str, persona: Sequence[str], of_conversation: str = "") -> str:
    """Return `prompt` with the sentences of `persona`, one a line, in the place of {persona}.

    Without a persona the paragraphs that speak of it are left out. What a conversation asks of its bot by
    itself comes last, as it is.
    """
    if persona:
        filled = prompt.replace("{persona}", "\n".join(persona))
    else:
        filled = "\n\n".join(part for part in prompt.split("\n\n") if "{persona}" not in part)
    return f"{filled.strip()}\n\n{of_conversation}".strip()

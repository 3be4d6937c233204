"""Write one conversation per system with the same worker's lines, to read side by side.

    python -m bots.builtin.transcript [NAME ...] [--out docs/reference/transcripts]

Without names, the pages of all systems and the QC bot are written. Bots are deterministic, so this changes
the files only if a bot or the corpus has changed.
"""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from bots.builtin import bot_specs, open_bot
from bots.core.chat import Bot, Chat, Turn
from bots.corpus import Corpus, Persona, load_corpus
from candor.common.terminal import stderr

SCRIPT = (
    "Hi there! How are you doing today?",
    "I'm fine, just back from a long walk with my dog.",
    "He's a beagle called Oscar. Do you have any pets?",
    "What do you do for a living?",
    "I work in a hospital kitchen, we cook for four hundred people.",
    "It's hard work sometimes, but I love feeding people.",
    "And what do you do for fun?",
    "I've been learning the guitar since last winter.",
    "Mostly old folk songs, my sister sings along.",
    "Yes, every Sunday.",
    "What kind of music do you like?",
    "Ok, I have to start dinner now. It was nice talking to you, bye!",
)
SEED = 11


async def conversation(bot: Bot, persona: Sequence[str]) -> tuple[Turn, ...]:
    """Return the conversation that `bot`, with this persona, holds over the script."""
    turns: tuple[Turn, ...] = ()
    for line in SCRIPT:
        turns = (*turns, Turn("worker", line))
        said = await bot.reply(Chat("transcript", SEED, tuple(persona), turns))
        turns = (*turns, Turn("bot", said.text))
    return turns


def rendered(title: str, bot: Bot, persona: Persona, command: str) -> str:
    """Return the transcript page of one bot, without and with a persona; `command` is named as its maker."""
    page = [
        f"# {title}",
        "",
        f"Made by `.venv/bin/{command}`; the worker's lines are the same for every system.",
    ]
    for heading, sentences in (("Without persona", ()), ("With persona", persona.sentences)):
        page += ["", f"## {heading}", ""]
        page += [f"- *{sentence}*" for sentence in sentences] + [""] * bool(sentences)
        for turn in asyncio.run(conversation(bot, sentences)):
            page += [f"**{turn.author.title()}:** {turn.text}", ""]
        page.pop()
    return "\n".join(page) + "\n"


def page(spec: str, corpus: Corpus) -> str:
    """Return the transcript page of the bot that `spec` names."""
    return rendered(spec, open_bot(spec, corpus), corpus.personas[0], "python -m bots.builtin.transcript")


def main(
    specs: Annotated[list[str] | None, typer.Argument(help="Bots to write; default: all of them.")] = None,
    out: Annotated[Path, typer.Option(help="Folder for the pages.")] = Path("docs/reference/transcripts"),
) -> None:
    """Write one page per bot."""
    corpus = load_corpus("builtin:smalltalk")
    out.mkdir(parents=True, exist_ok=True)
    for spec in specs or bot_specs():
        path = out / f"{spec.removeprefix('builtin:')}.md"
        path.write_text(page(spec, corpus), encoding="utf-8")
        stderr.print(f"wrote {path}")


if __name__ == "__main__":
    typer.run(main)

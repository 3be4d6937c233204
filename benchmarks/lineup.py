"""Measure the trained line-up: does each model answer, does its persona matter, is the QC bot worse?

    python benchmarks/lineup.py [--corpus CORPUS] [--dialogues 300] [--out FOLDER] [--help]

The five models are trained on nine tenths of a sample of dialogues of CORPUS (drawn with a fixed seed), as
`python -m bots.train_lineup` does. They are tested on the other tenth, from both sides: each model picks the
next line out of twenty, once with the speaker's persona and once without any.

Two judges compare the models' replies with the QC bot's in the same places. The judges do not know which
reply is whose. The first judges which reply fits the earlier lines and the persona (IBM Model 1, as in
`builtin:translation`). The second judges which reads better, whatever was said (a trigram model, log
probability a token). The judges learn from the dialogues that were not sampled; if all were sampled, they
learn from the models' training dialogues.
"""

import asyncio
import platform
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.progress import Progress

from bots import Chat, Reply, load_corpus, open_bot
from bots.builtin.evaluate import CANDIDATES, Case, cases, hits
from bots.builtin.ngram import LanguageModel, tokens
from bots.builtin.transcript import rendered
from bots.builtin.translation import Translation
from bots.core.words import content
from bots.host.parlai import ParlaiModel
from bots.parlai.training import LINEUP, Architecture, Trained, Training, held_out, training_data
from bots.serving import Corpus
from bots.shown import shown_text
from candor.common.terminal import stderr

_AT_ONCE = 16
_COLUMNS = (
    "system",
    "different replies",
    "other without persona",
    "persona words a reply",
    "the same without persona",
    f"hits@1 of {CANDIDATES}",
    "the same without persona",
    "fits better than qc",
    "reads better than qc",
    "perplexity",
    "trained in",
)


class Judges:
    """Two views of which of two lines is the better reply."""

    def __init__(self, corpus: Corpus) -> None:
        """Learn from `corpus`."""
        self._calls = Translation(corpus)
        self._language = LanguageModel(
            ("<says>", *tokens(turn)) for dialogue in corpus.dialogues for turn in dialogue.turns
        )

    def fits(self, case: Case, one: str, other: str) -> float:
        """Return 1 if the conversation calls for `one` rather than `other`, 0 if not, 0.5 if for both."""
        return _first(*self._calls.scores(case.chat, [one, other]))

    def reads(self, one: str, other: str) -> float:
        """Return 1 if `one` reads better than `other`, 0 if worse, 0.5 if they read alike."""
        return _first(self._fluency(one), self._fluency(other))

    def _fluency(self, text: str) -> float:
        # A word that the model does not know is left out by it.
        line = self._language.encode(("<says>", *tokens(text)))
        steps = zip(line, line[1:], line[2:], strict=False)
        return float(
            np.mean([np.log(self._language.after(first, second)[third]) for first, second, third in steps])
        )


def _first(one: float, other: float) -> float:
    return 0.5 if one == other else float(one > other)


@dataclass(frozen=True)
class Answers:
    """What a system said and picked in the same chats, with and without persona."""

    tried: Sequence[Case]
    with_persona: Sequence[str]
    without: Sequence[str]
    hits_with: float
    hits_without: float

    def cells(self, judges: Judges, qc: Sequence[str]) -> list[str]:
        """Return what was measured, as cells of a table; `qc` is what the qc bot says in these chats."""
        other = [one != two for one, two in zip(self.with_persona, self.without, strict=True)]
        against = list(zip(self.tried, self.with_persona, qc, strict=True))
        return [
            f"{len({*self.with_persona})} of {len(self.tried)}",
            f"{np.mean(other):.0%}",
            f"{self._persona_words(self.with_persona):.2f}",
            f"{self._persona_words(self.without):.2f}",
            f"{self.hits_with:.0%}",
            f"{self.hits_without:.0%}",
            f"{np.mean([judges.fits(case, text, bad) for case, text, bad in against]):.0%}",
            f"{np.mean([judges.reads(text, bad) for _, text, bad in against]):.0%}",
        ]

    def _persona_words(self, said: Sequence[str]) -> float:
        """Return how many words a reply has that carry meaning and are the persona's."""
        shared = [
            len({word for line in case.chat.persona for word in content(line)} & set(content(text)))
            for case, text in zip(self.tried, said, strict=True)
        ]
        return sum(shared) / len(shared)


class Hosted:
    """A trained model as a bot: what a host would send of it is what it says."""

    def __init__(self, model: ParlaiModel) -> None:
        self.model = model

    async def reply(self, chat: Chat) -> Reply:
        """Return the model's next line."""
        return Reply(self.lines([chat])[0])

    def lines(self, chats: Sequence[Chat]) -> list[str]:
        """Return the model's next line of each chat."""
        return [shown_text(made.text, tokens=made.tokens).text for made in self.model.replies(chats)]


def drawn(corpus: Corpus, dialogues: int) -> tuple[Corpus, Corpus]:
    """Return some dialogues of `corpus`, drawn by a fixed seed, and the others."""
    count = min(dialogues, len(corpus.dialogues))
    chosen = set(np.random.default_rng(1).choice(len(corpus.dialogues), count, replace=False).tolist())
    kept = tuple(each for at, each in enumerate(corpus.dialogues) if at in chosen)
    others = tuple(each for at, each in enumerate(corpus.dialogues) if at not in chosen)
    return replace(corpus, dialogues=kept), replace(corpus, dialogues=others)


def some(tried: Sequence[Case], most: int) -> list[Case]:
    """Return `most` of the cases of speakers who have a persona, evenly chosen."""
    known = [case for case in tried if case.chat.persona]
    return known[:: max(1, len(known) // most)][:most]


def trained(architecture: Architecture, corpus: Corpus, out: Path, progress: Progress) -> Trained:
    """Return a model of the line-up, trained in `out`, or found finished there."""
    data = training_data(corpus)
    dialogues = data.write_dialogues(out / "corpus").resolve()
    epochs = architecture.epochs(data.replies())
    bar = progress.add_task(architecture.title, total=epochs)
    folder = out / architecture.name
    training = Training(architecture, data, dialogues, folder, epochs, seed=1)
    found = training.run(lambda done: progress.update(bar, completed=done))
    progress.remove_task(bar)
    return found


def model_answers(model: ParlaiModel, tried: Sequence[Case], progress: Progress) -> Answers:
    """Return what a trained model says and picks."""

    def said(asked: Sequence[Case], what: str) -> list[str]:
        bot, texts = Hosted(model), []
        for at in progress.track(range(0, len(asked), _AT_ONCE), description=f"{model.name} {what}"):
            texts += bot.lines([case.chat for case in asked[at : at + _AT_ONCE]])
        return texts

    bare = [replace(case, chat=replace(case.chat, persona=())) for case in tried]
    answered = said(tried, "with persona"), said(bare, "without")
    return Answers(tried, *answered, picked(model, tried), picked(model, bare))


def picked(model: ParlaiModel, tried: Sequence[Case]) -> float:
    """Return in which share of the cases the model prefers the line that was said."""
    right = 0
    with picking(model):
        for case in tried:
            asked = model.observation(case.chat)
            asked.force_set("label_candidates", list(case.candidates))
            asked = model.agent.vectorize(asked, model.agent.history, text_truncate=None, label_truncate=40)
            (act,) = model.agent.batch_act([asked])
            right += act["text_candidates"][0] == case.candidates[case.truth]
    return right / len(tried)


@contextmanager
def picking(model: ParlaiModel) -> Iterator[None]:
    """Let the model choose of the lines that it is given."""
    agent = model.agent
    if hasattr(agent, "eval_candidates"):  # it ranks
        before, agent.eval_candidates = agent.eval_candidates, "inline"
        yield
        agent.eval_candidates = before
    else:
        agent.rank_candidates, agent.skip_generation = True, True
        yield
        agent.rank_candidates, agent.skip_generation = False, False


def qc_answers(corpus: Corpus, tried: Sequence[Case]) -> Answers:
    """Return what the qc bot says, and picks by being like it; a persona is nothing to it."""
    bot = open_bot("qc", corpus)

    async def said() -> list[str]:
        return [(await bot.reply(case.chat)).text for case in tried]

    texts = asyncio.run(said())
    share = float(np.mean(asyncio.run(hits(bot, tried, with_persona=True))))
    return Answers(tried, texts, texts, share, share)


def main(
    corpus: Annotated[str, typer.Option(help='"builtin:smalltalk" or a path.')] = "builtin:smalltalk",
    dialogues: Annotated[int, typer.Option(min=20, help="How many of its dialogues to take.")] = 300,
    chats: Annotated[int, typer.Option(min=10, help="Held-out lines to ask for.")] = 130,
    out: Annotated[
        Path | None, typer.Option(help="Folder for the models; what is finished in it is not trained again.")
    ] = None,
    transcripts: Annotated[
        Path | None, typer.Option(help="Folder for a conversation with each model, a page each.")
    ] = None,
    only: Annotated[list[str] | None, typer.Option(help="Models to try, by name; default: all.")] = None,
) -> None:
    """Print distinct replies, what the persona does to them, hits@1 and perplexity on held-out lines."""
    learned, others = drawn(load_corpus(corpus), dialogues)
    tried = some(cases(held_out(learned), seed=1), chats)
    judges, qc = Judges(others if others.dialogues else learned), qc_answers(learned, tried)
    print(
        f"{Path(learned.name).name}: {len(learned.dialogues)} dialogues, a tenth held out,\n"
        f"{len(tried)} lines of it; judges learned from {len(others.dialogues) or 'the same'} dialogues.\n"
        f"{platform.machine()}, one thread; Python {platform.python_version()}, torch {version('torch')}, "
        f"parlai {version('parlai')}\n"
    )
    print(f"| {' | '.join(_COLUMNS)} |\n|---|{'---:|' * (len(_COLUMNS) - 1)}")
    with tempfile.TemporaryDirectory() as made, Progress(console=stderr) as progress:
        for architecture in LINEUP:
            if only and architecture.name not in only:
                continue
            found = trained(architecture, learned, out or Path(made), progress)
            model = ParlaiModel(found.model_file)
            cells = model_answers(model, tried, progress).cells(judges, qc.with_persona)
            perplexity = f"{found.score:.0f}" if found.measure == "ppl" else ""
            row = [architecture.title, *cells, perplexity, f"{found.seconds:.0f} s"]
            print(f"| {' | '.join(row)} |", flush=True)
            if transcripts:
                transcripts.mkdir(parents=True, exist_ok=True)
                page = rendered(architecture.title, Hosted(model), learned.personas[0], _COMMAND)
                (transcripts / f"{architecture.name}.md").write_text(page, encoding="utf-8")
    people = [case.candidates[case.truth] for case in tried]
    for who, answers in (
        ("a person (the line that was said)", Answers(tried, people, people, 1, 1)),
        ("qc bot", qc),
    ):
        print(f"| {who} | {' | '.join(answers.cells(judges, qc.with_persona))} | | |")


_COMMAND = "python benchmarks/lineup.py --transcripts docs/reference/transcripts/lineup"


if __name__ == "__main__":
    typer.run(main)

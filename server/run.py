"""A run as a process holds it: its study, the rules of its sessions, its bots, ready to answer."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import ParamSpec, TypeVar

from bots import (
    Bot,
    Corpus,
    CorpusError,
    EndpointError,
    FittedQcBot,
    UnknownBotError,
    load_corpus,
    open_bot,
)
from server.assignment import QC, Casting, Variant
from server.catalog import RunEntry
from server.earlier_replies import EarlierReplies
from server.errors import StudyInvalid
from server.registry import Registry
from server.state import Rules
from server.study import Study, parse_study

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True)
class OpenRun:
    """One run. `bots` has one for every system's name, the qc bot's too.

    `earlier`: what its systems have said, where the qc bot draws from that.
    """

    id: int
    slug: str
    seed: int
    study: Study
    rules: Rules
    bots: dict[str, Bot]
    earlier: EarlierReplies | None = None


def open_lineup(entry: RunEntry, registry: Registry) -> OpenRun:
    """Return the run with its bots opened, those that run elsewhere through `registry`.

    Raises:
        StudyInvalid: a bot or a corpus cannot be opened; says which and why.
    """
    study = parse_study(entry.yaml, f"study of run {entry.slug}")
    corpus = _opened(f"corpus `{study.corpus}`", load_corpus, study.corpus)
    qc_corpus = _opened(f"qc corpus `{study.qc.corpus}`", load_corpus, study.qc.corpus)
    elsewhere = {
        name: _opened(f"bot `{name}`", registry.open, endpoint) for name, endpoint in study.bots.items()
    }

    def bot(what: str, spec: str, learned: Corpus) -> Bot:
        return elsewhere.get(spec) or registry.registered(spec) or _opened(what, open_bot, spec, learned)

    bots = {spec.name: bot(f"system `{spec.name}`", spec.bot, corpus) for spec in study.systems}
    earlier = EarlierReplies(entry.id) if study.qc.draw == "systems" else None
    if earlier is not None:
        bots[QC] = _opened("the qc bot", FittedQcBot, qc_corpus, earlier)
    else:
        bots[QC] = bot("the qc bot", study.qc.bot, qc_corpus)
    return OpenRun(entry.id, entry.slug, entry.seed, study, rules_of(study, corpus), bots, earlier)


def rules_of(study: Study, corpus: Corpus) -> Rules:
    """Return what `study` prescribes to every session, with personas from `corpus` where it says so.

    Raises:
        StudyInvalid: the study draws personas and there are none.
    """
    if study.personas == "corpus":
        personas = tuple(_lines(persona.sentences) for persona in corpus.personas)
    else:
        personas = tuple(_lines(persona) for persona in study.personas)
    wanted = study.topic_mode == "icebreaker" or any(spec.persona == "random" for spec in study.systems)
    if wanted and not personas:
        raise StudyInvalid(
            f"the study draws personas, but its corpus `{study.corpus}` has no personas",
            "Give personas in the study, or a corpus that has some.",
        )
    return Rules(
        minimum_inputs=study.minimum_inputs,
        criteria=tuple(criterion.label for criterion in study.criteria),
        conversations=study.conversations,
        casting=Casting(
            variants=tuple(Variant(spec.name, spec.family) for spec in study.systems),
            policies={
                spec.name: spec.persona if isinstance(spec.persona, str) else _lines(spec.persona)
                for spec in study.systems
            },
            personas=personas,
            icebreakers=study.topic_mode == "icebreaker",
        ),
        reply_time=study.reply_time,
        names={spec.name: _names(study, spec.name, spec.bot) for spec in study.systems}
        | {QC: _names(study, QC, study.qc.bot)},
    )


def _names(study: Study, system: str, bot: str) -> tuple[str, ...]:
    """Return what a system may be called by those who know it: its own name, its bot's, its model's."""
    model = getattr(study.bots.get(bot), "model", None)
    return tuple(dict.fromkeys([system, bot.rpartition(":")[2], *([model] if model else [])]))


def _lines(persona: Iterable[str]) -> tuple[str, ...]:
    """Return a persona with each sentence on one line, as it is stored."""
    return tuple(" ".join(sentence.split()) for sentence in persona)


def _opened(what: str, opening: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    try:
        return opening(*args, **kwargs)
    except (UnknownBotError, CorpusError, EndpointError) as error:
        raise StudyInvalid(f"{what} cannot be opened: {error}") from error

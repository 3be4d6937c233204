"""An open run in a process: its study, session rules, bots and spending caps."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import ParamSpec, TypeVar

from sqlalchemy import Connection

from bots import Bot, Chat, Turn, load_corpus
from bots.serving import (
    Corpus,
    CorpusError,
    Endpoint,
    EndpointError,
    Replicas,
    bot_specs,
    opaque_id,
    require_openable,
)
from server.bots.earlier_replies import EarlierReplies
from server.bots.opened_bots import BotHandle, OpenedBots
from server.bots.people import HumanBot, WizardBot
from server.db.counts import spent_by_bot, spent_by_run
from server.db.runs.runs import RunEntry
from server.errors import StudyInvalid
from server.session.correctness import COMPUTED
from server.session.plan import QC, LineupSpec, Variant, assignment_of
from server.session.protocol import StudyCard
from server.session.records import ConversationPlanned
from server.session.state import SessionRules
from server.settings_file import Location, did_you_mean
from server.study import PARTNER, PEOPLE, WIZARD, Mistake, Study, located, parse_study, read_study


@dataclass(frozen=True, slots=True)
class SpendingCap:
    """A limit of spending on bots, in the currency of their prices.

    `bot`: the bot's name in studies; None: all bots of the run together. `run_id`: the run; None: all runs.
    """

    most: float
    bot: str | None
    run_id: int | None

    def spent(self, connection: Connection) -> float:
        """Return the amount spent so far."""
        if self.bot is not None:
            return spent_by_bot(connection, self.bot, self.run_id)
        return 0.0 if self.run_id is None else spent_by_run(connection, self.run_id)


def first_reached(connection: Connection, caps: Iterable[SpendingCap]) -> str | None:
    """Return the first of `caps` that is reached, in words; None if none is."""
    for cap in caps:
        spent = cap.spent(connection)
        if spent >= cap.most:
            whose = "the study" if cap.bot is None else f"the bot “{cap.bot}”"
            return f"the spending cap of {whose} is reached: {spent:,.2f} of {cap.most:,.2f} are spent"
    return None


_NOTHING = Corpus("none", (), ())  # for studies without chatbots
P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True)
class OpenRun:
    """An open run. `bots`: by system name, including the QC bot.

    `card`: the public description of the study for workers. `names`: per system, names by which its bot would
    reveal itself. `earlier`: earlier replies of its systems, if the QC bot draws from them. `down`: returns
    the systems whose bots are known not to answer now. `people`: those of `bots` that are people, with longer
    time-outs. `spending_caps`: by system, if it has any. `is_rehearsal`: it admits simulated workers only.
    """

    id: int
    slug: str
    seed: int
    study: Study
    card: StudyCard
    rules: SessionRules
    names: Mapping[str, tuple[str, ...]]
    bots: dict[str, Bot]
    earlier: EarlierReplies | None = None
    down: Callable[[], frozenset[str]] = frozenset
    people: Mapping[str, HumanBot] = field(default_factory=dict)
    spending_caps: Mapping[str, tuple[SpendingCap, ...]] = field(default_factory=dict)
    is_rehearsal: bool = False
    _prompts: dict[tuple[str, str | None], str] = field(default_factory=dict, init=False, repr=False)

    def timeouts(self, system: str) -> tuple[float, float]:
        """Return the time-outs in seconds of one attempt, and of all attempts, for the bot of `system`."""
        if system in self.people:
            patience = self.people[system].patience
            return patience, patience + self.study.timeouts.bot_total
        return self.study.timeouts.bot_try, self.study.timeouts.bot_total

    def chat(self, plan: ConversationPlanned, turns: tuple[Turn, ...]) -> Chat:
        """Return a conversation for its bot, with an opaque id that does not identify the worker."""
        name = opaque_id(self.seed, plan.conversation)
        if self.earlier is not None and plan.system == QC:
            self.earlier.belongs(name, assignment_of(plan.conversation))
        if plan.system in self.people:
            self.people[plan.system].belongs(name, plan.conversation)
        asked = plan.system, plan.scenario
        if asked not in self._prompts:
            self._prompts[asked] = self.study.prompt_of(*asked)
        return Chat(name, plan.seed, plan.persona, turns, self._prompts[asked])


def open_lineup(entry: RunEntry, opened_bots: OpenedBots) -> OpenRun:
    """Return a run with its bots opened.

    Args:
        entry: the run as it is stored.
        opened_bots: opens (and closes) the study's own bots, and has the registered ones.

    Raises:
        StudyInvalid: a bot or a corpus cannot be opened; the message names it and why.
    """
    study = parse_study(entry.yaml, f"study of run {entry.slug}")
    if not study.task_type.chats:
        return _without_bots(entry, study)
    require_known_bots(entry.yaml, study, opened_bots.names(), f"study of run {entry.slug}")
    corpus = _opened(f"The corpus “{study.corpus}”", load_corpus, study.corpus, study.language)
    qc_corpus = _opened(
        f"The QC bot's corpus “{study.qc.corpus}”", load_corpus, study.qc.corpus, study.language
    )
    elsewhere = {
        name: _opened(f"The bot “{name}”", opened_bots.open, endpoint)
        for name, endpoint in study.bots.items()
    }

    def bot(spec: str, learned: Corpus, draws_from: EarlierReplies | None = None) -> Bot:
        if spec in elsewhere:
            return elsewhere[spec]
        if spec == PARTNER and study.people is not None:
            return HumanBot(study, bot(study.people.take_over, learned), opened_bots.people)
        if spec == WIZARD and study.people is not None:
            return WizardBot(study, bot(study.people.take_over, learned), opened_bots.people)
        there = opened_bots.registered(spec) if spec in study.registered_bots else None
        if there is None:
            require_openable(spec, learned)
        return there or opened_bots.built_in(spec, learned.name, draws_from, study.language)

    bots = {
        spec.name: _opened(f"The bot of the system “{spec.name}”", bot, spec.bot, corpus)
        for spec in study.systems
    }
    rules = session_rules(study, corpus)
    earlier = EarlierReplies(entry.id) if study.qc.draw == "systems" else None
    bots[QC] = _opened("the QC bot", bot, study.qc.bot, qc_corpus, earlier)
    return OpenRun(
        id=entry.id,
        slug=entry.slug,
        seed=entry.seed,
        study=study,
        card=study_card(study),
        rules=rules,
        names=names_of(study, opened_bots),
        bots=bots,
        earlier=earlier,
        down=partial(_down, bots),
        people={name: bot for name, bot in bots.items() if isinstance(bot, HumanBot)},
        spending_caps=spending_caps(entry.id, study, opened_bots),
        is_rehearsal=entry.kind == "rehearsal",
    )


def spending_caps(run_id: int, study: Study, opened_bots: OpenedBots) -> dict[str, tuple[SpendingCap, ...]]:
    """Return the spending caps of systems that have any: the bot's cap, then the study's.

    The cap of a study's own bot is per run; that of a registered bot covers all runs together.
    """
    of_study = () if study.spending_cap is None else (SpendingCap(study.spending_cap, None, run_id),)
    caps: dict[str, tuple[SpendingCap, ...]] = {}
    for system, bot in study.bots_of_systems.items():
        most = getattr(_endpoint(bot, study, opened_bots), "spending_cap", None)
        own = run_id if bot in study.bots else None
        of_bot = () if most is None else (SpendingCap(most, bot, own),)
        if of_bot or of_study:
            caps[system] = (*of_bot, *of_study)
    return caps


def _down(bots: Mapping[str, Bot]) -> frozenset[str]:
    """Return the systems, including the QC bot, whose external bot is known to be down."""
    elsewhere = ((system, bot) for system, bot in bots.items() if isinstance(bot, Replicas | BotHandle))
    return frozenset(system for system, bot in elsewhere if bot.is_down)


def _without_bots(entry: RunEntry, study: Study) -> OpenRun:
    """Return a run without bots, whose workers rate conversations or texts."""
    return OpenRun(
        id=entry.id,
        slug=entry.slug,
        seed=entry.seed,
        study=study,
        card=study_card(study),
        rules=session_rules(study, _NOTHING),
        names={},
        bots={},
        is_rehearsal=entry.kind == "rehearsal",
    )


def session_rules(study: Study, corpus: Corpus) -> SessionRules:
    """Return the rules of the study's sessions, with personas from `corpus` if the study wants that.

    Raises:
        StudyInvalid: the study draws personas and there are none, or its quiz shows more than there are.
    """
    if study.personas == "corpus":
        personas = tuple(_lines(persona.sentences) for persona in corpus.personas)
    else:
        personas = tuple(_lines(persona) for persona in study.personas)
    lineup = LineupSpec(
        variants=tuple(Variant(spec.name, spec.family) for spec in study.systems),
        policies={
            spec.name: spec.persona if isinstance(spec.persona, str) else _lines(spec.persona)
            for spec in study.systems
        },
        personas=personas,
        icebreakers=study.topic_mode == "icebreaker",
        topics={one.label: one.topic for one in study.scenarios if one.topic is not None},
    )
    wanted = study.topic_mode == "icebreaker" or any(spec.persona == "random" for spec in study.systems)
    if wanted and not personas:
        raise StudyInvalid(
            f"The study draws personas, but its corpus “{study.corpus}” has no personas",
            "Write personas in the study, or name a corpus that has some.",
        )
    if study.quiz is not None and study.quiz.about == "personas":
        there = len(lineup.every_persona)
        if there < study.quiz.choices:
            raise StudyInvalid(
                f"The quiz shows {study.quiz.choices} personas, but the study has only {there}",
                "Write more personas in the study, or let the quiz show fewer.",
            )
    return SessionRules(
        minimum_inputs=study.minimum_inputs,
        maximum_inputs=study.maximum_inputs,
        maximum_topic_changes=study.maximum_topic_changes,
        criteria=tuple(criterion.label for criterion in study.criteria if criterion.is_scored),
        conversations=study.conversations,
        lineup=lineup,
        reply_time=study.reply_time,
        rate_share=study.rate_share,
        post_edit=study.post_edit,
        correctness=study.correctness,
        tutorial=study.tutorial,
        comparison=study.comparison,
        streaming=study.display.streaming,
        consent=study.consent,
        debriefing=study.debriefing,
        points=study.likert_points,
        turn_points=study.turn_points,
        quiz=study.quiz,
        records_writing=study.records_writing,
        questionnaires=study.asked,
        scenarios={scenario.label: scenario.text for scenario in study.scenarios},
    )


def names_of(study: Study, opened_bots: OpenedBots | None = None) -> dict[str, tuple[str, ...]]:
    """Return, per system, the names by which its bot would reveal itself."""
    return {
        system: _names(system, bot, _endpoint(bot, study, opened_bots))
        for system, bot in study.bots_of_systems.items()
    }


def study_card(study: Study) -> StudyCard:
    """Return the public description of `study` for workers."""
    card = StudyCard.model_validate(study, from_attributes=True)
    if not study.correctness:
        return card
    computed = {criterion.label for criterion in COMPUTED}
    shown = [criterion for criterion in card.criteria if criterion.label not in computed]
    return card.model_copy(update={"criteria": shown})


def _endpoint(bot: str, study: Study, opened_bots: OpenedBots | None) -> Endpoint | None:
    own = study.bots.get(bot)
    return opened_bots.endpoint(bot) if own is None and opened_bots is not None else own


def _names(system: str, bot: str, endpoint: Endpoint | None) -> tuple[str, ...]:
    """Return the names of a system: its own, its bot's, and its model's."""
    model = getattr(endpoint, "model", None)
    return tuple(dict.fromkeys([system, bot.rpartition(":")[2], *([model] if model else [])]))


def _lines(persona: Iterable[str]) -> tuple[str, ...]:
    """Return a persona with each sentence on one line, as stored."""
    return tuple(" ".join(sentence.split()) for sentence in persona)


def _opened(what: str, opening: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    try:
        return opening(*args, **kwargs)
    except (CorpusError, EndpointError) as error:
        raise StudyInvalid(f"{what} cannot be opened: {error}") from error


_UNKNOWN = (
    "Correct the names in the study, or register the bots: a running server then serves the run by itself."
)


def require_known_bots(text: str, study: Study, registered: Collection[str], source: str = "study") -> None:
    """Check that every bot of a study exists.

    Args:
        text: the study's text.
        study: the parsed study.
        registered: the names of the bots registered with the server.
        source: the name of the file, for the error message.

    Raises:
        StudyInvalid: the message lists unknown bots with their lines, and the available names.
    """
    unknown = located(text, unknown_bots(study, registered))
    if unknown:
        lines = [mistake.at(source) for mistake in unknown]
        lines.append(
            f"There are {', '.join(bot_specs())}; in this study: {', '.join(study.bots) or 'none'}; "
            f"registered with the server: {', '.join(sorted(registered)) or 'none'}"
        )
        raise StudyInvalid("\n".join(lines), _UNKNOWN)


def mistakes_of(text: str, registered: Collection[str]) -> list[Mistake]:
    """Return the mistakes in a study, including unknown bots, by line."""
    study, mistakes = read_study(text)
    if study is None:
        return mistakes
    found = [*mistakes, *located(text, unknown_bots(study, registered))]
    return sorted(dict.fromkeys(found), key=lambda mistake: mistake.line or 0)


def unknown_bots(study: Study, registered: Collection[str]) -> Iterator[tuple[Location, str]]:
    """Yield the unknown bots of a study, each with its location and a suggestion."""
    if not study.task_type.chats:
        return
    bots = {*bot_specs(), *study.bots, *registered}
    known = {*bots, *PEOPLE}
    named: list[tuple[Location, str]] = [
        (("systems", i, "bot"), spec.bot) for i, spec in enumerate(study.systems)
    ]
    for where, bot in named:
        if bot not in known:
            yield where, f"There is no bot “{bot}”{did_you_mean(bot, known)}"
    machines: list[tuple[Location, str]] = [(("qc", "bot"), study.qc.bot)]
    if study.people is not None:
        machines.append((("people", "take_over"), study.people.take_over))
    for where, bot in machines:
        if bot not in bots:
            yield where, f"There is no bot “{bot}”{did_you_mean(bot, bots)}"

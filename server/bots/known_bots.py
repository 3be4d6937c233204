"""Bots that a study may name, and the errors for a wrong or unknown name."""

from collections.abc import Collection, Iterator

from bots import bot_specs
from server.errors import StudyInvalid
from server.settings_file import Location, did_you_mean
from server.study import PEOPLE, Mistake, Study, located, read_study

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
            f"There are {', '.join(bot_specs())}; in this study's `bots`: {', '.join(study.bots) or 'none'}; "
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
            yield where, f"no bot is called `{bot}`{did_you_mean(bot, known)}"
    machines: list[tuple[Location, str]] = [(("qc", "bot"), study.qc.bot)]
    if study.people is not None:
        machines.append((("people", "take_over"), study.people.take_over))
    for where, bot in machines:
        if bot not in bots:
            yield where, f"no bot is called `{bot}`{did_you_mean(bot, bots)}"

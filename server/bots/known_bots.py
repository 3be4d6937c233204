"""Bots that a study may name, and the errors for a wrong or unknown name."""

from collections.abc import Collection, Iterator

from bots import bot_specs
from server.errors import StudyInvalid
from server.settings_file import Location, did_you_mean
from server.study import PEOPLE, Mistake, Study, located, read_study

_UNKNOWN = (
    "Correct the names in the study, or register the bots: a server that runs then serves the run by itself."
)


def require_known_bots(text: str, study: Study, registered: Collection[str], source: str = "study") -> None:
    """Check that every bot of a study can be found.

    Args:
        text: the study's file.
        study: what it says.
        registered: the names of the bots that are registered with the server.
        source: what the file is called.

    Raises:
        StudyInvalid: with every bot that cannot, each on its line, and the names that there are.
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
    """Return what is wrong with a study, its bots' names too, by lines."""
    study, mistakes = read_study(text)
    if study is None:
        return mistakes
    found = [*mistakes, *located(text, unknown_bots(study, registered))]
    return sorted(dict.fromkeys(found), key=lambda mistake: mistake.line or 0)


def unknown_bots(study: Study, registered: Collection[str]) -> Iterator[tuple[Location, str]]:
    """Yield the bots of a study that are not builtin, its own, or `registered`: where, and what was meant."""
    if study.task == "transcripts":
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

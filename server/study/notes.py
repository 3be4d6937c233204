"""Notes on a valid study that its researcher should read before opening it."""

from collections.abc import Iterator

from server.study.study import Study
from server.study.text_mistakes import text_notes


def study_notes(study: Study) -> Iterator[str]:
    """Yield what should be known: of its texts, of its pace, and of what can be made of its data."""
    yield from text_notes(study)
    pace = study.reply_time
    # No mistake: runs were opened with it, and go on.
    if pace.longest < pace.median:
        yield (
            f"`reply_time: longest` is {pace.longest:g} s and lies below the `median` of {pace.median:g} s: "
            f"most replies are shown after exactly {pace.longest:g} s. Raise `longest`, or lower `median`."
        )
    # Items have control items of their own, and what is chosen side by side is compared without any.
    if study.task == "chat" and not study.qc_per_assignment:
        yield (
            "No worker can be tested: there is no conversation with the quality-control bot "
            "(`qc_per_assignment: 0`), and without one no report can be made, and no rehearsal."
        )

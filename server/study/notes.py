"""What the researcher of a study should know before it is opened, though nothing is wrong with it."""

from collections.abc import Iterator

from server.study.study import Study
from server.study.text_mistakes import text_notes


def study_notes(study: Study) -> Iterator[str]:
    """Yield what should be known: of its texts, and of what can be made of its data."""
    yield from text_notes(study)
    # Items have control items of their own, and what is chosen side by side is compared without any.
    if study.task == "chat" and not study.qc_per_assignment:
        yield (
            "No worker can be tested: there is no conversation with the quality-control bot "
            "(`qc_per_assignment: 0`), and without one no report can be made, and no rehearsal."
        )

"""Errors of study files and stored studies."""

from server.errors.error import CandorError
from server.errors.run import NotAvailable


class StudyNotFound(NotAvailable):
    """No study of that name is stored, or it has no such version."""

    code = "study_not_found"
    hint = "See the stored studies on the desk under Studies, or with `candor study list`."


class StudyRefused(CandorError):
    """A stored study cannot be changed like this."""

    code = "study_refused"
    status = 409


class StudyExists(StudyRefused):
    """A study has that name already."""

    code = "study_exists"
    hint = "Choose another name."


class StudyChanged(StudyRefused):
    """Somebody else has saved a version meanwhile."""

    code = "study_changed"
    hint = "Nothing was overwritten. Merge the other changes with yours, and save again."


class StudyOpened(StudyRefused):
    """A study that has runs cannot be deleted."""

    code = "study_opened"
    hint = "Archive it instead: that hides it, and its data stay."


class StudyNameDiffers(StudyRefused):
    """A text to be saved has the name of another study."""

    code = "study_name_differs"
    status = 422
    hint = "Write the study's own name, or copy the study to give the copy another name."


class RehearsalRefused(CandorError):
    """The study cannot be rehearsed like this."""

    code = "rehearsal_refused"
    status = 422


class StudyInvalid(CandorError):
    """A study file has mistakes; the message lists all of them with their lines."""

    code = "study_invalid"
    status = 422
    hint = "Correct the lines that are named, then run `candor study check FILE`."

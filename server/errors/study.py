"""Studies as they are written and stored."""

from server.errors.error import CandorError
from server.errors.run import NotAvailable


class StudyNotFound(NotAvailable):
    """No study is stored by that name, or it has no such version."""

    code = "study_not_found"
    hint = "Look among those that are stored: on the desk under Studies, or with `candor study list`."


class StudyRefused(CandorError):
    """What a researcher wants with a stored study cannot be done."""

    code = "study_refused"
    status = 409


class StudyExists(StudyRefused):
    """A study has that name already."""

    code = "study_exists"
    hint = "Choose another name."


class StudyChanged(StudyRefused):
    """Somebody else has saved a version meanwhile."""

    code = "study_changed"
    hint = "Nothing was overwritten. Look at what was changed, put it together with yours, and save again."


class StudyOpened(StudyRefused):
    """A study that was opened cannot be deleted: its runs are of it."""

    code = "study_opened"
    hint = "Archive it instead: it is out of the way then, and its data stays."


class StudyNameDiffers(StudyRefused):
    """A text that is saved says that it is another study."""

    code = "study_name_differs"
    status = 422
    hint = "Write the study's own name, or copy the study to give it another one."


class RehearsalRefused(CandorError):
    """The study cannot be rehearsed like this."""

    code = "rehearsal_refused"
    status = 422


class StudyInvalid(CandorError):
    """A study file has mistakes; the message lists all of them with their lines."""

    code = "study_invalid"
    status = 422
    hint = "Correct the lines that are named, then run `candor study check FILE`."

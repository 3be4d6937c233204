"""The name of a study, which stands in its text."""

from pydantic import TypeAdapter, ValidationError

from server.errors import StudyInvalid, StudyNameDiffers
from server.session.instrument import Label
from server.study.document import Unreadable, read_document
from server.study.edits import Change, NotEditable, edited

_NAME = TypeAdapter(Label)


def require_study_name(name: str) -> None:
    """Check that a study can be called so: under another name it could be stored, and never opened.

    Raises:
        StudyInvalid: it cannot.
    """
    try:
        _NAME.validate_python(name)
    except ValidationError as error:
        raise StudyInvalid(
            f"`{name}` cannot be the name of a study",
            "Use small letters, digits and _, at most 40 of them, the first one a letter.",
        ) from error


def named(text: str, name: str) -> str:
    """Return a study's text under another name. Raises StudyInvalid: the text cannot be read."""
    try:
        return edited(text, Change(("name",), name)).text
    except (Unreadable, NotEditable) as error:
        raise StudyInvalid(f"the study cannot be given another name: {error}") from error


def require_name(text: str, name: str) -> None:
    """Check that a text does not say that it is another study. One that cannot be read says nothing.

    Raises:
        StudyNameDiffers: it does.
    """
    try:
        written = read_document(text).content.get("name")
    except Unreadable:
        return
    if isinstance(written, str) and written != name:
        raise StudyNameDiffers(f"the text says `name: {written}`, and the study is `{name}`")

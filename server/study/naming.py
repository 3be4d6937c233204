"""The name of a study, which stands in its text."""

from server.errors import StudyInvalid, StudyNameDiffers
from server.study.document import Unreadable, read_document
from server.study.edits import Change, NotEditable, edited


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

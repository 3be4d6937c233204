"""The shipped texts: of the worker's page, the preview and invitations, one file for each language."""

from datetime import datetime
from functools import lru_cache
from pathlib import Path

import yaml
from pydantic import BaseModel, ConfigDict

from server.session.instrument import Label
from server.session.texts import Text, Words

_FOLDER = Path(__file__).parent
LANGUAGES = tuple(sorted(path.stem for path in _FOLDER.glob("*.yaml")))


class _Texts(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class PreviewTexts(_Texts):
    """What a study's preview shows, because no worker writes, no bot is called and no item is read.

    `line` and `persona` are choices of a quiz, with their number `{n}`. `question`, `answer` and
    `paragraphs`: an item whose correctness is judged.
    """

    topic: Words
    messages: tuple[Words, Words]
    reply: Words
    other_reply: Words
    text: Words
    line: Words
    persona: Words
    question: Words
    answer: Words
    paragraphs: tuple[Words, ...]


class InvitationTexts(_Texts):
    """An e-mail with a link for choosing a password: an invitation, or a new password.

    `administrator`: the sender of a link that is sent by a command. `new_password`: the text for an account
    with a password, under the subject `new_password_subject`.
    """

    subject: Words
    administrator: Words
    to_desk: Words
    to_study: Words
    new_password_subject: Words
    new_password: Words
    password: Words
    expires: Words
    unexpected: Words

    def body(
        self, by: str | None, desk: str, study: str | None, link: str, until: datetime, *, has_password: bool
    ) -> str:
        """Return the text of an e-mail. `by`: the sender; `until`: when the link expires, in UTC."""
        who = by or self.administrator
        to = self.new_password if has_password else self.to_desk if study is None else self.to_study
        return (
            f"{to.format(by=who, study=study, desk=desk)}\n\n"
            f"{self.password}\n{link}\n\n"
            f"{self.expires.format(until=until)}\n{self.unexpected}\n"
        )


class Instrument(_Texts):
    """The texts in one language.

    `name`: the language in English. `validated`: whether ratings with these statements were validated, as
    those with the published English ones were; each translation needs its own validation. `statements`: those
    of the published criteria, by label. `debriefing`: it says that one of the chatbots was bad on purpose.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    validated: bool
    statements: dict[Label, Words]
    debriefing: Words
    preview: PreviewTexts
    invitation: InvitationTexts
    words: dict[str, Text]


def instrument_of(language: str) -> Instrument | None:
    """Return the instrument for a language's tag, with `de` for `de-AT`; None if none is shipped."""
    first = language.lower().partition("-")[0]
    return _read(first) if first in LANGUAGES else None


def language_names() -> dict[str, str]:
    """Return the names of the languages that texts are shipped in, by their tags."""
    return {tag: _read(tag).name for tag in LANGUAGES}


@lru_cache(maxsize=len(LANGUAGES))
def _read(name: str) -> Instrument:
    # Every process reads these at its start; libyaml is ten times as fast as PyYAML's own loader.
    content = yaml.load((_FOLDER / f"{name}.yaml").read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    return Instrument.model_validate(content)


ENGLISH = _read("en")

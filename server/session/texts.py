"""Texts of a worker's page under names, with plural forms where needed. Pure."""

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, StringConstraints

# The forms that languages have for numbers, by Unicode's plural rules; English has `one` and `other`.
Plural = Literal["zero", "one", "two", "few", "many", "other"]
Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=4_000)]

_PLACE = re.compile(r"\{(\w*)\}")
# Languages that are written from right to left, and scripts for tags that name one.
_RIGHT_TO_LEFT = frozenset({"ar", "arc", "ckb", "dv", "fa", "he", "ps", "sd", "syr", "ug", "ur", "yi"})
_RIGHT_TO_LEFT_SCRIPTS = frozenset({"arab", "hebr", "syrc", "thaa"})


def _with_other(forms: dict[Plural, Words]) -> dict[Plural, Words]:
    if "other" not in forms:
        raise ValueError("Give the form “other”, for every number that has no form of its own")
    return forms


Forms = Annotated[dict[Plural, Words], AfterValidator(_with_other)]
# A text, or its forms by the number `{n}` in it. Names in braces are replaced; `**words**` are emphasised.
Text = Words | Forms


class TextsCard(BaseModel):
    """The texts of a study's page that differ from the page's own, by their names.

    `language` is a tag such as `de` or `pt-BR`.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    language: str
    direction: Literal["ltr", "rtl"]
    words: dict[str, str | dict[Plural, str]]


def direction_of(language: str) -> Literal["ltr", "rtl"]:
    """Return the direction in which a language is written, by its tag."""
    first, *rest = language.lower().split("-")
    scripts = [part for part in rest if len(part) == 4 and part.isalpha()]
    if scripts:
        return "rtl" if scripts[0] in _RIGHT_TO_LEFT_SCRIPTS else "ltr"
    return "rtl" if first in _RIGHT_TO_LEFT else "ltr"


def places_in(text: Text) -> frozenset[str]:
    """Return the names in braces, of any form of a text."""
    forms = [text] if isinstance(text, str) else list(text.values())
    return frozenset(name for form in forms for name in _PLACE.findall(form))

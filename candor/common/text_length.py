"""Lengths of texts in characters as readers see them: an emoji of a family is one character.

Characters are grapheme clusters (Unicode Standard Annex #29). ICU finds them here and, by the same data, in
browsers, so that the worker's page counts as the server does. Older or newer browsers may count some
characters differently; the server decides.
"""

from dataclasses import dataclass

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

# The limit for any text, because a character can have any number of code points. 1,000 emoji of a family of
# four fit. In UTF-8 that is at most 28,000 bytes, which leaves room in a page's frame for more.
MOST_CODE_POINTS = 7_000


def characters(text: str) -> int:
    """Return the number of characters that a reader of `text` sees; it must have no lone surrogates."""
    # Imported only if needed: its data are 30 MB.
    from icu4py.breakers import CharacterBreaker  # noqa: PLC0415

    return sum(1 for _ in CharacterBreaker(text, "en").segments())


def is_too_long(text: str, most: int) -> bool:
    """Return whether a text has more than `most` characters, or too many code points."""
    points = len(text)  # each character has at least one, so most texts need no counting
    return points > MOST_CODE_POINTS or (points > most and characters(text) > most)


@dataclass(frozen=True, slots=True)
class MostCharacters:
    """Limit a text to `most` characters as readers see them; an annotation of a field."""

    most: int

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self._checked, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return handler(schema) | {"maxLength": MOST_CODE_POINTS, "maxCharacters": self.most}

    def _checked(self, text: str) -> str:
        if is_too_long(text, self.most):
            reason = "String should have at most {max_length} characters, and {code_points} code points"
            limits = {"max_length": self.most, "code_points": MOST_CODE_POINTS}
            raise PydanticCustomError("string_too_long", reason, limits)
        return text

"""Words of lines in ASCII, without a regular expression: that takes three times as long, at every line."""

_ASCII = map(chr, range(128))
_BLANK_FOR_REST = "".join(sign if sign.isalnum() or sign == "_" else " " for sign in _ASCII)
_BLANK_FOR_DIGITS = "".join(sign if sign.isalpha() else " " for sign in _BLANK_FOR_REST)


def ascii_words(text: str) -> list[str]:
    """Return the letters, digits and underscores of a text of ASCII alone that stand together."""
    return text.translate(_BLANK_FOR_REST).split()


def ascii_letters(text: str) -> list[str]:
    """Return the letters of a text of ASCII alone that stand together."""
    return text.translate(_BLANK_FOR_DIGITS).split()

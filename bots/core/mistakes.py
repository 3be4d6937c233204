"""Describe validation errors in words."""

from pydantic import ValidationError


def mistakes(error: ValidationError, whole: str = "the whole", most: int = 3) -> str:
    """Return the first `most` mistakes in `error`, each with its place; `whole` names the document.

    The input is not quoted: it may be long, or binary.
    """
    found = error.errors(include_url=False, include_input=False)[:most]
    return "; ".join(f"{'.'.join(map(str, each['loc'])) or whole}: {each['msg']}" for each in found)

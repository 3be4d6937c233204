"""Describe the mistakes of a document in words."""

from pydantic import ValidationError


def mistakes(error: ValidationError, whole: str = "the whole", most: int = 3) -> str:
    """Return the first `most` mistakes that `error` found, each with its place; `whole` names the document.

    What was given is not repeated: it may be long, or no text at all.
    """
    found = error.errors(include_url=False, include_input=False)[:most]
    return "; ".join(f"{'.'.join(map(str, each['loc'])) or whole}: {each['msg']}" for each in found)

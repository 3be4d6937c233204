"""Remove secrets from a study file for publication: completion codes, credit tokens, requests' secrets."""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import yaml

from server.study.document import read_document

LEFT_OUT = "REMOVED"
_ADDRESS = "https://removed.invalid/"  # where an address is expected (RFC 2606)
_CODES = ("completion_code", "credit_token")
_ADDRESSES = ("completion_url", "partial_url")  # these contain codes, too
SENT = ("headers", "query")  # settings of bots that are sent with a request, and may be secret
_WHY = f"# Codes, tokens, and what is sent to services beside a request, are left out ({LEFT_OUT}).\n"


def published(text: str) -> str:
    """Return the text of a study without its secrets; unchanged, with comments, if it has none.

    A text with secrets is written again without comments, because these may contain secrets as well. Bots'
    addresses stay: they contain neither keys nor passwords (`bots.endpoints`).

    Raises:
        Unreadable: It is no study file.
    """
    content = deepcopy(read_document(text).content)
    secret = list(_secrets(content))
    if not secret:
        return text
    for holder, key, instead in secret:
        holder[key] = instead
    return _WHY + yaml.safe_dump(content, allow_unicode=True, sort_keys=False)


def _secrets(content: dict[Any, Any]) -> Iterator[tuple[dict[Any, Any], Any, str]]:
    """Yield each secret's mapping and key, and its replacement."""
    for holder in (content, content.get("recruiter")):
        if isinstance(holder, dict):
            instead = dict.fromkeys(_CODES, LEFT_OUT) | {name: _ADDRESS + name for name in _ADDRESSES}
            yield from ((holder, name, text) for name, text in instead.items() if holder.get(name))
    bots = content.get("bots")
    for bot in bots.values() if isinstance(bots, dict) else ():
        for name in SENT if isinstance(bot, dict) else ():
            sent = bot.get(name)
            if isinstance(sent, dict):
                yield from ((sent, key, LEFT_OUT) for key in sent)

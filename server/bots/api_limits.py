"""Limit the keys, files and addresses that bots and studies from the API can reach."""

import json
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from urllib.parse import urlsplit

from bots import Endpoint
from server.errors import BotUnusable, StudyInvalid
from server.study import Study

CORPORA = "corpora"  # the folder, within the data folder


class ApiLimits:
    """Limits which keys may be sent where, and which files may be read.

    Args:
        keys: the environment variables that endpoints may use as keys, each with the hosts that it may be
            sent to. Without this limit, anybody who may name a bot could get the server's keys sent to their
            own address.
        corpora: the folder of corpora that studies may use besides the builtin ones. Without this limit,
            anybody who may write a study could make the server read any file, or an endless one.
    """

    def __init__(self, keys: Mapping[str, Collection[str]], corpora: Path) -> None:
        self._keys = keys
        self._corpora = corpora

    def require_key(self, endpoint: Endpoint, urls: Iterable[str] | None = None) -> None:
        """Check that the key of `endpoint`, if any, may be sent to `urls`; by default, to the endpoint's own.

        Raises BotUnusable.
        """
        key = getattr(endpoint, "key", None)
        if key is None:
            return
        sent_to: Iterable[str] = getattr(endpoint, "urls", ()) if urls is None else urls
        hosts = {urlsplit(url.strip()).hostname or url for url in sent_to}
        forbidden = hosts - set(self._keys.get(key, ()))
        if forbidden:
            allowing = json.dumps({key: sorted(hosts | set(self._keys.get(key, ())))})
            raise BotUnusable(
                f"the environment variable {key} may not be sent as a key to {', '.join(sorted(forbidden))}",
                f"The server's operator can allow it: CANDOR_BOT_KEYS='{allowing}'.",
            )

    def require_keys(self, study: Study) -> None:
        """Check the keys of a study's own bots, as `require_key`. Raises BotUnusable."""
        for name, endpoint in study.bots.items():
            try:
                self.require_key(endpoint)
            except BotUnusable as error:
                raise BotUnusable(f"bot `{name}`: {error.message}", error.hint) from error

    def require_corpora(self, study: Study) -> None:
        """Check that a study uses only corpora that it may read. Raises StudyInvalid."""
        for corpus in (study.corpus, study.qc.corpus):
            if not corpus.startswith("builtin:") and not self._has(corpus):
                raise StudyInvalid(
                    f"corpus `{corpus}` is not in the folder `{CORPORA}` of the server's data",
                    "Ask the server's operator to put the file there and to tell you its full path, or open "
                    "the run with `candor run open`.",
                )

    def _has(self, corpus: str) -> bool:
        try:
            return Path(corpus).resolve().is_relative_to(self._corpora.resolve())
        except (OSError, RuntimeError, ValueError):  # not a path, or a cycle of links
            return False

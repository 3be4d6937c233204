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
    """Checks which keys are sent where, and which files are read.

    Args:
        keys: the environment variables that an endpoint may name as its key, each with the hosts that it may
            be sent to. Otherwise whoever may name a bot could have the server's keys sent to an address of
            theirs.
        corpora: the folder of what a study may learn from, besides the corpora that are shipped. Otherwise
            whoever may write a study could have any file of the server read, or one without an end.
    """

    def __init__(self, keys: Mapping[str, Collection[str]], corpora: Path) -> None:
        self._keys = keys
        self._corpora = corpora

    def require_key(self, endpoint: Endpoint, urls: Iterable[str] | None = None) -> None:
        """Check that the key of `endpoint`, if it names one, may be sent to `urls`, or else to its own.

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
                f"as a key, the environment variable {key} may not be sent to {', '.join(sorted(forbidden))}",
                f"Whoever runs the server can allow it: CANDOR_BOT_KEYS='{allowing}'.",
            )

    def require_keys(self, study: Study) -> None:
        """Check the keys of a study's own bots, as `require_key`. Raises BotUnusable."""
        for name, endpoint in study.bots.items():
            try:
                self.require_key(endpoint)
            except BotUnusable as error:
                raise BotUnusable(f"bot `{name}`: {error.message}", error.hint) from error

    def require_corpora(self, study: Study) -> None:
        """Check that a study learns from what it may read. Raises StudyInvalid."""
        for corpus in (study.corpus, study.qc.corpus):
            if not corpus.startswith("builtin:") and not self._has(corpus):
                raise StudyInvalid(
                    f"corpus `{corpus}` is not in the folder `{CORPORA}` of the server's data",
                    "Whoever runs the server can put the file there, and tell you its whole path; or open "
                    "the run with `candor run open`.",
                )

    def _has(self, corpus: str) -> bool:
        try:
            return Path(corpus).resolve().is_relative_to(self._corpora.resolve())
        except (OSError, RuntimeError, ValueError):  # no path at all, or links that lead to each other
            return False

"""Configure the log: one JSON object per line, with the id of its request, and without secrets."""

import logging
import re
import sys
from collections.abc import Sequence
from contextlib import suppress

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

# Workers' tokens, as `access.auth` signs them, and passwords in URLs.
_SECRETS = re.compile(r"[\w-]{8,}\.[\w-]{6}\.[\w-]{27}(?![\w-])|(?<=://)[^\s:@/\"]*:[^\s@/\"]+(?=@)")
_HIDDEN = "***"


def configure_logging(secrets: Sequence[str] = ()) -> None:
    """Log to standard error from now on. Log records of libraries get the same shape.

    Args:
        secrets: texts to hide in all lines. Workers' tokens and passwords in URLs are also hidden.
    """
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
    ]
    last: list[Processor] = [structlog.processors.JSONRenderer(ensure_ascii=False), _Hiding(secrets)]
    structlog.configure(
        processors=[*shared, *last],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=lambda *_: _Lines(sys.stderr),
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[structlog.stdlib.add_logger_name, *shared],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *last],
        )
    )
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)


class _Lines(structlog.PrintLogger):
    """Writes lines. A line that cannot be written, such as to a full disk, is lost without an error."""

    def msg(self, message: str) -> None:
        """Write a line."""
        with suppress(OSError):
            super().msg(message)

    log = debug = info = warn = warning = msg
    fatal = failure = err = error = critical = exception = msg


class _Hiding:
    """The last processor, which hides secrets in the line."""

    def __init__(self, secrets: Sequence[str]) -> None:
        known = "|".join(re.escape(secret) for secret in secrets if secret)
        self._secrets = re.compile(f"{known}|{_SECRETS.pattern}" if known else _SECRETS.pattern)

    def __call__(self, _logger: WrappedLogger, _method: str, line: EventDict | str) -> str:
        """Return the line without its secrets."""
        return self._secrets.sub(_HIDDEN, str(line))

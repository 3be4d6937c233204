"""The Redis of an installation, looked at before a server uses it."""

from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import AuthenticationError, RedisError, ResponseError
from redis.exceptions import ConnectionError as Unreachable
from redis.exceptions import TimeoutError as Silent
from redis.retry import Retry
from rich.markup import escape

from bots import stderr
from server.config import without_password
from server.errors import CandorError

_SECONDS = 5
_HOW_TO_WRITE = (
    "Write CANDOR_REDIS_URL as redis://:PASSWORD@HOST:6379/0 (rediss:// over TLS), signs such as @ : / in "
    "the password as %40 %3A %2F; or leave it away, where one process serves."
)


def check_redis(url: str) -> None:
    """Check that a Redis can be used, and warn where it cannot be reached or throws away what it holds.

    One that cannot be reached stops no server: what it carries may be lost, and it is found when it is back.

    Raises:
        CandorError: the URL is none, or the Redis refuses us.
    """
    shown = without_password(url)
    try:
        retry = Retry(NoBackoff(), 0)
        client = Redis.from_url(
            url, socket_timeout=_SECONDS, socket_connect_timeout=_SECONDS, decode_responses=True, retry=retry
        )
    except ValueError as error:
        raise CandorError(f"{shown} is not the URL of a Redis", _HOW_TO_WRITE) from error
    try:
        client.ping()
        policy = _eviction(client)
    except AuthenticationError as error:
        reason = f"the Redis {shown} does not let this server in: {error}"
        raise CandorError(reason, "Check the user and the password in CANDOR_REDIS_URL.") from error
    except (Unreachable, Silent, OSError) as error:
        _warn(
            f"the Redis {shown} cannot be reached ({type(error).__name__}).",
            "The server starts without it, and finds it when it is there: until then processes hear of each "
            "other later, and count limits each for itself. Check CANDOR_REDIS_URL if it should be there.",
        )
        return
    except RedisError as error:
        raise CandorError(f"the Redis {shown} cannot be used: {error}", _HOW_TO_WRITE) from error
    finally:
        client.close()
    if policy not in {None, "noeviction"}:
        _warn(
            f"the Redis {shown} may throw away what it holds: its maxmemory-policy is {policy}.",
            "Work for bots could vanish, and be asked for again only after its time-out. Set "
            "`maxmemory-policy noeviction` in redis.conf, or use a Redis that is Candor's own.",
        )


def _eviction(client: Redis) -> str | None:
    """Return what Redis does when its memory is full; None where it has no limit, or does not say."""
    try:
        found = client.config_get("maxmemory*")
    except ResponseError:  # some providers forbid the question
        return None
    return None if found.get("maxmemory", "0") == "0" else str(found.get("maxmemory-policy"))


def _warn(what: str, then: str) -> None:
    stderr.print(f"[yellow]Warning:[/] {escape(what)} {escape(then)}", soft_wrap=True)

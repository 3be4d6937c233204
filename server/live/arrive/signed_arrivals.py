"""Check the platform's signature of an arrival, if the study requires one."""

from collections.abc import Mapping
from dataclasses import replace
from urllib.parse import quote

from server.db.recruiting.recruitments import leads_to_run
from server.db.store import Store
from server.errors import LinkAltered, LinkExpired, LinkUnsigned, NotAuthorised, PlatformFailed
from server.recruiters.arrival import Arrival
from server.recruiters.recruiter import PAYING, Parameters, PayingRecruiter
from server.recruiters.signatures import Expired, Forged, KeysUnavailable


class SignedArrivals:
    """Check the signed arrivals of every run of this server."""

    def __init__(self, store: Store, apis: Mapping[str, str], public_url: str) -> None:
        """Read keys from `apis`, by recruiter; participants' links begin with `public_url`.

        `store` tells which run a platform's study belongs to.
        """
        self._store = store
        self._signatures = {
            kind: made
            for kind, api in apis.items()
            if (made := PAYING[kind].arrival_signatures(api)) is not None
        }
        self._public_url = public_url

    async def checked(
        self, recruiter: PayingRecruiter, run: str, parameters: Parameters
    ) -> tuple[Arrival | None, NotAuthorised | None]:
        """Return the worker whom the parameters of a run's address name, and an error if that is not proven.

        It is not proven if the signature is missing or has expired after its two minutes, as when a page is
        reloaded. A worker who has been here before has a token of ours then, which proves who they are.

        Raises:
            LinkAltered: The platform has not signed these parameters, or signed them for another run's study.
            PlatformFailed: The platform's keys cannot be read; the page tries again.
        """
        platform, signatures = recruiter.title, self._signatures[recruiter.kind]
        token = parameters.get(signatures.parameter)
        if token is None:
            unsigned = LinkUnsigned(f"This study takes workers from {platform} only, by the link there")
            return recruiter.arrival(parameters), unsigned
        try:
            signed = await signatures.verified(token, f"{self._public_url}/w/{quote(run)}")
        except Expired:
            late = LinkExpired(
                f"This link was valid for two minutes only: open the study at {platform} again"
            )
            return recruiter.arrival(parameters), late
        except Forged as error:
            raise LinkAltered(f"This link is not as {platform} made it: {error}") from error
        except KeysUnavailable as error:
            raise PlatformFailed(str(error), "Try again in a moment.") from error
        named = recruiter.arrival(signed.parameters)
        given = {name: parameters[name] for name in signed.parameters if name in parameters}
        if named is None or named.visit not in {None, signed.submission}:
            raise LinkAltered(f"This link was changed after {platform} made it: it names no worker")
        if any(value != signed.parameters[name] for name, value in given.items()):
            raise LinkAltered(f"This link was changed after {platform} made it: it names another worker")
        if not await self._store.read(lambda connection: leads_to_run(connection, signed.study, run)):
            raise LinkAltered(f"This link is for another study: open this one at {platform} again")
        return replace(named, visit=signed.submission), None

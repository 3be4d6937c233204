"""The files that jobs have made, each job's in a folder of its own, and links that open them without a token.

A frame and a download cannot send a header. Who may have the files is asked when the link is made; it opens
those of that one job, and nothing after some hours.
"""

import shutil
from pathlib import Path
from typing import Any

from itsdangerous import BadSignature, URLSafeTimedSerializer

from server.db.jobs import JobKind
from server.errors import JobNotFound, TokenInvalid

LINK_SECONDS = 12 * 3600


class JobFiles:
    """The files of the jobs of one kind."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def folder(self, job: str) -> Path:
        """Return where the files of a job lie, be they there or not."""
        return self._folder / job

    def prepared(self, job: str) -> Path:
        """Return where the files of a job go, in a folder that nobody but the server's user opens."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._folder.chmod(0o700)  # an earlier version let others read
        return self.folder(job)

    def file(self, job: str, name: str) -> Path:
        """Return where a file of a job lies. Raises JobNotFound: it is not there, or no longer."""
        folder = self.folder(job)
        if not folder.is_dir() or name not in {path.name for path in folder.iterdir()}:
            raise JobNotFound(f"this file, `{name}`, was removed, or never made")
        return folder / name

    def listed(self, job: str) -> list[dict[str, Any]]:
        """Return the names of a job's files, and how long they are."""
        files = sorted(path for path in self.folder(job).iterdir() if path.is_file())
        return [{"name": path.name, "bytes": path.stat().st_size} for path in files]

    def jobs(self) -> set[str]:
        """Return the jobs that have a folder."""
        return {path.name for path in self._folder.iterdir()} if self._folder.is_dir() else set()

    def remove(self, job: str) -> None:
        """Remove the files of a job, as far as there are any."""
        shutil.rmtree(self.folder(job), ignore_errors=True)


class FileLinks:
    """Makes and reads links to files of jobs, signed with the installation's secret."""

    def __init__(self, secret: str) -> None:
        self._secret = secret

    def link(self, kind: JobKind, job: str) -> str:
        """Return the path under which the files of a job lie, with a slash at its end."""
        return f"/{kind}s/{self._serializer(kind).dumps(job)}/"

    def job(self, kind: JobKind, signed: str) -> str:
        """Return the job that a link leads to. Raises TokenInvalid: it is not ours, or is too old."""
        try:
            return str(self._serializer(kind).loads(signed, max_age=LINK_SECONDS))
        except BadSignature as error:
            raise TokenInvalid(
                "this link to a file is not valid, or no longer", "Open the file from the desk again."
            ) from error

    def _serializer(self, kind: JobKind) -> URLSafeTimedSerializer:
        return URLSafeTimedSerializer(self._secret, salt=kind)

"""The files of jobs, one folder per job, and signed links to them that need no token.

Frames and downloads cannot send a header. So permission is checked when a link is created; the link is valid
for the files of one job, for some hours.
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
        """Return the folder of a job, whether or not it exists."""
        return self._folder / job

    def prepared(self, job: str) -> Path:
        """Return the folder for a new job's files, inside a folder that only the server's user can open."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._folder.chmod(0o700)  # an earlier version let others read
        return self.folder(job)

    def file(self, job: str, name: str) -> Path:
        """Return the path of a job's file. Raises JobNotFound if it does not exist (any more)."""
        folder = self.folder(job)
        if not folder.is_dir() or name not in {path.name for path in folder.iterdir()}:
            raise JobNotFound(f"the file `{name}` was removed, or never existed")
        return folder / name

    def listed(self, job: str) -> list[dict[str, Any]]:
        """Return the names and sizes of a job's files."""
        files = sorted(path for path in self.folder(job).iterdir() if path.is_file())
        return [{"name": path.name, "bytes": path.stat().st_size} for path in files]

    def jobs(self) -> set[str]:
        """Return the jobs that have a folder."""
        return {path.name for path in self._folder.iterdir()} if self._folder.is_dir() else set()

    def remove(self, job: str) -> None:
        """Remove the files of a job, if there are any."""
        shutil.rmtree(self.folder(job), ignore_errors=True)


class FileLinks:
    """Creates and reads links to files of jobs, signed with the installation's secret."""

    def __init__(self, secret: str) -> None:
        self._secret = secret

    def link(self, kind: JobKind, job: str) -> str:
        """Return the path of a signed link to a job's files, with a slash at the end."""
        return f"/{kind}s/{self._serializer(kind).dumps(job)}/"

    def job(self, kind: JobKind, signed: str) -> str:
        """Return the job of a link. Raises TokenInvalid if the signature is wrong or the link has expired."""
        try:
            return str(self._serializer(kind).loads(signed, max_age=LINK_SECONDS))
        except BadSignature as error:
            raise TokenInvalid(
                "this link to a file is not valid (any more)", "Open the file from the desk again."
            ) from error

    def _serializer(self, kind: JobKind) -> URLSafeTimedSerializer:
        return URLSafeTimedSerializer(self._secret, salt=kind)

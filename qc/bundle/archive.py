"""Write reproducible ZIP archives, and read archives from untrusted sources.

No member is unpacked to a path from the archive.
"""

import zipfile
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from secrets import token_hex

from qc.errors import OutputError, SourceError
from qc.formats.archive import DAMAGED, require_bounded_zip

MOST_FILES = 1_000
# The earliest time in ZIP, so that the bytes do not depend on the time of packing.
_TIME = (1980, 1, 1, 0, 0, 0)
_PLAIN_FILE = 0o100644 << 16
_LINK, _KIND = 0o120000, 0o170000


def write_archive(path: Path, files: Mapping[str, bytes]) -> None:
    """Write `files` by name as a ZIP; the same files give the same bytes with the same zlib.

    The archive appears only when it is complete; an existing file is replaced.

    Raises:
        OutputError: it cannot be written.
    """
    unfinished = path.with_name(f".{path.name}.{token_hex(4)}.part")  # unique, for parallel writes
    try:
        unfinished.touch(mode=0o600)  # private: it holds workers' texts
        with zipfile.ZipFile(unfinished, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
            for name in sorted(files):
                member = zipfile.ZipInfo(name, _TIME)
                member.external_attr = _PLAIN_FILE
                member.create_system = 3
                member.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(member, files[name])
        unfinished.replace(path)
    except OSError as error:
        raise OutputError(f"{path}: the bundle cannot be written ({error.strerror or error}).") from None
    finally:
        unfinished.unlink(missing_ok=True)


def read_archive(path: Path) -> dict[str, bytes]:
    """Return the files of a ZIP by name.

    Raises:
        SourceError: it is not a ZIP, is damaged, or has content that no bundle has: names that lead outside,
            repeated names, links, too many files or too much data.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            members = [member for member in archive.infolist() if not member.is_dir()]
            _require_harmless(path, members)
            return {member.filename: archive.read(member) for member in members}
    except (OSError, *DAMAGED) as error:
        raise SourceError(f"{path}: this cannot be read as a bundle ({error}). Get it again.") from None


def _require_harmless(path: Path, members: list[zipfile.ZipInfo]) -> None:
    names = [member.filename for member in members]
    bad = next((member.filename for member in members if not _is_harmless(member)), None)
    if bad is not None:
        raise SourceError(f"{path}: refused, because {bad!r} is no name of a file inside a bundle.")
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise SourceError(f"{path}: refused, because it holds {twice!r} twice.")
    if len(members) > MOST_FILES:
        raise SourceError(
            f"{path}: refused, because it holds {len(members)} files. A bundle has at most {MOST_FILES}."
        )
    require_bounded_zip(str(path), path.stat().st_size, members)


def _is_harmless(member: zipfile.ZipInfo) -> bool:
    name = member.orig_filename
    parts = PurePosixPath(name).parts
    return (
        bool(parts)
        and not name.startswith("/")
        and not {"\\", ":", "\0"} & set(name)
        and not {"..", "."} & set(name.split("/"))
        and (member.external_attr >> 16) & _KIND != _LINK
    )

"""`bundle.json`: the options and versions behind a bundle, and the hash of each of its files."""

import hashlib
import json
from collections.abc import Mapping
from importlib.metadata import version
from typing import Literal

from pydantic import ValidationError

from qc.errors import SourceError
from qc.formats.archive import MANIFEST
from qc.formats.published import StrictModel
from qc.options import AnalysisOptions

FORMAT: Literal["candor-bundle"] = "candor-bundle"
VERSION = 1
# Libraries that affect numbers and figures.
LIBRARIES = ("numpy", "scipy", "pandas", "pyarrow", "matplotlib")


class FileRecord(StrictModel):
    """Size and hash of a file when the bundle was made."""

    sha256: str
    bytes: int


class Options(StrictModel):
    """The analysis options (`AnalysisOptions`) in a manifest."""

    alpha: float
    seed: int
    bootstrap: int
    reward: float | None = None
    sections: list[str]


class Manifest(StrictModel):
    """The data needed to verify a bundle.

    Attributes:
        format: FORMAT.
        version: version of the bundle format. A reader refuses a version newer than its own.
        candor: version of Candor that made it.
        libraries: versions of LIBRARIES.
        options: options of the analysis.
        signature: signature of the analysis of the bundle's data.
        source_signature: signature of the same analysis of the source, whose workers had other names.
        names: names of the run, and of the second run if there is one; its files may lack them.
        workers: `renamed` for the bundle, or `pseudonyms` of the server that collected the data.
        unreported: why it has no report, if it has none.
        files: all other files of the bundle.
    """

    format: Literal["candor-bundle"] = FORMAT
    version: int = VERSION
    candor: str
    libraries: dict[str, str]
    options: Options
    signature: str
    source_signature: str
    names: list[str]
    workers: Literal["renamed", "pseudonyms"]
    unreported: str | None = None
    files: dict[str, FileRecord]


def options_of(options: AnalysisOptions) -> Options:
    """Convert analysis options for the manifest."""
    return Options(
        alpha=options.alpha,
        seed=options.seed,
        bootstrap=options.bootstrap,
        reward=options.reward,
        sections=sorted(options.sections),
    )


def chosen(options: Options) -> AnalysisOptions:
    """Convert manifest options for an analysis. Raises OptionError if a value is invalid."""
    return AnalysisOptions(
        alpha=options.alpha,
        seed=options.seed,
        bootstrap=options.bootstrap,
        reward=options.reward,
        sections=frozenset(options.sections),
    )


def versions() -> dict[str, str]:
    """Return the installed versions of LIBRARIES."""
    return {name: version(name) for name in LIBRARIES}


def records(files: Mapping[str, bytes]) -> dict[str, FileRecord]:
    """Return the size and hash of each file."""
    return {
        name: FileRecord(sha256=hashlib.sha256(content).hexdigest(), bytes=len(content))
        for name, content in sorted(files.items())
    }


def written(manifest: Manifest) -> bytes:
    """Return the content of the file MANIFEST."""
    # Older readers do not know this field, so write it only if needed.
    without = {"unreported"} if manifest.unreported is None else set()
    return (json.dumps(manifest.model_dump(exclude=without), indent=1, ensure_ascii=False) + "\n").encode()


def read_manifest(source: str, files: Mapping[str, bytes]) -> Manifest:
    """Return the manifest among `files`.

    Raises:
        SourceError: there is none, it is damaged, or its version is newer than this program reads.
    """
    if MANIFEST not in files:
        raise SourceError(f"{source}: there is no {MANIFEST} in it, so it is not a bundle of Candor.")
    try:
        manifest = Manifest.model_validate_json(files[MANIFEST])
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise SourceError(
            f"{source}: {MANIFEST} is damaged ({where}: {first['msg']}). Get it again."
        ) from None
    if manifest.version > VERSION:
        raise SourceError(
            f"{source}: this bundle has version {manifest.version}, and this program reads {VERSION}. "
            f"Install Candor {manifest.candor}."
        )
    return manifest

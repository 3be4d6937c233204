"""`bundle.json`: what a bundle was made of and by, and what each of its files was."""

import hashlib
import json
from collections.abc import Mapping
from importlib.metadata import version
from typing import Literal

from pydantic import ValidationError

from qc.errors import SourceError
from qc.formats.bundle import MANIFEST
from qc.formats.published import StrictModel
from qc.options import AnalysisOptions

FORMAT: Literal["candor-bundle"] = "candor-bundle"
VERSION = 1
# What numbers and figures are computed and drawn by.
LIBRARIES = ("numpy", "scipy", "pandas", "pyarrow", "matplotlib")


class FileRecord(StrictModel):
    """What a file was when the bundle was made."""

    sha256: str
    bytes: int


class Options(StrictModel):
    """What was chosen of `AnalysisOptions`."""

    alpha: float
    seed: int
    bootstrap: int
    reward: float | None = None
    sections: list[str]


class Manifest(StrictModel):
    """All that a verifier needs to know of a bundle.

    Attributes:
        format: FORMAT.
        version: of bundles. A reader refuses a version newer than its own.
        candor: version of what made it.
        libraries: versions of LIBRARIES.
        options: of the analysis.
        signature: of the analysis of what is in the bundle.
        source_signature: of the same analysis of the source, whose workers had other names.
        workers: `renamed` here, or `pseudonyms` of the server that collected the data.
        unreported: why there is no report in it, if there is none.
        files: every other file of the bundle.
    """

    format: Literal["candor-bundle"] = FORMAT
    version: int = VERSION
    candor: str
    libraries: dict[str, str]
    options: Options
    signature: str
    source_signature: str
    workers: Literal["renamed", "pseudonyms"]
    unreported: str | None = None
    files: dict[str, FileRecord]


def options_of(options: AnalysisOptions) -> Options:
    """Return what was chosen, as it stands in a manifest."""
    return Options(
        alpha=options.alpha,
        seed=options.seed,
        bootstrap=options.bootstrap,
        reward=options.reward,
        sections=sorted(options.sections),
    )


def chosen(options: Options) -> AnalysisOptions:
    """Return the options as an analysis takes them. Raises OptionError: a value makes no sense."""
    return AnalysisOptions(
        alpha=options.alpha,
        seed=options.seed,
        bootstrap=options.bootstrap,
        reward=options.reward,
        sections=frozenset(options.sections),
    )


def versions() -> dict[str, str]:
    """Return the versions of LIBRARIES that are installed."""
    return {name: version(name) for name in LIBRARIES}


def records(files: Mapping[str, bytes]) -> dict[str, FileRecord]:
    """Return what each file is."""
    return {
        name: FileRecord(sha256=hashlib.sha256(content).hexdigest(), bytes=len(content))
        for name, content in sorted(files.items())
    }


def written(manifest: Manifest) -> bytes:
    """Return the content of the file MANIFEST."""
    # A reader from before there were bundles without a report knows no such field.
    without = {"unreported"} if manifest.unreported is None else set()
    return (json.dumps(manifest.model_dump(exclude=without), indent=1, ensure_ascii=False) + "\n").encode()


def read_manifest(source: str, files: Mapping[str, bytes]) -> Manifest:
    """Return the manifest among `files`.

    Raises:
        SourceError: there is none, it is damaged, or it is of a newer version.
    """
    if MANIFEST not in files:
        raise SourceError(f"{source}: there is no {MANIFEST} in it, so it is no bundle of Candor's.")
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
            f"{source}: this bundle is of version {manifest.version}, and this program reads {VERSION}. "
            f"Install Candor {manifest.candor}."
        )
    return manifest

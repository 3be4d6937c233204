"""Verify a bundle by its hashes and a new analysis of its data: `python -m qc.bundle.verify BUNDLE`."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer
from pydantic_core import from_json

from qc.bundle.certificate import BADGE, CERTIFICATE, LINE
from qc.bundle.making import PREREGISTRATION, README, REPORT, SIGNATURE, STUDY, Reported, report_on
from qc.bundle.manifest import Manifest, chosen, read_manifest, records, versions
from qc.command import output_console, progress, stderr_console
from qc.errors import QcError
from qc.formats.archive import MANIFEST, RUN, SECOND, data_file, read_archive
from qc.options import OnStep, no_step
from qc.render.manifest import DOCUMENT

STEPS = 3
DOCUMENT_NAME = f"report/{DOCUMENT.name}"
SHOWN = 20
# Candor 0.1 made bundles without a certificate.
UNCERTIFIED = "0.1."
CERTIFICATE_FILES = frozenset({CERTIFICATE, BADGE, LINE})
# Files of a bundle that its data do not give.
GIVEN = frozenset({STUDY, README, SIGNATURE, PREREGISTRATION, MANIFEST})


@dataclass(frozen=True)
class Checked:
    """Result of a check.

    Attributes:
        signature: signature of the new analysis; None if it failed.
        expected: the signature in the bundle's manifest.
        differences: a sentence for each difference; empty if the bundle is verified.
        remarks: possible reasons for differences: different versions of programs.
        refused: why the data cannot be analysed, if the bundle says so too.
        line: the certificate that the data give, as a line for a paper; "" if they give none.
    """

    signature: str | None
    expected: str
    differences: tuple[str, ...]
    remarks: tuple[str, ...]
    refused: str | None = None
    line: str = ""


def check_bundle(path: Path, on_step: OnStep = no_step, published: Path | None = None) -> Checked:
    """Check the bundle at `path` against its manifest.

    Args:
        path: path of the archive.
        on_step: called with a description when each of the STEPS begins.
        published: a certificate from elsewhere, to compare with the one that the data give.

    Raises:
        SourceError: it cannot be read, is not a bundle, or is refused (`qc.formats.archive.read_archive`).
    """
    on_step("Reading the bundle")
    files = read_archive(path)
    manifest = read_manifest(str(path), files)
    differences = list(_changed(files, manifest))
    remarks = tuple(_versions(manifest))
    uncertified = manifest.candor.startswith(UNCERTIFIED) and not CERTIFICATE_FILES & files.keys()
    if uncertified:
        remarks += (f"There is no certificate in it: Candor {manifest.candor} made none.",)
    on_step("Analysing its data anew")
    try:
        again = _again(files, manifest)
    except QcError as error:
        differences.append(f"The data cannot be analysed: {error}")
        return Checked(None, manifest.signature, tuple(differences), remarks)
    on_step("Comparing")
    if again.signature != manifest.signature:
        differences += _signatures(manifest.signature, again.signature)
    differences += _refusals(manifest.unreported, again.refused)
    left_out = CERTIFICATE_FILES if uncertified else frozenset()
    report = {name: content for name, content in again.files.items() if name not in left_out}
    differences += _reports(files, again._replace(files=report), manifest.files.keys())
    if published is not None:
        differences += _published(published, again)
    line = report.get(LINE, b"").decode().strip()
    return Checked(again.signature, manifest.signature, tuple(differences), remarks, again.refused, line)


def _changed(files: Mapping[str, bytes], manifest: Manifest) -> Iterator[str]:
    """Yield the differences between the files and the manifest."""
    found = records({name: content for name, content in files.items() if name != MANIFEST})
    for name in sorted(manifest.files.keys() - found.keys()):
        yield f"{name} is missing."
    for name in sorted(found.keys() - manifest.files.keys()):
        yield f"{name} was added: {MANIFEST} does not name it."
    for name in sorted(found.keys() & manifest.files.keys()):
        was, now = manifest.files[name], found[name]
        if was != now:
            yield f"{name} was changed: {was.bytes} bytes when the bundle was made, {now.bytes} now."


def _versions(manifest: Manifest) -> Iterator[str]:
    if manifest.candor != version("candor-eval"):
        yield f"The bundle was made by Candor {manifest.candor}, and this is {version('candor-eval')}."
    now = versions()
    for name, was in sorted(manifest.libraries.items()):
        if name in now and now[name] != was:
            yield f"It was made with {name} {was}, and here is {now[name]}."


def _again(files: Mapping[str, bytes], manifest: Manifest) -> Reported:
    """Analyse the data again."""
    with TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "data").mkdir()
        for run in (RUN, SECOND):
            if name := data_file(run, files):
                (place / name).write_bytes(files[name])
        if PREREGISTRATION in files:
            (place / PREREGISTRATION).write_bytes(files[PREREGISTRATION])
        return report_on(place, chosen(manifest.options), manifest.names)


def _refusals(was: str | None, now: str | None) -> Iterator[str]:
    """Yield a difference in whether the data can be analysed."""
    if was is None and now is not None:
        yield f"The data cannot be analysed: {now}"
    elif was is not None and now is None:
        yield "The data can be analysed, and the bundle says that they cannot."


def _signatures(was: str, now: str) -> Iterator[str]:
    """Yield each differing part of two signatures."""
    before, after = (dict(part.partition("=")[::2] for part in text.split("|")) for text in (was, now))
    for key in dict.fromkeys([*before, *after]):
        if before.get(key) != after.get(key):
            yield (
                f"Signature: {key} is {after.get(key, 'absent')} and was {before.get(key, 'absent')} when "
                "the bundle was made."
            )


def _reports(files: Mapping[str, bytes], again: Reported, known: Any) -> Iterator[str]:
    """Yield the differences between the bundle's report and the new one."""
    report = again.files
    for name in sorted(report):
        if name not in files or files[name] == report[name]:
            continue
        if name in (DOCUMENT_NAME, CERTIFICATE):
            yield from documents(name, files[name], report[name])
        else:
            yield f"{name} is not what the data give."
    for name in sorted(report.keys() - files.keys() - set(known)):
        yield f"{name} is not in the bundle, but its data give it."
    data = {data_file(run, files) for run in (RUN, SECOND)}
    for name in sorted(files.keys() & set(known) - report.keys() - GIVEN - data):
        if again.refused is not None and name.startswith(REPORT):
            yield f"{name} is in the bundle, and its data give no report."
        elif name in CERTIFICATE_FILES:
            yield f"{name} is in the bundle, and its data give no certificate."
        else:
            yield f"{name} is in the bundle, and its data do not give it."
    if SIGNATURE in files and f"{again.signature}\n".encode() != files[SIGNATURE]:
        yield f"{SIGNATURE} is not the signature of the data."


def _published(certificate: Path, again: Reported) -> Iterator[str]:
    """Yield the differences between a certificate from elsewhere and that of the data."""
    content = certificate.read_bytes()
    if CERTIFICATE not in again.files:
        yield f"{certificate} is not of this bundle: its data give no certificate."
    elif content != again.files[CERTIFICATE]:
        yield from documents(str(certificate), content, again.files[CERTIFICATE])


def documents(name: str, was: bytes, now: bytes) -> Iterator[str]:
    """Yield each value that differs between two documents in JSON, the file `name` and the new one."""
    try:
        before = from_json(was)
    except ValueError:
        yield f"{name} is no JSON any more."
        return
    found = list(_values(before, from_json(now), ""))
    for where, old, new in found[:SHOWN]:
        yield f"{name}: {where} is {_short(old)}, and the data give {_short(new)}."
    if len(found) > SHOWN:
        yield f"{name}: {len(found) - SHOWN} more values differ."
    if not found:
        yield f"{name} says the same in other bytes."


def _values(was: Any, now: Any, where: str) -> Iterator[tuple[str, Any, Any]]:
    """Yield the location of each differing value, and both values."""
    if isinstance(was, dict) and isinstance(now, dict):
        for key in dict.fromkeys([*was, *now]):
            yield from _values(was.get(key), now.get(key), f"{where}.{key}" if where else key)
    elif isinstance(was, list) and isinstance(now, list) and len(was) == len(now):
        for number, (old, new) in enumerate(zip(was, now, strict=True)):
            yield from _values(old, new, f"{where}[{number}]")
    elif was != now:
        yield where, was, now


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else f"{text[:79]}…"


EXIT_DIFFERENT = 1

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="rich")


@app.command()
def verify(
    bundle: Annotated[Path, typer.Argument(metavar="BUNDLE", help="An archive of `candor data bundle`.")],
    certificate: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            exists=True,
            dir_okay=False,
            help="A certificate that was published elsewhere: is it that of this bundle?",
        ),
    ] = None,
) -> None:
    """Compare each file of a bundle with its hash, analyse its data again, and list the differences.

    The report and the certificate must be those that the data give, to the digit.

    The exit status is 0 without differences, 1 with differences, and 2 if the file is not a bundle.
    """
    with stderr_console() as stderr, progress(stderr, STEPS) as on_step:
        checked = check_bundle(bundle, on_step, certificate)
    console = output_console()
    for line in (*checked.remarks, *checked.differences):
        console.print(line, soft_wrap=True)
    if checked.differences:
        console.print(f"{bundle}: NOT verified, {len(checked.differences)} differences.", soft_wrap=True)
        raise typer.Exit(EXIT_DIFFERENT)
    if checked.refused is None:
        what = "The data give the same report and the same signature"
    else:
        what = "There is no report, as the data cannot be analysed, but they have the same signature"
    console.print(f"{bundle}: verified. {what}:", soft_wrap=True)
    console.print(f"{checked.signature}", soft_wrap=True)
    if checked.line:
        console.print(f"Its certificate: {checked.line}", soft_wrap=True)


if __name__ == "__main__":
    app(prog_name="python -m qc.bundle.verify")

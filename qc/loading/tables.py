"""CSV files as people's programs write them: unpack, decode and split one, and say how it was read.

Spreadsheets write `;`, tabs, a first line `sep=;`, UTF-16 and capitalised headings; pandas adds an index
without a heading. Each is read where only one reading makes sense, and a note says so. Decimal commas, other
encodings and other columns without a heading are refused.
"""

import csv
import gzip
import re
import sys
import zlib
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from io import BufferedReader, BytesIO, StringIO
from itertools import chain
from pathlib import Path

from candor.common.files import MOST_BYTES, read_file
from qc.errors import DataError, Problem, SourceError, joined, quoted
from qc.formats.archive import require_bounded
from qc.names import clean

STANDARD_INPUT = "-"
GZIP = b"\x1f\x8b"
_UTF16 = (BOM_UTF16_LE, BOM_UTF16_BE)
_SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs"}
_DECLARED = re.compile(r'\s*"?sep=([,;\t])"?[ ;,]*\r?\n?', re.IGNORECASE)
_INDEX_HEADINGS = ("", "Unnamed: 0")  # pandas writes the first, and makes the second of it
_DECIMAL_COMMA = re.compile(r"\s*[+-]?\d*,\d+\s*")
_NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*")
_AS_UTF8 = (
    "Save it as UTF-8: in Excel, choose the file type 'CSV UTF-8'; in LibreOffice, choose the character set "
    "'Unicode (UTF-8)'."
)


@dataclass(frozen=True)
class CsvText:
    """A CSV file as text.

    Attributes:
        header: the clean headings; known ones in their own spelling.
        rows: the other rows; an empty line is an empty row.
        notes: how the file was read, if it was not a CSV with commas in UTF-8; at most one sentence.
    """

    header: list[str]
    rows: list[list[str]]
    notes: tuple[str, ...]


def read_table(path: Path, known: Mapping[str, str] | Sequence[str]) -> CsvText:
    """Read the CSV at `path`, or from standard input if it is `-`.

    Raises:
        OSError: it cannot be read, or is too large.
        SourceError, DataError: as `parse_table`.
    """
    name, content = str(path), _limited(path)
    if content.startswith(GZIP):
        content = unpacked(name, BytesIO(content)).read()
    named = known if isinstance(known, Mapping) else {each: each for each in known}
    return parse_table(name, content, named)


def _limited(path: Path) -> bytes:
    if str(path) != STANDARD_INPUT:
        return read_file(path)
    content = sys.stdin.buffer.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise SourceError(f"{path}: standard input has more than {MOST_BYTES // 1024**2} MB. Name a file.")
    return content


def unpacked(name: str, file: BytesIO | BufferedReader) -> BufferedReader:
    """Return the content of a file that gzip packed.

    Raises:
        SourceError: it is damaged, or unpacks to far more than a run does.
    """
    packed = file.read()
    found = BytesIO()
    try:
        with gzip.GzipFile(fileobj=BytesIO(packed)) as content:
            while some := content.read(1024**2):
                found.write(some)
                require_bounded(name, len(packed), found.tell())
    except (OSError, EOFError, zlib.error) as error:
        raise SourceError(f"{name}: this file of gzip is damaged ({error}). Get it again.") from None
    found.seek(0)
    return BufferedReader(found)


def as_utf8(name: str, content: bytes) -> bytes:
    """Return a text without its byte order mark, in UTF-8 if it was in UTF-16.

    Raises:
        SourceError: it begins like UTF-16, but is not.
    """
    if content.startswith(_UTF16):
        return _decoded(name, content).encode()
    return content.removeprefix(BOM_UTF8)


def _decoded(name: str, content: bytes) -> str:
    if content.startswith(_UTF16):
        try:
            return content.decode("utf-16")
        except UnicodeDecodeError as error:
            raise SourceError(f"{name}: this is not a text in UTF-16 ({error}). Get it again.") from None
    if b"\x00" in content[:1024]:
        raise SourceError(f"{name}: this is not a CSV in UTF-8, since it holds zero bytes. {_AS_UTF8}")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise SourceError(
            f"{name}: this is not a CSV in UTF-8, but probably in Windows-1252 or Latin-1 (line {line}: byte "
            f"0x{content[error.start]:02X}). {_AS_UTF8}"
        ) from None


def heading_of(beginning: bytes) -> str | None:
    """Return the first line below any `sep=` of what may be a CSV; None if it is JSON or has no separator."""
    if beginning.startswith(_UTF16):
        text = beginning[: len(beginning) // 2 * 2].decode("utf-16", "replace")
    else:
        text = beginning.decode("utf-8-sig", "replace")
    text = _DECLARED.sub("", text.lstrip(" \n\r"), count=1) if _DECLARED.match(text) else text
    first = text.lstrip(" \n\r").partition("\n")[0]
    return first if first[:1] not in ("{", "[") and any(each in first for each in _SEPARATORS) else None


def parse_table(name: str, content: bytes, known: Mapping[str, str], *, strict: bool = False) -> CsvText:
    """Return the table in `content`; the header is empty if there is none.

    Args:
        name: the name of the file, for messages.
        content: a CSV in UTF-8 or UTF-16.
        known: headings that have a meaning, and the names that the table gives them.
        strict: refuse misplaced quotation marks.

    Raises:
        SourceError: it is not text in UTF-8 or UTF-16, or not CSV.
        DataError: a column has no heading, or has decimal commas.
    """
    csv.field_size_limit(sys.maxsize)  # an answer holds six whole conversations; the default is 128 KiB
    text = _decoded(name, content)
    noticed = ["it is in UTF-16"] if content.startswith(_UTF16) else []
    declared = _DECLARED.match(text)
    text = text[declared.end() :] if declared else text
    separator = declared[1] if declared else _separator(text, known)
    if separator != ",":
        noticed.append(f"its cells are separated by {_SEPARATORS[separator]}")
    try:
        lines = list(csv.reader(StringIO(text, newline=""), delimiter=separator, strict=strict))
    except csv.Error as error:
        raise SourceError(f"{name}: this is not a CSV table ({error}). Save it as one.") from None
    start = next((number for number, line in enumerate(lines) if line), len(lines))
    if start == len(lines):
        return CsvText([], [], ())
    header, rows = list(map(clean, lines[start])), lines[start + 1 :]
    noticed += _without_index(header, rows)
    noticed += _renamed(header, known)
    _require_headings(name, header)
    if separator != ",":
        _require_decimal_points(name, header, rows)
    note = f"{name} is not a plain CSV. It was read all the same: {joined(noticed)}."
    return CsvText(header, rows, (note,) if noticed else ())


def _separator(text: str, known: Mapping[str, str]) -> str:
    """Return the separator by which the first line holds most headings that are known, or most at all."""
    names = {each.casefold() for each in known}
    first = next((line for line in StringIO(text, newline=None) if line.strip()), "")

    def fit(separator: str) -> tuple[int, int]:
        header = next(csv.reader([first], delimiter=separator), [])
        return sum(clean(each).casefold() in names for each in header), len(header)

    return max(_SEPARATORS, key=fit)


def _without_index(header: list[str], rows: Sequence[list[str]]) -> list[str]:
    """Take the index of a data frame, and a last column without heading and content, out of a table."""
    noticed = []
    if header[0] in _INDEX_HEADINGS and len(header) > 1:
        index = [row[0] for row in rows if row]
        if len(set(index)) == len(index) and all(each.isdecimal() for each in index):
            for row in (header, *rows):
                del row[:1]
            noticed.append("its first column, an index without a heading, is left out")
    width = len(header)
    while (
        width > 1 and not header[width - 1] and not any(chain.from_iterable(row[width - 1 :] for row in rows))
    ):
        width -= 1
    if width < len(header):
        for row in (header, *rows):
            del row[width:]
        noticed.append("empty columns at its end are left out")
    return noticed


def _renamed(header: list[str], known: Mapping[str, str]) -> list[str]:
    """Give known headings their names, also where they differ in case and nothing else has the name."""
    spelled = {each.casefold(): each for each in known}
    renamed = []
    header[:] = [known.get(each, each) for each in header]
    for place, given in enumerate(header):
        match = spelled.get(given.casefold())
        if match is not None and given not in known.values() and known[match] not in header:
            header[place] = known[match]
            renamed.append(f"{given!r} is read as {match!r}")
    return renamed


def _require_headings(name: str, header: Sequence[str]) -> None:
    problems = [
        Problem(f"column {number}", "has no heading.", "Write one, or take the column out.")
        for number, heading in enumerate(header, start=1)
        if not heading
    ]
    if problems:
        raise DataError(name, problems)


def _require_decimal_points(name: str, header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Refuse columns of numbers with decimal commas: `1,234` may be 1.234 or 1234."""
    cells = zip(*(row for row in rows if len(row) == len(header)), strict=True)
    problems = []
    for heading, column in zip(header, cells, strict=False):
        commas = [each for each in column if _DECIMAL_COMMA.fullmatch(each)]
        if commas and all(
            _DECIMAL_COMMA.fullmatch(each) or _NUMBER.fullmatch(each) or not each.strip() for each in column
        ):
            problems.append(
                Problem(
                    f"column {heading!r}",
                    f"holds {quoted(commas[0])}, a number with a comma.",
                    "Save the file with decimal points.",
                )
            )
    if problems:
        raise DataError(name, problems)

"""Markdown of the generated reference: tables, entries of lists, code and plain paragraphs."""

import json
import re
from collections.abc import Iterable


def table(columns: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a table in Markdown."""
    columns = list(columns)
    lines = [columns, ["---"] * len(columns), *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def entry(name: str, said: str, *facts: str) -> str:
    """Return an entry of a list: a name with facts, and a description below."""
    return f"- `{name}`{': ' if any(facts) else ''}{', '.join(filter(None, facts))}<br>{said}"


def in_code(value: object) -> str:
    """Return a value as code, as YAML and JSON write it."""
    return f"`{value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}`"


def plain(help_text: str) -> str:
    """Return help as Markdown of one paragraph."""
    return " ".join(re.sub(r"\\?\[/?(?:bold|dim|italic)?\]", "", help_text).split()).replace("<", "&lt;")

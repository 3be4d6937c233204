"""A data set for the Hugging Face Hub: a folder with Parquet, a card (README.md) and Croissant metadata.

The rows are those of the formats `openai` and `arena`, so those two read the folder. The card's header
is what the Hub reads. What only the author knows, such as the licence, is left to be filled in.
"""

import hashlib
import json
import re
from collections.abc import Sequence
from pathlib import Path

import yaml

from qc.convert.exchange import arena, openai
from qc.convert.exchange.content import Content
from qc.convert.exchange.rows import SIMULATED, Json
from qc.table import counted

HOLDS = frozenset({"workers", "ratings", "votes"})
_PARQUET = "data/train-00000-of-00001.parquet"
_FILE, _RECORDS = "train.parquet", "default"
_MESSAGES = frozenset({"messages", "conversation_a", "conversation_b"})
_TYPES = {"turn": "sc:Integer", "tstamp": "sc:Float", SIMULATED: "sc:Boolean"}
_CROISSANT = "http://mlcommons.org/croissant/1.0"
_CONTEXT: Json = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "conformsTo": "dct:conformsTo",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "samplingRate": "cr:samplingRate",
    **{
        name: f"cr:{name}"
        for name in (
            *(
                "extract",
                "field",
                "fileObject",
                "fileProperty",
                "fileSet",
                "format",
                "includes",
                "isLiveDataset",
            ),
            *(
                "jsonPath",
                "key",
                "md5",
                "parentField",
                "path",
                "recordSet",
                "references",
                "regex",
                "repeated",
            ),
            *("replace", "separator", "source", "subField", "transform"),
        )
    },
}
_COLUMNS = {
    "id": "the name of the conversation or vote",
    "model": "the system that wrote the replies",
    "messages": "the lines of the conversation, with roles `user` and `assistant`",
    "worker": "pseudonym of the person who chatted",
    "ratings": "that person's ratings, by criterion, as given",
    "model_a": "the first system",
    "model_b": "the second system",
    "winner": "what the voter preferred: `model_a`, `model_b` or `tie`",
    "judge": "pseudonym of the voter",
    "turn": "number of messages of the voter before the vote",
    "tstamp": "time of the vote, in seconds since 1970 (UTC)",
    "conversation_a": "the conversation with the first system, until the vote",
    "conversation_b": "the conversation with the second system, until the vote",
    SIMULATED: "true: programs took the place of people",
}


def write(content: Content, folder: Path) -> None:
    """Write the conversations or votes of `content` into an existing folder."""
    import pyarrow as pa  # noqa: PLC0415  # importing it takes longer than writing most files
    import pyarrow.parquet as pq  # noqa: PLC0415

    rows = list(arena.lines(content) if content.votes else openai.lines(content))
    names = [name for name in _COLUMNS if any(name in row for row in rows)]
    for row in rows:
        if "ratings" in row:
            row["ratings"] = {criterion: float(value) for criterion, value in row["ratings"].items()}
    table = pa.Table.from_pylist([{name: row.get(name) for name in names} for row in rows])
    (folder / "data").mkdir()
    pq.write_table(table, folder / _PARQUET)
    (folder / "README.md").write_text(_card(content, names, len(rows)), encoding="utf-8")
    metadata = json.dumps(_croissant(content, names, folder), ensure_ascii=False, indent=2)
    (folder / "croissant.json").write_text(metadata, encoding="utf-8")


def _card(content: Content, names: Sequence[str], count: int) -> str:
    """Return the README: what the Hub reads, then what people read."""
    sizes = {1_000: "n<1K", 10_000: "1K<n<10K", 100_000: "10K<n<100K", 1_000_000: "100K<n<1M"}
    header = {
        "pretty_name": content.name,
        "size_categories": [next((size for most, size in sizes.items() if count < most), "1M<n<10M")],
        "tags": ["human-evaluation", "conversational", *(["simulated"] if content.simulated else [])],
        "configs": [
            {"config_name": "default", "data_files": [{"split": "train", "path": "data/train-*"}]},
        ],
    }
    columns = "\n".join(f"- `{name}`: {_COLUMNS[name]}" for name in names)
    warning = "\n**Simulated workers:** programs took the place of people.\n" if content.simulated else ""
    return f"""---
{yaml.safe_dump(header, allow_unicode=True, sort_keys=False)}---

# {content.name}

{_described(content)}
{warning}
## Columns

{columns}

## To be filled in by the author

- Licence, language and citation (also `license` and `language` in the header of this file)
- Who took part, how they were paid, and what they consented to
- Purpose of the data, and what they must not be used for
"""


def _described(content: Content) -> str:
    if content.votes:
        return f"{counted(len(content.votes), 'vote')} between two conversations, one a row."
    return f"{counted(sum(1 for _ in content.conversations()), 'conversation')}, one a row."


def _croissant(content: Content, names: Sequence[str], folder: Path) -> Json:
    packed = (folder / _PARQUET).read_bytes()
    criteria = sorted({name for one in content.conversations() for name in one.ratings})
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": _CROISSANT,
        "name": re.sub(r"\W+", "-", content.name).strip("-") or "conversations",
        "description": _described(content),
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": _FILE,
                "name": _FILE,
                "contentUrl": _PARQUET,
                "encodingFormat": "application/x-parquet",
                "sha256": hashlib.sha256(packed).hexdigest(),
            }
        ],
        "recordSet": [
            {
                "@type": "cr:RecordSet",
                "@id": _RECORDS,
                "name": _RECORDS,
                "field": [_field(name, criteria) for name in names],
            }
        ],
    }


def _field(name: str, criteria: Sequence[str]) -> Json:
    field = {"@type": "cr:Field", "@id": f"{_RECORDS}/{name}", "name": name, "description": _COLUMNS[name]}
    if name in _MESSAGES:
        return field | {
            "repeated": True,
            "subField": [_part(name, key, "sc:Text") for key in ("role", "content")],
        }
    if name == "ratings":
        return field | {"subField": [_part(name, criterion, "sc:Float") for criterion in criteria]}
    source = {"fileObject": {"@id": _FILE}, "extract": {"column": name}}
    return field | {"dataType": _TYPES.get(name, "sc:Text"), "source": source}


def _part(column: str, key: str, data_type: str) -> Json:
    """Return the field for one key of the objects in a column."""
    return {
        "@type": "cr:Field",
        "@id": f"{_RECORDS}/{column}/{key}",
        "name": key,
        "dataType": data_type,
        "source": {
            "fileObject": {"@id": _FILE},
            "extract": {"column": column},
            "transform": {"jsonPath": key},
        },
    }

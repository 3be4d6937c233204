"""Present results: `show` prints a summary, `write` writes files into a directory."""

from qc.options import FORMATS
from qc.render.document import SCHEMA_VERSION, as_json
from qc.render.files import write, writing_steps
from qc.render.manifest import PAGE, tables
from qc.render.terminal import show

__all__ = [
    "FORMATS",
    "PAGE",
    "SCHEMA_VERSION",
    "as_json",
    "show",
    "tables",
    "write",
    "writing_steps",
]

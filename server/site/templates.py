"""Templates as pages; the files that pages load, under addresses that change with their content."""

import hashlib
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

STATIC = Path(__file__).parent / "static"
STATIC_PATH = "/static"
_TEMPLATES = Path(__file__).parent / "templates"


def rendered(template: str, **values: object) -> str:
    """Return a page; `values` are escaped where the template puts them."""
    return _environment().get_template(template).render(**values)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    environment.globals["static"] = _static
    return environment


@cache
def _static(name: str) -> str:
    """Return the address of a static file. A browser that keeps the file asks anew once it has changed."""
    digest = hashlib.sha256((STATIC / name).read_bytes()).hexdigest()
    return f"{STATIC_PATH}/{name}?{digest[:8]}"

"""Templates as pages; the files that pages load, under addresses that change with their content."""

import hashlib
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

STATIC = Path(__file__).parent / "static"
STATIC_PATH = "/static"
_TEMPLATES = Path(__file__).parent / "templates"


def rendered(template: str, **values: object) -> str:
    """Return a page; `values` are escaped where the template puts them.

    `root`, which every page needs, is how the root of this server is reached from the page: `./` or `../`. A
    proxy may serve that below a path.
    """
    return _ENVIRONMENT.get_template(template).render(**values)


@cache
def _static(name: str) -> str:
    """Return the address of a static file below the root.

    A browser that keeps the file asks anew once it has changed.
    """
    digest = hashlib.sha256((STATIC / name).read_bytes()).hexdigest()
    return f"{STATIC_PATH[1:]}/{name}?{digest[:8]}"


_ENVIRONMENT = Environment(
    loader=FileSystemLoader(_TEMPLATES), autoescape=True, undefined=StrictUndefined, trim_blocks=True
)
_ENVIRONMENT.globals["static"] = _static

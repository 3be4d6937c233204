"""The documentation as a site: `make docs` builds it into build/docs."""

import tomllib
from pathlib import Path

_PYPROJECT = Path(__file__).parents[1] / "pyproject.toml"
project = "Candor"
author = "The Candor founders"
release = tomllib.loads(_PYPROJECT.read_text("utf-8"))["project"]["version"]

extensions = ["myst_parser"]
myst_heading_anchors = 4
exclude_patterns = ["screenshots/README.md"]
html_extra_path = ["llms.txt"]
html_theme = "furo"
html_title = f"Candor {release}"
html_show_sphinx = False
html_show_copyright = False

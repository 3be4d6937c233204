"""Pages of the reference that follow from docstrings: packages with their modules, and stored data."""

import ast
import inspect
import tomllib
from collections.abc import Iterator
from importlib import import_module
from itertools import groupby
from pathlib import Path

from scripts.markdown import in_code, table
from server.db import tables
from server.db.tables.table import TableBase

ROOT = Path(__file__).parents[1]
# Packages whose own packages and modules the page lists, too.
OPENED = ("server/live", "server/db", "server/desk")

# The modules of tables, and their headings.
STORED = {
    "assignment": "Workers and their assignments",
    "recruiting": "Recruiting and pay",
    "access": "Researchers and access",
    "study": "Studies, runs and the server's own work",
}


def packages() -> str:
    """Return the page of the packages and their modules, by the first paragraph of each docstring."""
    parts = [
        "# Packages and modules\n",
        "For developers of Candor. A package ends in `/`. In `server/`, `bots/` and `qc/`, a module imports "
        "only modules below it. [Architecture](../architecture.md) explains how they work together.\n",
    ]
    for package in ("candor/common", "server", *OPENED, "bots", "qc"):
        rows = [(in_code(name), said) for name, said in modules(package)]
        parts.append(f"## {package}/\n\n{table(('package or module', 'content'), rows)}")
    return "\n".join(parts)


def modules(package: str) -> Iterator[tuple[str, str]]:
    """Yield the modules and packages directly in a package, by layers, with their content."""
    folder = ROOT / package
    files = {path.stem: path for path in folder.glob("*.py") if not path.stem.startswith("__")}
    files |= {f"{path.parent.name}/": path for path in folder.glob("*/__init__.py")}
    order = layers(package)
    for name in sorted(files, key=lambda each: (order.get(each.rstrip("/"), 0), each)):
        said = ast.get_docstring(ast.parse(files[name].read_text(encoding="utf-8"))) or ""
        yield name, " ".join(said.split("\n\n")[0].split())


def layers(package: str) -> dict[str, int]:
    """Return the number of each module's layer, from the top; empty for a package without layers."""
    content = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    for contract in content["tool"]["importlinter"]["contracts"]:
        if contract.get("containers") == [package]:
            lines = enumerate(contract["layers"])
            return {name.strip(): number for number, line in lines for name in line.split("|")}
    return {}


def stored_data() -> str:
    """Return the page of the tables of the database."""
    models = [each for each in vars(tables).values() if inspect.isclass(each) and hasattr(each, "__table__")]
    order = [f"{tables.__name__}.{module}" for module in STORED]
    models.sort(key=lambda each: order.index(each.__module__))
    parts = [
        "# Stored data\n",
        "All that a server stores is in its database, in these tables, and in [some places outside of it]"
        "(../explanation/privacy.md#outside-of-the-database). The last column says what removes a row or "
        "column: `id`, `words` and `all` are the extents of [forgetting a worker]"
        "(../how-to/server/forget-a-worker.md) and of [retention]"
        "(../explanation/privacy.md#how-long-data-are-kept). The rest stays until you delete the database. "
        "Times are UTC; text ids are made by the server and have no meaning.\n",
    ]
    for module, some in groupby(models, key=lambda each: each.__module__):
        about = inspect.cleandoc(import_module(module).__doc__ or "")
        heading = STORED[module.rpartition(".")[2]]
        rows = [row_of_table(each) for each in some]
        columns = ("table", "what it holds", "columns", "removed with")
        parts.append(f"## {heading}\n\n{about}\n\n{table(columns, rows)}")
    return "\n".join(parts)


def row_of_table(model: type[TableBase]) -> tuple[str, str, str, str]:
    """Return the row of a table: its name, its content, its columns, and the removals that empty it."""
    said = " ".join(inspect.cleandoc(model.__doc__ or "").split())
    columns = ", ".join(in_code(column.name) for column in model.c)
    return in_code(str(model.__tablename__)), said, columns, model.removed_with

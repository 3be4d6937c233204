"""Names: a module defines each of its names once, and a public class has a name of its own."""

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
MODULES = {
    path.relative_to(ROOT): ast.parse(path.read_text(encoding="utf-8"))
    for package in ("candor", "server", "bots", "qc")
    for path in sorted((ROOT / package).rglob("*.py"))
    if "versions" not in path.parts  # migrations, which have one name each for the same thing
}


def names_of(module: ast.Module) -> Iterator[str]:
    """Yield each name as often as it is defined at the top of a module, by whatever statement."""
    for statement in module.body:
        match statement:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield statement.name
            case ast.Assign(targets=targets):
                parts = [part for target in targets for part in ast.walk(target)]
                yield from (
                    each.id for each in parts if isinstance(each, ast.Name) and type(each.ctx) is ast.Store
                )
            case ast.AnnAssign(target=ast.Name(id=name)):
                yield name
            case ast.Import() | ast.ImportFrom():
                yield from (each.asname or each.name for each in statement.names if "." not in each.name)


def test_no_module_defines_a_name_twice() -> None:
    """The second constant of a name would change what is above it: joined modules drew wrong figures so."""
    twice = {
        f"{path}: {name}"
        for path, module in MODULES.items()
        for name, count in Counter(names_of(module)).items()
        if count > 1
    }
    assert twice == set()


def test_no_two_public_classes_have_one_name() -> None:
    classes = Counter(
        statement.name
        for module in MODULES.values()
        for statement in module.body
        if isinstance(statement, ast.ClassDef) and not statement.name.startswith("_")
    )
    assert [name for name, count in classes.items() if count > 1] == []

"""Commands that documents and messages show: each exists, with its options."""

import re
import shlex
import subprocess
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest
import typer
from typer.main import get_command

from scripts import reference
from server.cli.command_line import COMMANDS

GROUPS = {name.split()[0] for name in COMMANDS if " " in name}

ROOT = Path(__file__).parents[1]
MARKDOWN = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
DEPLOYED = [
    *sorted(path for path in (ROOT / "deploy").rglob("*") if path.is_file()),
    ROOT / "Dockerfile",
    ROOT / "compose.yaml",
]
CODE = [
    path
    for room in ("candor", "server", "bots", "qc", "scripts")
    for path in sorted((ROOT / room).rglob("*.py"))
]
CODE += sorted((ROOT / "frontend" / "src").rglob("*.ts*"))
FENCED = re.compile(r"^ *```[^\n]*\n(.*?)^ *```", re.DOTALL | re.MULTILINE)
INLINE = re.compile(r"`([^`]+)`")
# Where a shell takes `candor` for a command, not for the name of a user, a namespace or a file.
OURS = re.compile(r"(?:^\s*|[`\"'(;&|$]\s*|/bin/|sudo |[A-Z_]=\S+ )candor (?=[a-z-])")
MODULE = re.compile(r"\bpython3? (?:-m ([\w.]+)|((?:benchmarks|scripts|tests)/\S+\.py))(.*)")
MAKE = re.compile(r"(?:^\s*|RUN |sudo |&& )make ([a-z][a-z-]*)(?=$|\s+[A-Z#&])")
# All errors of a command line; typer exports only this one of them.
MISUSE = typer.BadParameter.__mro__[1]
# Words after which a command of a shell ends.
END = re.compile(r"\s(?:&&|\|\|?|;|>|<|2>|#)(?:\s|$)|&&")


def written(path: Path) -> Iterator[str]:
    """Yield the commands that a document has in its code, one a line."""
    text = path.read_text(encoding="utf-8")
    if path in MARKDOWN:
        blocks = FENCED.findall(text)
        spans = [" ".join(span.split()) for span in INLINE.findall(FENCED.sub("", text))]
        for part in (*blocks, *spans):
            yield from re.sub(r"\\\n\s*", "", part).splitlines()
    else:
        yield from text.splitlines()


def ours(line: str) -> Iterator[str]:
    """Yield what follows each `candor` in a line, up to where the shell ends the command."""
    for piece in END.split(line):
        for found in OURS.finditer(piece):
            yield OURS.split(piece[found.end() :])[0]


def words_of(arguments: str) -> list[str]:
    try:
        return shlex.split(arguments)
    except ValueError:  # a sentence with an apostrophe
        return arguments.split()


@cache
def command(name: str) -> "typer.core.TyperCommand":
    found = COMMANDS[name]
    return get_command(getattr(import_module(found.module), found.app))  # type: ignore[return-value]


def mistake(arguments: str) -> str | None:
    """Return what is wrong with the arguments of `candor`, None if nothing."""
    first, *rest = words_of(arguments) or [""]
    name = first.strip(".,:;)")
    if name in GROUPS and rest:
        name, rest = f"{name} {rest[0].strip('.,:;)')}", rest[1:]
    if name not in COMMANDS:
        return None if first.startswith("--") or name in GROUPS else f"there is no command {name!r}"
    at, options = command(name), [re.sub(r"[\].,:;)]+$", "", word).lstrip("[") for word in rest]
    while hasattr(at, "commands") and options and re.fullmatch(r"[a-z][a-z-]*", options[0]):
        name, options = f"{name} {options[0]}", options[1:]
        if name.split()[-1] not in at.commands:
            return f"there is no command {name!r}"
        at = at.commands[name.split()[-1]]
    known = {opt for parameter in at.params for opt in (*parameter.opts, *parameter.secondary_opts)}
    if hasattr(at, "commands"):  # its commands are not named: one of them must have the option
        known |= {opt for each in at.commands.values() for one in each.params for opt in one.opts}
    asked = {word.partition("=")[0] for word in options if re.match(r"--[a-z]", word)}
    unknown = sorted(asked - known - {"--help"})
    return f"{name} has no {', '.join(unknown)}" if unknown else None


@pytest.mark.parametrize("path", [*MARKDOWN, *DEPLOYED, ROOT / "Makefile"], ids=lambda path: path.name)
def test_every_command_of_a_document_exists(path: Path) -> None:
    wrong = [(line, why) for line in written(path) for found in ours(line) if (why := mistake(found))]
    assert wrong == []


def unreadable(arguments: str) -> str | None:
    """Return why the command line cannot be read, with all values; None if it can, or a file is absent."""
    name, *rest = words_of(arguments)
    if name in GROUPS and rest:
        name, rest = f"{name} {rest[0]}", rest[1:]
    at = command(name)
    while hasattr(at, "commands") and rest and rest[0] in at.commands:
        at, rest = at.commands[rest[0]], rest[1:]
    try:
        at.make_context(name, rest)
    except typer.Exit:  # after --help
        return None
    except MISUSE as error:
        message = error.format_message()  # type: ignore[attr-defined]
        return None if "does not exist" in message else message
    return None


@pytest.mark.parametrize(
    "path", [path for path in MARKDOWN if path.name != "commands.md"], ids=lambda path: path.name
)
def test_every_command_of_a_block_of_code_can_be_read(path: Path) -> None:
    """Each has the arguments that it requires, and values of the right kind."""
    blocks = re.sub(r"\\\n\s*", "", "\n".join(FENCED.findall(path.read_text(encoding="utf-8"))))
    blocks = re.sub(r"\$\([^)]*\)", "X", blocks)  # what another command prints
    lines = [re.split(r"\s#", found)[0] for line in blocks.splitlines() for found in ours(line)]
    wrong = [(line, why) for line in lines if not line.startswith("--") and (why := unreadable(line))]
    assert wrong == []


def test_a_command_that_cannot_be_read_is_found() -> None:
    assert unreadable("estimate data/candor.db --until twelve")
    assert unreadable("run close")
    assert unreadable("run close pilot extra")
    assert unreadable("run close pilot --data data") is None


def test_a_command_that_reads_a_database_names_the_run() -> None:
    """Every installation has the demo's run, so a database of two runs without `--run` is refused."""
    typed = [
        (path.name, words_of(each)) for path in MARKDOWN for line in written(path) for each in ours(line)
    ]
    reads = [(page, words) for page, words in typed if any(word.endswith("candor.db") for word in words)]
    assert len(reads) > 10
    assert [(page, words) for page, words in reads if "--run" not in words] == []


@pytest.mark.parametrize("name", reference.PAGES)
def test_a_page_of_the_reference_follows_the_code(name: str) -> None:
    page = (reference.FOLDER / name).read_text(encoding="utf-8")
    assert page == reference.written(name), "run .venv/bin/python scripts/reference.py"


def test_every_command_in_the_code_exists() -> None:
    wrong = []
    for path in CODE:
        for found in re.findall(r"(?:`|\"|: )candor ([a-z][^`\"\n]*)", path.read_text(encoding="utf-8")):
            if why := mistake(re.sub(r"\{[^}]*\}", "X", found)):
                wrong.append((str(path.relative_to(ROOT)), found, why))
    assert wrong == []


def test_what_does_not_exist_is_found() -> None:
    assert mistake("close --run pilot") == "there is no command 'close'"
    assert mistake("run shut pilot") == "there is no command 'run shut'"
    assert mistake("run close pilot --dato data") == "run close has no --dato"
    assert mistake("run close pilot --data data") is None
    assert [*ours("candor estimate x --until 12 && candor close --run y")] == [
        "estimate x --until 12",
        "close --run y",
    ]


@pytest.mark.parametrize("path", MARKDOWN, ids=lambda path: path.name)
def test_every_module_and_script_of_a_document_exists(path: Path) -> None:
    for line in written(path):
        for module, script, arguments in MODULE.findall(line):
            where = ROOT / script if script else Path(str(getattr(find_spec(module), "origin", "")))
            assert where.is_file(), line
            if where.is_relative_to(ROOT):
                where = (
                    where.with_name("__main__.py") if (where.with_name("__main__.py")).is_file() else where
                )
                source = where.read_text(encoding="utf-8")
                for option in re.findall(r"(?<!\S)--([a-z][a-z-]*)", END.split(arguments)[0]):
                    name = option.replace("-", "_")
                    assert f'"--{option}' in source or re.search(rf"\b{name}\b *:", source), (line, option)


def test_every_target_of_make_in_a_document_exists() -> None:
    targets = set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    shown = {
        (path.name, target)
        for path in (*MARKDOWN, *DEPLOYED)
        for line in written(path)
        for target in MAKE.findall(line)
    }
    assert len(shown) > 10
    assert {(name, target) for name, target in shown if target not in targets} == set()


def test_what_the_code_tells_people_to_install_or_make_exists() -> None:
    """Every `make TARGET` and `pip install` in a message: our wheel with an extra of it, or a dependency."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = set(project["optional-dependencies"])
    depends = {"parlai", *(re.split(r"[<>=!~;]", each)[0].strip() for each in project["dependencies"])}
    targets = set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    told, wrong = 0, []
    for path in (each for each in CODE if each.suffix == ".py"):
        text = path.read_text(encoding="utf-8")
        for target in re.findall(r"(?:`|checkout: )make ([a-z][a-z-]*)", text):
            told += 1
            wrong += [] if target in targets else [(path.name, target)]
        for package in re.findall(r"pip install (?:--no-deps )?'?([^\s'\"`]+)", text):
            told += 1
            ours = re.fullmatch(r"candor_eval-….whl(?:\[(.+)\])?", package)
            known = ours[1] in {None, *extras, "{extra}"} if ours else package in depends
            wrong += [] if known else [(path.name, package)]
    assert told > 8
    assert wrong == []


def test_nobody_is_told_to_install_a_strangers_program() -> None:
    """On the package index, `candor` is another project; ours is called candor-eval."""
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    strangers = re.compile(
        r"\bcandor\[[a-z]|\b(?:install|add|run|uvx)\b[^\n`]*?\s['\"]?candor(?:==|['\"]?(?:\s|$))"
    )
    installs = re.compile(r"\b(?:pipx?|uv|conda|poetry)\b[^\n]*")
    wrong = []
    for name in tracked.splitlines():
        path = ROOT / name
        if name in ("CHANGELOG.md", "tests/test_documented_commands.py") or not path.is_file():
            continue
        text = path.read_bytes().decode("utf-8", "replace")
        wrong += [(name, found.group()) for found in re.finditer(r"\bcandor\[[a-z]+\]", text)]
        wrong += [(name, line) for line in installs.findall(text) if strangers.search(line)]
    assert wrong == []

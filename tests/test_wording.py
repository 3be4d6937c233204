"""Wording: what workers and researchers read has sentences, and no words of the machine.

The texts are collected from the code and from the check of wrong studies, never from a list kept by hand.
"""

import ast
import copy
import inspect
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml

import server.errors
from server.desk.studies.study_responses import checked_study
from server.errors import CandorError, InvalidMessage, ProviderRefused, WrongPhase
from server.errors.access import Refusal
from server.session.answer_kinds import KINDS, answer_type
from server.session.texts import Text
from server.study import study_schema
from server.study.texts import LANGUAGES, instrument_of
from tests.server.support.items import items_text
from tests.server.support.study import pairs_text, study_text
from tests.support.examples import TIMES

ROOT = Path(__file__).parents[1]
ERRORS = {
    name: each
    for name, each in vars(server.errors).items()
    if inspect.isclass(each) and issubclass(each, CandorError)
}
# Read by programs that speak the wire's protocol; pages show texts of their own instead (`notice.…`).
OF_THE_WIRE = {name for name, each in ERRORS.items() if issubclass(each, InvalidMessage | WrongPhase)}

BACKTICK = re.compile("`")
SETTING = re.compile(r"(?<![\w/.=])[a-z]+(?:_[a-z0-9]+)+(?![\w=])")
GOT = re.compile(r", got |\bexpected [a-z`]")
IN_YAML = re.compile(r"“(?!name: value”)[a-z_]+: ")
LINE = re.compile(r"\b[Ll]ine \d")
LOWER_CASE = re.compile(r"^[a-zäöüéàèñ]|\w[.!?] (?!candor )[a-zäöüéàèñ]")


def machine_words(text: str, *, sentence: bool = True) -> list[str]:
    """Return what no reader of pages should see in `text`; `sentence`: it begins with a capital letter."""
    text = re.sub(r"\{\w*\}", "7", text)  # what the page puts in
    patterns = [BACKTICK, SETTING, IN_YAML, GOT, *([LOWER_CASE] if sentence else [])]
    return [found.group(0) for pattern in patterns if (found := pattern.search(text))]


def forms_of(text: Text) -> list[str]:
    return [text] if isinstance(text, str) else list(text.values())


@pytest.mark.parametrize("language", LANGUAGES)
def test_texts_of_the_workers_page(language: str) -> None:
    instrument = instrument_of(language)
    assert instrument is not None
    texts = {name: forms_of(text) for name, text in instrument.words.items()}
    texts |= {"debriefing": [instrument.debriefing]}
    found = {
        (name, form): words
        for name, forms in texts.items()
        for form in forms
        # A text that ends as a sentence begins as one.
        if (words := machine_words(form, sentence=form.rstrip("*").endswith((".", "!"))))
    }
    assert found == {}


def settings_of_studies() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every setting of a study by name, as its field describes it."""
    schema = study_schema()
    for part in (schema, *schema["$defs"].values()):
        yield from part.get("properties", {}).items()


def test_names_and_hints_of_settings() -> None:
    texts = {
        text
        for _, described in settings_of_studies()
        for text in (
            described.get("title"),
            described.get("description"),
            *described.get("x-words", {}).values(),
        )
        if text
    }
    assert len(texts) > 150
    own = {kind: answer_type(kind).words for kind in KINDS}.values()  # sentences go on with them
    assert {text: words for text in texts - set(own) if (words := machine_words(text))} == {}


def test_every_setting_has_a_title_of_its_own() -> None:
    """`Field(title=…)`: otherwise the desk and the reference show the code's name, such as "Spending Cap"."""
    made = {
        name
        for name, described in settings_of_studies()
        if "_" in name and described.get("title") in (None, name.replace("_", " ").title())
    }
    assert made == set()


def test_hints_of_errors() -> None:
    hints = {name: each.hint for name, each in ERRORS.items() if name not in OF_THE_WIRE}
    hints |= {reason: ProviderRefused(reason).message for reason in get_args(Refusal)}
    assert {name: words for name, hint in hints.items() if (words := machine_words(hint))} == {}


def literals_of(node: ast.expr) -> Iterator[str]:
    """Yield the texts that an expression may be, with `7` or a name in quotes for what is put in."""
    match node:
        case ast.Constant(value=str(text)):
            yield text
        case ast.JoinedStr(values=values):
            yield "".join(str(each.value) if isinstance(each, ast.Constant) else "7" for each in values)
        case ast.IfExp(body=body, orelse=orelse):
            yield from literals_of(body)
            yield from literals_of(orelse)


def messages_of_errors() -> Iterator[tuple[str, str]]:
    for path in sorted((ROOT / "server").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.Call(func=ast.Name(id=name), args=args) if name in ERRORS.keys() - OF_THE_WIRE:
                    if name != "ProviderRefused":  # its first argument is a code
                        where = f"{path.relative_to(ROOT)}:{node.lineno}"
                        yield from ((where, text) for argument in args for text in literals_of(argument))


def test_messages_of_errors() -> None:
    messages = list(messages_of_errors())
    assert len(messages) > 250
    assert [(where, text, words) for where, text in messages if (words := machine_words(text))] == []


def test_what_needs_attention() -> None:
    module = ast.parse((ROOT / "server/desk/runs/attention.py").read_text(encoding="utf-8"))
    texts = [
        text
        for node in ast.walk(module)
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "text"
        for text in literals_of(node.value)
    ]
    assert len(texts) > 8
    assert {text: words for text in texts if (words := machine_words(text))} == {}


@pytest.mark.parametrize("path", ["bots/conformance/findings.py", "server/bots/fitness.py"])
def test_findings_about_bots(path: str) -> None:
    module = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    docstrings = {id(node.value) for node in ast.walk(module) if isinstance(node, ast.Expr)}
    texts = {
        text
        for node in ast.walk(module)
        if isinstance(node, ast.Constant | ast.JoinedStr) and id(node) not in docstrings
        for text in literals_of(node)
        if " " in text
    }
    assert len(texts) > 15
    assert {text: words for text in texts if (words := machine_words(text, sentence=False))} == {}


@pytest.mark.parametrize(
    "page", sorted((ROOT / "server/site/templates").iterdir()), ids=lambda path: path.name
)
def test_the_servers_own_pages(page: Path) -> None:
    html = re.sub(r"<code>.*?</code>", "7", page.read_text(encoding="utf-8"))
    text = re.sub(r"<[^>]*>|\{%.*?%\}|\{\{.*?\}\}", " ", html)
    assert machine_words(text, sentence=False) == []


APART = 3 if TIMES == 1 else 1  # each setting gets every third wrong value, and all of them in `make soak`
WRONG = (None, "", "¤", -1, 1e9, True, [], {"zzz": 1})


@cache
def paths(name: str = "", deep: int = 5) -> tuple[tuple[int | str, ...], ...]:
    """Return the path of every setting below a definition of the schema; lists have one item."""
    schema = study_schema()["$defs"][name] if name else study_schema()

    def below(part: dict[str, Any]) -> Iterator[tuple[int | str, ...]]:
        yield ()
        for each in (*part.get("anyOf", []), *part.get("oneOf", [])):
            yield from below(each)
        if "$ref" in part and deep:
            yield from paths(part["$ref"].rpartition("/")[2], deep - 1)
        if "items" in part:
            yield from ((0, *rest) for rest in below(part["items"]))
        free = [*part.get("patternProperties", {}).values(), part.get("additionalProperties")]
        yield from (("own", *rest) for each in free if isinstance(each, dict) for rest in below(each))

    found = [(key, *rest) for key, part in schema.get("properties", {}).items() for rest in below(part)]
    return tuple(dict.fromkeys(found))


def with_value(content: dict[str, Any], path: tuple[int | str, ...], value: object) -> dict[str, Any]:
    """Return a study's settings with a value at a path, which is made where it is missing."""
    content = copy.deepcopy(content)
    holder: Any = content
    for key, following in zip(path, (*path[1:], None), strict=True):
        last = following is None
        inner: object = value if last else [] if isinstance(following, int) else {}
        if isinstance(key, int):
            if not isinstance(holder, list):
                return content
            if not holder:
                holder.append(inner)
            elif last or not isinstance(holder[0], dict | list):
                holder[0] = inner
            holder = holder[0]
        else:
            if not isinstance(holder, dict):
                return content
            if last or not isinstance(holder.get(key), list if isinstance(following, int) else dict):
                holder[key] = inner
            holder = holder[key]
    return content


CONTRADICTIONS: list[dict[str, Any]] = [
    {"task": "transcripts"},
    {"task": "side_by_side"},
    {"comparison": {"pairs": 2}, "items": {"run": "a"}, "tutorial": {"questions": []}},
    {"completion_url": "https://a.example", "recruiter": {"kind": "prolific", "completion_code": "C"}},
    {"recruiter": {"kind": "connect"}},
    {"criteria": [{"label": "overall", "statement": "?"}, {"label": "overall", "statement": "?"}]},
    {"criteria": [{"label": "a", "statement": "?", "qc": True, "scale": {"kind": "choice", "points": 7}}]},
    {"criteria": [{"label": "a", "statement": "?", "qc": False}]},
    {"criteria": [{"label": "a", "statement": "?", "scale": {"kind": "number"}}]},
    {"questionnaires": {"before": [{"label": "a", "question": "?", "kind": "slider"}] * 2}},
    {"questionnaires": {"before": [{"label": "a", "question": "?", "kind": "likert", "choices": ["b"]}]}},
    {"questionnaires": {"before": [{"label": "a", "question": "?", "kind": "choice", "choices": ["b"] * 2}]}},
    {
        "questionnaires": {
            "before": [{"label": "a", "question": "?", "kind": "number", "least": 9, "most": 1}]
        }
    },
    {"questionnaires": {"conversation": [{"label": "fun", "question": "?", "kind": "text"}]}},
    {"systems": [{"name": "qc", "family": "a", "bot": "builtin:relfect"}]},
    {"systems": []},
    {"systems": [{"name": "a", "family": "a", "bot": "human:partner", "prompt": "b"}]},
    {"people": {"take_over": "human:wizard", "consent_says_so": False}},
    {"systems_per_assignment": 20},
    {"qc_per_assignment": 5},
    {"maximum_inputs": 1},
    {"minimum_inputs": 1, "quiz": {"choices": 3}},
    {"simulate": {"quality": {"nobody": 0.5}}},
    {"qc": {"bot": "mine", "draw": "systems"}},
    {"bots": {"qc": {"kind": "http", "urls": ["http://a.example"]}}},
    {"bots": {"b": {"kind": "http", "urls": ["http://a:b@a.example?c#d"]}}},
    {"bots": {"b": {"kind": "htp"}}},
    {"bots": {"b": {"kind": "openai", "urls": ["http://a.example"] * 2, "model": "m", "spending_cap": 1}}},
    {"language": "eo"},
    {"texts": {"words": {"chat.sent": "Off", "chat.send": {"one": "a", "other": "b"}}}},
    {"texts": {"words": {"rating.to_answer": {"one": "{zzz}"}}}},
    {"texts": {"consent": {"version": "1", "text": "?", "boxes": [{"label": "a", "text": "A"}] * 2}}},
    {"version": 99, "holograms": True, "titel": "T"},
    {"scenarios": [{"label": "a", "text": "b"}] * 2},
    {"reply_time": {"median": 10, "longest": 5}, "qc_per_assignment": 0},
    {"language": "de", "corpus": "builtin:smalltalk"},
]


def wrong_studies() -> Iterator[str]:
    chat, pairs, items = (yaml.safe_load(text()) for text in (study_text, pairs_text, items_text))
    for content in (chat, pairs, items):
        yield from (yaml.safe_dump({**content, **changes}) for changes in CONTRADICTIONS)
    for number, path in enumerate(paths()):
        of_task = next(
            (content for content in (chat, pairs, items) if path[0] in content), chat
        )  # where the setting means something
        yield from (
            yaml.safe_dump(with_value(of_task, path, value)) for value in WRONG[number % APART :: APART]
        )
    for name in chat:
        yield yaml.safe_dump({key: value for key, value in chat.items() if key != name})
    yield from ("[", "a: [", "3", "", "name: a\nname: b\n", "a: &a [*a]", "a: 2020-13-45")


def test_problems_of_studies_as_the_desk_shows_them() -> None:
    found: dict[str, list[str]] = {}
    told: set[str] = set()
    own = {spec["name"] for spec in yaml.safe_load(study_text())["systems"]}
    for text in wrong_studies():
        checked = checked_study(text, [], [])
        for problem in checked.mistakes:
            told.add(problem.reason)
            # Only a text in YAML has a setting that does not exist, or another value than the form offers.
            of_yaml = problem.reason.startswith(
                ("There is no such setting", "Choose ", "This is not valid YAML")
            )
            said = re.sub("“.*?”|: .*", "“7”", problem.reason) if of_yaml else problem.reason
            words = [*machine_words(said), *LINE.findall(said)]
            if words := [word for word in words if word not in own]:
                found[f"{problem.path}: {problem.reason}"] = words
        for note in checked.notes:
            told.add(note)
            if words := machine_words(note):
                found[note] = words
    assert len(told) > 100
    assert found == {}

"""Every setting of a study can be given in the form, and what is given is what the text says."""

import json
import re
from base64 import b64decode
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

import pytest
import yaml
from playwright.sync_api import Locator, Page, expect

from server.desk.studies.study_responses import checked_study
from server.study import BLANK, study_schema
from server.study.tasks import task_type
from tests.e2e.stage import Stage
from tests.e2e.studies import made
from tests.support.examples import TIMES

pytestmark = pytest.mark.browser

ROOT = study_schema()
# The name is given with a new study, the version by those who write the text by hand.
NOT_IN_THE_FORM = {"name", "version"}
TAKEN_UP = """() => !document.querySelector(".study-head [role=status]").textContent.includes("checking")"""
UNFOLD = """() => { for (const each of document.querySelectorAll(".study-advanced")) each.open = true; }"""
# How many alternatives of a setting are given; all in `make soak`. test_bots_page gives every kind of bot.
ALTERNATIVES = 1 if TIMES == 1 else None
AT_ONCE = 40  # settings, each of which is one change or two: the server takes 100 changes at a time
# What a text has to be that is more than any text, by the path of its setting; "*" is a number or a name.
TEXTS = {
    "bots.*.urls.*": "http://127.0.0.1:9/",
    "bots.*.key": "BOT_KEY",
    "bots.*.reasoning_effort": "low",
    "bots.*.key_header": "api-key",
    "systems.*.bot": "builtin:reflect",
    "people.take_over": "builtin:reflect",
    "post_edit.criterion": "fun",
    "recruiter.completion_code": "C0DE",
    "recruiter.school": "example.sona-systems.com",
    "recruiter.credit_token": "t0ken",
    "recruiter.completion_url": "https://connect.cloudresearch.com/complete",
    "recruiter.partial_url": "https://connect.cloudresearch.com/partial",
    "completion_url": "https://example.org/thanks",
    "embedded_in.*": "https://*.qualtrics.com",
    "language": "de-AT",
    "texts.lab.logo": "data:image/png;base64,iVBORw0KGgo=",
    "qc.bot": "qc",
    "corpus": "builtin:smalltalk",
    "qc.corpus": "builtin:smalltalk",
}
# Texts that a question can mark where it is asked: what is read of a system is in the conversation only.
MARKED = {"before": ["words"], "conversation": ["output", "words"], "after": ["words"]}
# Names of a mapping whose names are the researcher's own.
NAMES = {"texts.words": "instructions.chat", "simulate.quality": "a", "texts.words.*": "other"}
# Settings whose values have to fit the rest of the study.
VALUES: dict[str, list[Any]] = {
    "items": [{"run": "pilot"}, {"file": "lines.jsonl"}],
    "systems_per_assignment": [3],
    # A criterion is answered on a slider, on points, by a choice or in text; only the first two are scored.
    "criteria": [
        [
            {"label": "a", "statement": "A.", "scale": {"kind": "slider", "ends": ["no", "yes"]}},
            {"label": "b", "statement": "B.", "negative": True, "qc": False}
            | {"scale": {"kind": "likert", "points": 7, "ends": ["no", "yes"]}},
            {"label": "c", "statement": "C.", "scale": {"kind": "choice", "choices": ["no", "yes"]}},
            {"label": "d", "statement": "D.", "scale": {"kind": "text"}},
        ]
    ],
    "composition": ["reading", "questions", {"ordinary": 4, "bad": 1, "repeat": 1, "reference": 1}],
} | {f"questionnaires.{part}.*.text": texts for part, texts in MARKED.items()}
SYSTEMS = [{"name": name, "family": name, "bot": "builtin:reflect"} for name in ("a", "b", "c")]
BASES: dict[str, dict[str, Any]] = {
    "chat": {"systems": SYSTEMS, "systems_per_assignment": 2},
    "side_by_side": {"systems": SYSTEMS, "comparison": {}},
    "transcripts": {
        "items": {"file": "texts.jsonl"},
        "criteria": [{"label": "fun", "statement": "It was fun."}],
    },
}
# What else has to be so that a setting means something.
WITH: dict[str, dict[str, Any]] = {
    "people": {
        "systems": [*SYSTEMS[:2], {"name": "c", "family": "c", "bot": "human:partner"}],
        "texts": {"consent": {"version": "1", "text": "Some partners are people."}},
    },
    "quiz": {"systems": [*SYSTEMS[:2], SYSTEMS[2] | {"persona": "random"}]},
    "simulate": {"systems": SYSTEMS[:1], "systems_per_assignment": 1, "qc_per_assignment": 0},
}


def meant(schema: dict[str, Any]) -> dict[str, Any]:
    return ROOT["$defs"][schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema


def alternatives(schema: dict[str, Any]) -> list[dict[str, Any]]:
    schema = meant(schema)
    choices = schema.get("anyOf") or schema.get("oneOf")
    found = [each for choice in choices for each in alternatives(choice)] if choices else [schema]
    return [each for each in found if each.get("type") != "null"]


def free_parts(schema: dict[str, Any]) -> dict[str, Any] | None:
    free = next(iter(schema.get("patternProperties", {}).values()), schema.get("additionalProperties"))
    return free if isinstance(free, dict) else None


def samples(schema: dict[str, Any], path: str) -> list[Any]:
    """Return values that may stand at a path: every alternative and every word is in one of them."""
    return VALUES.get(path) or [each for choice in alternatives(schema) for each in samples_of(choice, path)]


def samples_of(schema: dict[str, Any], path: str) -> list[Any]:
    if "properties" in schema:
        return list(objects(schema, path))
    if (part := free_parts(schema)) is not None:
        name = NAMES.get(path, "one")
        return [{name: each} for each in samples(part, f"{path}.*")]
    words = schema.get("enum") or ([schema["const"]] if "const" in schema else [])
    if words:
        return list(words)
    match schema["type"]:
        case "boolean":
            return [not schema.get("default", False)]
        case "integer" | "number":
            least = schema.get("minimum", schema.get("exclusiveMinimum", 1))
            # Another number than the default: a larger one, or one between the limits.
            larger = max(least, schema.get("default", least)) + 1
            most = schema.get("maximum", larger)
            return [larger if larger <= most else (least + most) / 2]
        case "array":
            each = samples(schema["items"], f"{path}.*")
            least = (
                2 if path.endswith("choices") else 3 if path.endswith("labels") else schema.get("minItems", 1)
            )
            return [labelled(each * max(1, least // len(each)))]
        case "object":
            return [{"any": {"thing": [1, True]}}]
    return [TEXTS.get(path, "words")]


def labelled(values: list[Any]) -> list[Any]:
    """Return things of a list with labels, or texts, that differ."""
    if all(isinstance(value, str) for value in values) and len(values) > 1 and len(set(values)) == 1:
        return [f"{value} {i}" for i, value in enumerate(values)]
    return [
        value | {name: f"{value[name]}_{i}" for name in ("label", "name", "family") if name in value}
        if isinstance(value, dict)
        else value
        for i, value in enumerate(values)
    ]


def objects(schema: dict[str, Any], path: str) -> Iterator[dict[str, Any]]:
    """Yield mappings with all their settings; of answers, one of each kind with the settings of that kind."""
    parts = schema["properties"]
    kinds = parts.get("kind", {}).get("enum")
    if kinds:
        for kind in kinds:
            fitting = {name: part for name, part in parts.items() if kind in part.get("x-kinds", [kind])}
            fitting["kind"] = {"const": kind}
            # Points have words at both ends, or a label each.
            apart = ("labels", "ends") if {"labels", "ends"} <= fitting.keys() else ("",)
            for other in apart:
                chosen = {name: part for name, part in fitting.items() if name != other}
                yield from objects({"properties": chosen}, path)
        return
    columns = [samples(part, f"{path}.{name}") for name, part in parts.items()]
    for row in zip_longest(*columns):
        yield {
            name: column[-1] if value is None else value
            for name, column, value in zip(parts, columns, row, strict=True)
        }


def kind_of(schema: dict[str, Any]) -> str:
    kind = schema.get("properties", {}).get("kind", {}).get("const")
    return str(kind or schema["type"])


def is_of(value: Any, schema: dict[str, Any]) -> bool:
    """Return whether a sample was made of this alternative."""
    if isinstance(value, dict):
        kind = schema.get("properties", {}).get("kind", {}).get("const")
        return schema.get("type") == "object" and (kind is None or value.get("kind") == kind)
    words = schema.get("enum") or ([schema["const"]] if "const" in schema else [])
    if words:
        return value in words
    types = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array"}
    return bool(schema["type"] == types[type(value)] or (type(value) is int and schema["type"] == "number"))


@dataclass
class Round:
    """Settings that are given together, and what else has to be in the study so that they mean something."""

    given: dict[str, Any] = field(default_factory=dict)
    needed: dict[str, Any] = field(default_factory=dict)

    def with_another(self, setting: str, value: Any) -> "Round":
        return Round(self.given | {setting: value}, self.needed | WITH.get(setting, {}))

    def is_a_study(self, base: dict[str, Any]) -> bool:
        if self.given.keys() & self.needed.keys():
            return False
        return not checked_study(yaml.safe_dump(base | self.needed | self.given), [], ()).mistakes


def rounds_of(task: str, base: dict[str, Any]) -> list[Round]:
    """Return rounds in which each of so many samples of the task's settings is given once.

    As many are given together as are a study without mistakes: the server checks each round only twice.
    """
    rounds: list[Round] = []
    for setting, schema in ROOT["properties"].items():
        if setting in NOT_IN_THE_FORM or task_of(setting) != task:
            continue
        for value in samples(schema, setting)[:ALTERNATIVES] if setting != "task" else [task]:
            free = (i for i, each in enumerate(rounds) if setting not in each.given)
            larger = ((i, rounds[i].with_another(setting, value)) for i in free)
            fitting = next(((i, each) for i, each in larger if each.is_a_study(base)), None)
            if fitting is None:
                rounds.append(Round().with_another(setting, value))
            else:
                rounds[fitting[0]] = fitting[1]
    return rounds


class Form:
    """The hands of somebody who fills in the form."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._unsettled = 0

    def settle(self) -> None:
        """Wait until the server has taken up the changes; it takes so many at a time.

        Not with `expect`, which looks again after 100, 250 and 500 ms: most of this module's time went by so.
        """
        self._page.wait_for_function(TAKEN_UP)
        self._unsettled = 0

    def control(self, path: list[str | int], kind: str = ":not(select)") -> Locator:
        return self._page.locator(f'{kind}[name="{".".join(map(str, path))}"]')

    def section(self, path: list[str | int]) -> Locator:
        return self._page.locator(f'[data-setting="{".".join(map(str, path))}"]')

    def give(self, schema: dict[str, Any], path: list[str | int], value: Any) -> None:
        self._unsettled += 1
        if self._unsettled == AT_ONCE:
            self.settle()
        if path[0] == "bots" and len(path) == 2:
            self.give_bot(schema, path, value)
            return
        choices = alternatives(schema)
        one = next(choice for choice in choices if is_of(value, choice))
        self.unfold()
        if len(choices) > 1:
            word = value if "enum" in one or "const" in one else kind_of(one)
            self.control(path, "select").select_option(word)
            if "enum" in one or "const" in one:
                return
        self.fill(one, path, value)

    def give_bot(self, schema: dict[str, Any], path: list[str | int], value: dict[str, Any]) -> None:
        """Choose the service of one of the study's own bots, and fill in its settings."""
        self.open(path)
        self.control(path, "select").select_option(value["kind"])
        self.open([*path, "advanced"])
        one = next(choice for choice in alternatives(schema) if is_of(value, choice))
        for name, each in value.items():
            if name != "kind":
                self.give(one["properties"][name], [*path, name], each)

    def fill(self, schema: dict[str, Any], path: list[str | int], value: Any) -> None:
        match value:
            case dict() if "properties" in schema:
                self.open(path)
                for name in sorted(value, key=lambda name: name != "kind"):
                    if "const" not in schema["properties"][name]:
                        self.give(schema["properties"][name], [*path, name], value[name])
            case dict() if (part := free_parts(schema)) is not None:
                self.open(path)
                for name, each in value.items():
                    self.section(path).get_by_label("Add by name").last.fill(name)
                    self.section(path).get_by_role("button", name="Add", exact=True).last.click()
                    self.give(part, [*path, name], each)
            case dict():
                self.control(path).fill(json.dumps(value))
            case list() if isinstance(value[0], str):
                self.control(path).fill("\n".join(value))
            case list():
                for i, each in enumerate(value):
                    self.section(path).get_by_role("button", name=re.compile("^Add ")).last.click()
                    if path[0] == "questionnaires":  # in which way it is answered
                        self._page.get_by_role("menuitem").first.click()
                    self.give(schema["items"], [*path, i], each)
            case bool():
                self.control(path).set_checked(value)
            case _:
                self.write(schema, path, value)

    def write(self, schema: dict[str, Any], path: list[str | int], value: Any) -> None:
        if "enum" in schema:
            self.control(path, "select").select_option(value)
            return
        if "x-words" in schema:  # the names of some texts, of which there are others
            self.control(path, "select").select_option(label="Other…")
        control = self.control(path)
        if control.get_attribute("type") == "file":
            kind, content = re.fullmatch("data:(.+);base64,(.+)", str(value)).groups()  # type: ignore[union-attr]
            file = {"name": "chosen", "mimeType": kind, "buffer": b64decode(content)}
            control.set_input_files(file)  # type: ignore[arg-type]
            expect(control).to_have_value("")
            return
        control.fill(str(value))

    def open(self, path: list[str | int]) -> None:
        """Unfold a section; a thing of a list, or of a choice, has none."""
        section = self._page.locator(f'details[data-setting="{".".join(map(str, path))}"]')
        if section.count() and section.get_attribute("open") is None:
            section.locator("summary").first.click()
            expect(section.locator(".study-fields").first).to_be_visible()

    def unfold(self) -> None:
        """Show the settings that few need."""
        self._page.evaluate(UNFOLD)


def task_of(setting: str) -> str:
    return next(task for task in BASES if setting not in task_type(task).unused)  # type: ignore[index]


# That each setting of a chat study has its place in the form, form.test.ts says in a second.
@pytest.mark.parametrize(
    "task", [pytest.param(task, marks=[pytest.mark.soak] * (task == "chat")) for task in BASES]
)
def test_every_setting_can_be_given_in_the_form(page: Page, stage: Stage, task: str) -> None:
    blank = yaml.safe_load(BLANK.read_text(encoding="utf-8"))
    base = {key: value for key, value in blank.items() if key not in task_type(task).unused}  # type: ignore[index]
    base |= {"name": f"form_{task}", "title": "T", "payment": "P", "task": task} | BASES[task]
    made(page, stage, base["name"], yaml.safe_dump(base))
    page.get_by_role("tab", name="YAML").click()
    text = page.get_by_label("The study as YAML")
    status = page.locator(".study-head [role=status]")
    form = Form(page)
    given, faults = 0, []
    for each in rounds_of(task, base):
        before = {key: value for key, value in (base | each.needed).items() if key not in each.given}
        text.fill(yaml.safe_dump(before))
        form.settle()
        for setting, value in each.given.items():
            open_step(page, setting)
            form.give(ROOT["properties"][setting], [setting], value)
        form.settle()
        got = yaml.safe_load(text.input_value())
        said = "" if "no problems" in status.inner_text() else page.locator("#yaml-mistakes").inner_text()
        faults += [
            f"{setting}: gave {value}, got {got.get(setting)}: {said}"
            for setting, value in each.given.items()
            if said or got.get(setting) != value
        ]
        given += len(each.given)
    assert not faults, "\n".join(faults)
    assert given >= {"chat": 38, "side_by_side": 1, "transcripts": 7}[task]


def open_step(page: Page, setting: str) -> None:
    """Show one step of the form after the other, until the setting is there."""
    here = page.locator(f"[name^='{setting}'], [data-setting^='{setting}']")
    if here.count():
        return
    for each in page.get_by_role("navigation", name="Steps of the study").get_by_role("button").all():
        each.click()
        if here.count():
            return
    raise AssertionError(f"`{setting}` is in no step of the form")

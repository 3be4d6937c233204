"""A setting is changed in a study's text: all the rest stays as it is, comments and all."""

import difflib
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from server.study import DEMO, EditedSetting, NotEditable, edited

TEXT = DEMO.read_text(encoding="utf-8")
CONTENT = yaml.safe_load(TEXT)


def differing(before: str, after: str) -> list[str]:
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm="")
    return [line for line in lines if not line.startswith(("---", "+++", "@@"))]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (EditedSetting(("minimum_inputs",), 7), ["-minimum_inputs: 10", "+minimum_inputs: 7"]),
        (EditedSetting(("title",), "Two: #1"), ["-title: Chat with six chatbots", "+title: 'Two: #1'"]),
        (EditedSetting(("minimum_inputs",), remove=True), ["-minimum_inputs: 10"]),
        (EditedSetting(("rate_share",), 0.5), ["+rate_share: 0.5"]),
        (EditedSetting(("timeouts", "idle"), 60), ["+timeouts:", "+  idle: 60"]),
        (
            EditedSetting(("reply_time", "median"), 3),
            [
                "-reply_time: {median: 2.5, spread: 0.35, longest: 8}",
                "+reply_time: {median: 3, spread: 0.35, longest: 8}",
            ],
        ),
        (
            EditedSetting(("systems", 7, "bot"), "mine"),
            [
                '-  - {name: reflect, family: reflect, bot: "builtin:reflect"}',
                "+  - {name: reflect, family: reflect, bot: mine}",
            ],
        ),
        (
            EditedSetting(("systems", 8), {"name": "mine", "family": "mine", "bot": "mine"}),
            ["+  - {name: mine, family: mine, bot: mine}"],
        ),
        (
            EditedSetting(("systems", 6), remove=True),
            ['-  - {name: interviewer, family: interviewer, bot: "builtin:interviewer"}'],
        ),
        (
            EditedSetting(("criteria", 0, "label"), remove=True),
            ["-  - label: robotic", "-    negative: true", "+  - negative: true"],
        ),
        (
            EditedSetting(("criteria", 7), {"label": "kind", "statement": "It was kind."}),
            ["+  - label: kind", "+    statement: It was kind."],
        ),
        (
            EditedSetting(("payment",), "One line.\n\nAnother."),
            ["-payment: This", "+payment: |-", "+  One line.", "+", "+  Another."],
        ),
        (EditedSetting(("minimum_inputs",), 10), []),
    ],
)
def test_nothing_else_changes(change: EditedSetting, expected: list[str]) -> None:
    after = edited(TEXT, change)
    assert after.rewritten is None
    found = differing(TEXT, after.text)
    assert len(found) == len(expected)
    for line, beginning in zip(found, expected, strict=True):
        assert line.startswith(beginning)


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 5)
    | st.text(st.sampled_from("ab: #-'\"\n{}[]&*|>é\t%@"), max_size=12),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["one", "two words", "3"]), inner, max_size=3)
    ),
    max_leaves=6,
)
PLACES = [
    ("title",), ("new",), ("systems",), ("systems", 0), ("systems", 8), ("systems", 2, "persona"),
    ("criteria", 3), ("criteria", 6, "statement"), ("criteria", 0, "new"), ("reply_time",),
    ("reply_time", "spread"), ("qc", "corpus"), ("simulate", "quality", "ngram"), ("timeouts", "idle"),
    ("bots", "far", "urls"),
]  # fmt: skip


@given(st.lists(st.tuples(st.sampled_from(PLACES), VALUES, st.booleans()), max_size=3))
def test_whatever_is_changed_the_text_says_it_and_keeps_the_rest(
    changes: list[tuple[tuple[str | int, ...], Any, bool]],
) -> None:
    text = TEXT
    for path, value, remove in changes:
        before = yaml.safe_load(text)
        try:
            text = edited(text, EditedSetting(path, value, remove)).text
        except NotEditable:
            continue  # an earlier change has put something else there
        after = yaml.safe_load(text)
        others = {key: each for key, each in before.items() if key != path[0]}
        assert {key: each for key, each in after.items() if key != path[0]} == others
        holder = after
        for key in path[:-1]:
            holder = holder.get(key) if isinstance(holder, dict) else holder[int(key)]
        if not remove:
            assert holder[path[-1]] == value
        elif isinstance(holder, dict):
            assert path[-1] not in holder
    assert text.count("#") >= 1 or not changes


@pytest.mark.parametrize(
    ("text", "change", "reason"),
    [
        ("a: &a [1]\nb: *a\n", EditedSetting(("c",), 1), "anchors"),
        ("a: word\n", EditedSetting(("a", "b"), 1), "has no settings"),
        ("a: [1]\n", EditedSetting(("a", 5), 1), "has no settings"),
    ],
)
def test_what_cannot_be_changed_says_why(text: str, change: EditedSetting, reason: str) -> None:
    with pytest.raises(NotEditable, match=reason):
        edited(text, change)


def test_a_layout_that_is_not_foreseen_is_written_anew_and_says_so() -> None:
    text = "# top\na: {b: 1,\n  # within\n  c: 2}\n? d\n: 3\n"
    after = edited(text, EditedSetting(("d",), [1, 2]))
    assert yaml.safe_load(after.text) == {"a": {"b": 1, "c": 2}, "d": [1, 2]}

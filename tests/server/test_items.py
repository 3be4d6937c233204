"""Tests of items from a JSONL file or a run, whose mistakes are named with their places, and of bad twins."""

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from candor.common.segmentation import join_words, split_words
from server.db.engine import open_engine
from server.db.runs.items import NewItem
from server.errors import RunNotFound, StudyInvalid
from server.items import RULES, bad_twins, distorted, items_of, read_items
from server.session.item import ItemContent, ItemLine
from server.study import parse_study
from tests.server.support.database import make_run, query
from tests.server.support.items import items_text
from tests.server.support.server import House
from tests.server.support.study import RUN, study_text

GOOD = [
    {
        "item": "q1",
        "system": "heron",
        "text": "One two three four five.",
        "reference": "The very best answer.",
    },
    {"item": "q1", "system": "ibis", "family": "waders", "text": "Six seven eight nine.", "context": "Why?"},
    {
        "item": "q2",
        "system": "ibis",
        "turns": [{"author": "worker", "text": "Hi"}, {"author": "bot", "text": "Good day to you"}],
    },
]


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    def write_(*lines: Any) -> Path:
        path = tmp_path / "texts.jsonl"
        path.write_text("\n".join(x if isinstance(x, str) else json.dumps(x) for x in lines))
        return path

    return write_


def test_a_file_of_texts_and_conversations(write: Callable[..., Path]) -> None:
    items = read_items(write(*GOOD, ""))
    assert [(item.name, item.system, item.family) for item in items] == [
        ("q1 heron", "heron", "heron"),
        ("q1 ibis", "ibis", "waders"),
        ("q2 ibis", "ibis", "ibis"),
    ]
    assert items[0].forms["reference"].text == "The very best answer."
    assert items[1].forms["ordinary"].context == "Why?"
    assert [line.author for line in items[2].forms["ordinary"].lines] == ["worker", "bot"]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "texts.jsonl:2: not JSON"),
        ("[" * 100_000, r"texts.jsonl:2: not JSON: recursion limit exceeded.*\. Write one JSON object"),
        ('{"item": ' + "9" * 5_000 + "}", "texts.jsonl:2: not JSON: number out of range"),
        ({"item": "q", "system": "heron"}, "texts.jsonl:2: .*Give either a text or turns"),
        ({"item": "q", "system": "he ron", "text": "a"}, "texts.jsonl:2: system: "),
        ({"item": "q", "text": "a"}, "texts.jsonl:2: system: Field required"),
        ({"item": "q", "system": "heron", "text": "a", "txt": "b"}, "texts.jsonl:2: txt: "),
        (
            {"item": "q", "system": "heron", "turns": [{"author": "worker", "text": "a"}]},
            "None of the turns is by the system",
        ),
        (GOOD[0], "`q1` of `heron` is there twice"),
    ],
)
def test_a_mistake_is_told_with_its_line(write: Callable[..., Path], line: Any, reason: str) -> None:
    with pytest.raises(StudyInvalid, match=reason):
        read_items(write(GOOD[0], line))


def test_a_file_in_another_format_says_how_to_make_items_of_it(write: Callable[..., Path]) -> None:
    with pytest.raises(StudyInvalid, match=r"candor data convert FILE items\.jsonl") as caught:
        read_items(write({"messages": [{"role": "assistant", "content": "a"}]}, GOOD[0]))
    assert "\n" not in str(caught.value)


def test_an_answer_is_highlighted_in_its_context_and_paragraphs_are_marked_instead_of_it(
    write: Callable[..., Path],
) -> None:
    line = {"item": "q", "system": "heron", "context": "😀 It opens at nine.", "text": "When?"}
    (passage,) = read_items(write(line | {"answer": "nine"}))
    content = passage.forms["ordinary"]
    assert content.highlight is not None
    # Characters are code points: the emoji is one.
    assert (content.highlight.start, content.highlight.end) == (14, 18)
    with pytest.raises(StudyInvalid, match="the context does not have it"):
        read_items(write(line | {"answer": "ten"}))
    (answered,) = read_items(write(line | {"paragraphs": ["At nine.", "It is blue."]}))
    assert answered.forms["ordinary"].shown.context == {0: "At nine.", 1: "It is blue."}


def test_an_empty_file_and_none(write: Callable[..., Path], tmp_path: Path) -> None:
    with pytest.raises(StudyInvalid, match="there are no items in it"):
        read_items(write(""))
    with pytest.raises(StudyInvalid, match="cannot be read"):
        read_items(tmp_path / "elsewhere.jsonl")


def pool(path: Path, **changes: Any) -> list[NewItem]:
    return items_of(parse_study(items_text(**{"simulate": None, **changes})), None, path.parent)


def test_items_are_drawn_by_their_probabilities(write: Callable[..., Path], tmp_path: Path) -> None:
    path, chances = write(*texts(200)), tmp_path / "chosen.csv"
    spec = {"items": {"file": path.name, "probabilities": chances.name}, "composition": {"ordinary": 4}}

    def drawn(rows: Sequence[str]) -> list[NewItem]:
        chances.write_text("\n".join(rows) + "\n", encoding="utf-8")
        return pool(path, **spec)

    head = "item,system,judge,rating_probability"
    rows = [f"t{k},heron,3,{1 if k < 50 else 0.2}" for k in range(200)]
    found = drawn([head, *rows])
    assert [item.name for item in found[:50]] == [f"t{k} heron" for k in range(50)]
    assert {item.probability for item in found} == {1, 0.2}
    # 150 · 0.2 = 30, with an sd of 4.9.
    assert 15 < len(found) - 50 < 45
    assert drawn(["output,rating_probability", *(f"t{k} heron,1" for k in range(200))])[0].probability == 1
    for wrong, reason in (
        ([head, *rows[1:]], "1 items have no probability; the first is “t0 heron”"),
        ([head, "t0,heron,3,", *rows[1:]], "chosen.csv:2: rating_probability must be a number above 0"),
        ([head, *rows, rows[0]], "chosen.csv:202: the item “t0 heron” is there twice"),
    ):
        with pytest.raises(StudyInvalid, match=reason):
            drawn(wrong)


def texts(number: int) -> list[dict[str, Any]]:
    return [
        {"item": f"t{k}", "system": "heron", "text": " ".join(f"w{k}x{j}" for j in range(6))}
        for k in range(number)
    ]


def test_every_item_gets_a_bad_twin_where_some_are_asked_for(write: Callable[..., Path]) -> None:
    path = write(*texts(5))
    assert all(item.forms.keys() == {"ordinary", "bad"} for item in pool(path))
    assert all(item.forms.keys() == {"ordinary"} for item in pool(path, composition={"ordinary": 4}))


def test_simulated_workers_judge_systems_of_any_name(write: Callable[..., Path]) -> None:
    path = write({"item": "q1", "system": "BART-large", "text": "When was it built?"})
    judged = {"quality": {"BART-large": 0.9}}
    assert pool(path, composition={"ordinary": 1}, simulate=judged)[0].system == "BART-large"


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"composition": {"ordinary": 6}}, "there are only 5"),
        (
            {"composition": {"ordinary": 4, "reference": 1}},
            "5 items have no reference; the first is “t0 heron”",
        ),
        ({"simulate": {"quality": {"ibis": 0.5}}}, "a quality for the system “heron”"),
        ({"correctness": True}, "Answers are judged by paragraphs, and 5 items have none"),
        (
            {
                "questionnaires": {
                    "conversation": [
                        {"label": "why", "kind": "span", "text": "context", "question": "Where?"}
                    ]
                }
            },
            "“why” marks the context, and 5 items have none; the first is “t0 heron”",
        ),
    ],
)
def test_what_does_not_fit_the_study(
    write: Callable[..., Path], changes: dict[str, Any], reason: str
) -> None:
    with pytest.raises(StudyInvalid, match=reason):
        pool(write(*texts(5)), **changes)


def test_only_short_texts_can_be_improved(write: Callable[..., Path]) -> None:
    asked = {"post_edit": {"criterion": "clear"}, "composition": {"ordinary": 1}}
    with pytest.raises(StudyInvalid, match="“q2 ibis” is a conversation"):
        pool(write(GOOD[2]), **asked)
    with pytest.raises(StudyInvalid, match="has 3000 characters"):
        pool(write({"item": "long", "system": "heron", "text": "x" * 3_000}), **asked)


def of_run(url: str, **changes: Any) -> list[NewItem]:
    engine = open_engine(url)
    study = items_text(items={"run": RUN}, **{"simulate": None, **changes})
    try:
        with engine.connect() as connection:
            return items_of(parse_study(study), connection, Path())
    finally:
        engine.dispose()


@pytest.mark.databases("sqlite", "postgresql")
def test_the_finished_conversations_of_a_run(url: str, serve: Callable[..., House]) -> None:
    house = serve(url, make_run(url))
    for worker in ("ann", "bob"):
        with house.page(worker) as page:
            page.whole()
    with house.page("under way") as page:
        page.agree()
        page.converse()
        page.rate()
    # All echoes have nearly the same words, so that by chance one has no bad twin: here no list needs one.
    items = of_run(url, composition={"ordinary": 3})
    assert len(items) == 6  # two completed assignments with three systems; the qc bot's are left out
    assert {item.name for item in items} == {
        name
        for (name,) in query(
            url,
            "SELECT conversation_id FROM v1_conversation JOIN v1_assignment USING (assignment_id) "
            "WHERE v1_assignment.status = 'completed' AND system <> 'qc'",
        )
    }
    shown = items[0].forms["ordinary"]
    assert [line.text for line in shown.lines][::2] == ["line 0", "line 1"]
    assert [(topic.line, topic.topic) for topic in shown.topics] == [(0, "the sea")]


def test_conversations_left_unrated_are_items_too(url: str, serve: Callable[..., House]) -> None:
    house = serve(url, make_run(url, study_text(rate_share=1e-9)))
    with house.page() as page:
        page.whole_unless_unrated()
    statuses = dict(query(url, "SELECT status, count(*) FROM v1_conversation GROUP BY status"))
    assert statuses == {"unrated": 3, "rated": 1}  # the qc bot's is always rated
    assert len(of_run(url, composition={"ordinary": 3})) == 3
    progress = house.desk(f"/runs/{RUN}").json()["systems"]
    assert sum(system["unrated"] for system in progress) == 3
    assert sum(system["rated"] for system in progress) == 1


def test_a_run_without_conversations_and_none(url: str) -> None:
    with pytest.raises(RunNotFound):
        of_run(url)
    make_run(url)
    with pytest.raises(StudyInvalid, match="has no finished conversations to rate"):
        of_run(url)


# Ji, PhD thesis: the tables of chapters 3 and 5, at the ends of each class.
LENGTHS = {
    "chapter3": {1: 1, 3: 1, 4: 2, 5: 2, 6: 3, 8: 3, 9: 4, 15: 4, 16: 5, 20: 5, 21: 4, 24: 4, 25: 5, 40: 8},
    "chapter5": {1: 1, 3: 1, 4: 2, 5: 2, 6: 3, 8: 3, 9: 4, 15: 4, 16: 5, 20: 5, 21: 5, 29: 5, 30: 6, 40: 8},
}


@pytest.mark.parametrize("rule", ["chapter3", "chapter5"])
def test_the_length_of_the_run(rule: str) -> None:
    assert {n: RULES[rule](n) for n in LENGTHS[rule]} == LENGTHS[rule]  # type: ignore[index]


@pytest.mark.published
@pytest.mark.parametrize(("rule", "table"), [("chapter3", "run_length_ch3"), ("chapter5", "run_length_ch5")])
def test_the_golden_table_of_lengths(published: Path, rule: str, table: str) -> None:
    file = published / "estimators" / "transcript_rating" / "golden.json"
    golden = json.loads(file.read_text(encoding="utf-8"))["degradation"][table]
    assert {int(n): RULES[rule](int(n)) for n in golden} == {int(n): k for n, k in golden.items()}  # type: ignore[index]


def words(prefix: str, number: int) -> list[str]:
    return [f"{prefix}{k}" for k in range(number)]


@given(
    st.integers(1, 60), st.integers(1, 60), st.integers(0, 1_000), st.sampled_from(["chapter3", "chapter5"])
)
def test_one_run_is_replaced_and_the_ends_stay(own: int, given_: int, seed: int, rule: str) -> None:
    length = RULES[rule](own)  # type: ignore[index]
    inner = given_ - 2 if given_ > 2 else given_
    if inner < length:
        with pytest.raises(ValueError, match="no run of"):
            distorted(words("a", own), words("b", given_), length, random.Random(seed))
        return
    changed = distorted(words("a", own), words("b", given_), length, random.Random(seed))
    assert len(changed) == own
    new = [k for k, word in enumerate(changed) if word.startswith("b")]
    assert new == list(range(new[0], new[0] + length))
    taken = [int(changed[k][1:]) for k in new]
    assert taken == list(range(taken[0], taken[0] + length))
    assert [word for word in changed if word.startswith("a")] == [
        word for k, word in enumerate(words("a", own)) if k not in new
    ]
    if own > 2:
        assert (changed[0], changed[-1]) == ("a0", f"a{own - 1}")
    if given_ > 2:
        assert taken[0] > 0
        assert taken[-1] < given_ - 1


def text(prefix: str, number: int = 8) -> ItemContent:
    return ItemContent(context="What was asked.", text=" ".join(words(prefix, number)))


def new_item(
    name: str, content: ItemContent, question: str | None = None, system: str = "heron", **more: Any
) -> NewItem:
    return NewItem(name, system, system, {"ordinary": content}, question=question or name, **more)


def test_a_text_is_distorted_once_and_its_context_stays() -> None:
    items = [new_item("one", text("a")), new_item("two", text("b"))]
    found = bad_twins(items, "chapter5", 1)
    assert found["one"].context == "What was asked."
    changed = str(found["one"].text).split()
    assert sum(word.startswith("b") for word in changed) == 3  # of eight words
    assert found == bad_twins(items, "chapter5", 1)
    assert found != bad_twins(items, "chapter5", 2)


def conversation(prefix: str) -> ItemContent:
    lines = [
        ItemLine(author="worker", text="hello out there"),
        ItemLine(author="bot", text=" ".join(words(f"{prefix}x", 5))),
        ItemLine(author="worker", text="and so on"),
        ItemLine(author="bot", text=" ".join(words(f"{prefix}y", 10))),
    ]
    return ItemContent(lines=tuple(lines))


def test_of_a_conversation_only_the_systems_lines_are_distorted_by_another_systems_lines() -> None:
    items = [new_item("one", conversation("a")), new_item("two", conversation("b"))]
    twin = bad_twins(items, "chapter5", 1)["one"]
    assert [line.author for line in twin.lines] == ["worker", "bot", "worker", "bot"]
    assert [line.text for line in twin.lines[::2]] == ["hello out there", "and so on"]
    for line, replaced in zip(twin.lines[1::2], (2, 4), strict=True):
        assert sum(word.startswith("b") for word in line.text.split()) == replaced


def test_without_another_text_there_is_no_bad_twin() -> None:
    with pytest.raises(StudyInvalid, match="“one” has no bad twin"):
        bad_twins([new_item("one", text("a", 30)), new_item("two", text("b", 4))], "chapter5", 1)
    same = ItemContent(text="a a a a")
    with pytest.raises(StudyInvalid, match="no bad twin"):
        bad_twins([new_item("one", same), new_item("two", same)], "chapter5", 1)


def test_a_twin_that_hardly_differs_is_none() -> None:
    asked = "When was the cathedral of Dublin {} finished"
    items = [new_item(word, ItemContent(text=asked.format(word))) for word in ("finally", "fully", "first")]
    with pytest.raises(StudyInvalid, match=r"“finally” has no bad twin: .* 3 words in a row .* new to it"):
        bad_twins(items, "chapter5", 1)
    other = ItemContent(text="Who paid Italian masons for those tall windows")
    twins = bad_twins([*items, new_item("other", other)], "chapter5", 1)
    for word in ("finally", "fully", "first"):
        own = set(asked.format(word).split())
        assert len(set(str(twins[word].text).split()) - own) >= 2


def test_words_come_from_another_question_about_another_passage() -> None:
    """Not from another system's answer to the same one, which would hardly distort it (thesis, chapter 4)."""
    items = [
        new_item(
            f"{passage}{question} {system}",
            text(f"{passage}{question}{system}"),
            question=f"{passage}{question}",
            system=system,
            group=passage,
        )
        for passage in "xy"
        for question in "12"
        for system in ("heron", "ibis")
    ]  # fmt: skip
    for name, twin in bad_twins(items, "chapter5", 1).items():
        taken = {word for word in str(twin.text).split() if not word.startswith(name[:2])}
        assert len(taken) == 3
        assert all(word[0] != name[0] for word in taken)
    alone = [item for item in items if item.group == "x"]
    for name, twin in bad_twins(alone, "chapter5", 1).items():
        assert {word[:2] for word in str(twin.text).split()} == {"x1", "x2"}, name


def test_words_come_from_people_where_they_wrote_some() -> None:
    """Chapter 3: from a human answer to another question."""
    items = [
        new_item(f"{number} {system}", text(f"{number}{system}"), str(number), system)
        for number in range(4)
        for system in ("heron", "human")
    ]
    for name, twin in bad_twins(items, "chapter5", 1, human="human").items():
        taken = {word for word in str(twin.text).split() if word not in text(name.replace(" ", "")).text}
        assert len(taken) == 3
        assert all(word[1:].startswith("human") and word[0] != name[0] for word in taken)
    with_references = [
        replace(item, forms={**item.forms, "reference": text(f"{item.question}reference")})
        for item in items
        if item.system == "heron"
    ]
    for name, twin in bad_twins(with_references, "chapter5", 1).items():
        taken = {word for word in str(twin.text).split() if "heron" not in word}
        assert len(taken) == 3
        assert all(word[1:].startswith("reference") and word[0] != name[0] for word in taken)


def test_groups_are_given_or_those_with_the_same_context(write: Callable[..., Path]) -> None:
    line = {"system": "heron", "text": "One two three."}
    with_contexts = [{"item": f"i{k}", "context": context, **line} for k, context in enumerate("xyx")]
    groups = [item.group for item in read_items(write(*with_contexts, {"item": "i3", **line}))]
    assert groups == ["the context of line 1", "the context of line 2", "the context of line 1", None]
    given_ = [one | {"group": name} for one, name in zip(with_contexts, ("p", "p", "q"), strict=True)]
    assert [item.group for item in read_items(write(*given_))] == ["p", "p", "q"]


def test_a_group_that_cannot_fill_an_assignment_is_told(write: Callable[..., Path]) -> None:
    groups = [one | {"group": "otters" if k < 3 else "tides"} for k, one in enumerate(texts(5))]
    one_group: dict[str, Any] = {"ordinary": 3, "bad": 1, "repeat": 1, "one_group": True}
    with pytest.raises(StudyInvalid, match="“tides” has 2 items, and an assignment takes 3 of one group"):
        pool(write(*groups), composition=one_group)
    both = [one | {"group": "otters" if k < 3 else "tides"} for k, one in enumerate(texts(6))]
    assert len(pool(write(*both), composition=one_group)) == 6
    both[0]["system"] = "human"
    with pytest.raises(StudyInvalid, match="“tides” has no item of “human”"):
        pool(write(*both), composition=one_group | {"human": "human"})


# A line of each language that ships, and one to take words from; the run that eight or more words lose.
LINES = {
    "en": (
        "We went down to the harbour and watched the boats",
        "My old aunt keeps seven hens behind her house",
    ),
    "de": (
        "Wir sind zum Hafen gegangen und haben Boote gesehen",
        "Meine alte Tante hält sieben Hühner im Garten hinten",
    ),
    "es": (
        "Fuimos al puerto y vimos pasar los barcos grandes",
        "Mi vieja tía tiene siete gallinas detrás de casa",
    ),
    "zh": ("我们昨天下午一起去海边看了很多漂亮的船", "我的阿姨在房子后面养了七只非常可爱的母鸡"),
    "ja": ("私たちは昨日の午後に港へ行って船を見ました", "私の叔母は家の裏で七羽のにわとりを飼っています"),
}


@pytest.mark.parametrize("language", LINES)
def test_words_are_those_of_the_language_and_a_run_of_them_is_replaced(language: str) -> None:
    one, two = LINES[language]
    own, donor = split_words(one, language), split_words(two, language)
    assert len(own) >= 8, own
    items = [new_item("one", ItemContent(text=one)), new_item("two", ItemContent(text=two))]
    twin = bad_twins(items, "chapter5", 1, language)
    text = str(twin["one"].text)
    assert (" " in text) == (language not in {"zh", "ja"})
    assert text != one
    assert (text.startswith(own[0]), text.endswith(own[-1])) == (True, True)
    length = RULES["chapter5"](len(own))
    runs = [join_words(donor[at : at + length], language) for at in range(1, len(donor) - length)]
    assert any(run in text for run in runs), (text, runs)

"""Bad twins: how long the run is by both rules, what stays, and where the new words come from."""

import json
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from candor.common.segmentation import join_words, split_words
from server.errors import StudyInvalid
from server.items.bad_twins import RULES, bad_twins, distorted
from server.session.item import ItemContent, ItemLine

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


def test_a_text_is_distorted_once_and_its_context_stays() -> None:
    found = bad_twins({"one": text("a"), "two": text("b")}, "chapter5", 1)
    assert found["one"].context == "What was asked."
    changed = str(found["one"].text).split()
    assert sum(word.startswith("b") for word in changed) == 3  # of eight words
    assert found == bad_twins({"one": text("a"), "two": text("b")}, "chapter5", 1)
    assert found != bad_twins({"one": text("a"), "two": text("b")}, "chapter5", 2)


def conversation(prefix: str) -> ItemContent:
    lines = [
        ItemLine(author="worker", text="hello out there"),
        ItemLine(author="bot", text=" ".join(words(f"{prefix}x", 5))),
        ItemLine(author="worker", text="and so on"),
        ItemLine(author="bot", text=" ".join(words(f"{prefix}y", 10))),
    ]
    return ItemContent(lines=tuple(lines))


def test_of_a_conversation_only_the_systems_lines_are_distorted_by_another_systems_lines() -> None:
    items = {"one": conversation("a"), "two": conversation("b")}
    twin = bad_twins(items, "chapter5", 1)["one"]
    assert [line.author for line in twin.lines] == ["worker", "bot", "worker", "bot"]
    assert [line.text for line in twin.lines[::2]] == ["hello out there", "and so on"]
    for line, replaced in zip(twin.lines[1::2], (2, 4), strict=True):
        assert sum(word.startswith("b") for word in line.text.split()) == replaced


def test_without_another_text_there_is_no_bad_twin() -> None:
    with pytest.raises(StudyInvalid, match="`one` has no bad twin"):
        bad_twins({"one": text("a", 30), "two": text("b", 4)}, "chapter5", 1)
    same = ItemContent(text="a a a a")
    with pytest.raises(StudyInvalid, match="no bad twin"):
        bad_twins({"one": same, "two": same}, "chapter5", 1)


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
    twin = bad_twins({"one": ItemContent(text=one), "two": ItemContent(text=two)}, "chapter5", 1, language)
    text = str(twin["one"].text)
    assert (" " in text) == (language not in {"zh", "ja"})
    assert text != one
    assert (text.startswith(own[0]), text.endswith(own[-1])) == (True, True)
    length = RULES["chapter5"](len(own))
    runs = [join_words(donor[at : at + length], language) for at in range(1, len(donor) - length)]
    assert any(run in text for run in runs), (text, runs)

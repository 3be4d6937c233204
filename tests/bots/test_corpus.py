"""Reading corpora in each format, the ways in which a file can be wrong, and the corpus that is shipped."""

import itertools
import json
import re
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from bots import load_corpus
from bots.builtin import builtin_names
from bots.serving import Corpus, CorpusError, shipped_corpora

SELF = """\
1 your persona: i have two dogs.
2 your persona: i sing.
3 hello there\thi , how are you ?
4 fine . you ?\tgreat , i just sang .
1 your persona: i bake.
2 what do you do ?\ti bake bread .
"""
BOTH = """\
1 your persona: i have two dogs.
2 partner's persona: i am a chef.
3 hello there\thi , how are you ?\t\tno|yes|hi , how are you ?
4 __SILENCE__\tstill there ?
5 yes\tgood .
"""
FIELDS = """\
text:your persona: i bake.\\nwhat do you do?\tlabels:i bake bread.|bread.
text:lovely\tlabels:it is.\tepisode_done:True
id:x\ttext:next one\teval_labels:and its answer\tepisode_done:True
"""
PERSONACHAT = {
    "train": [
        {
            "personality": ["i bake ."],
            "utterances": [
                {"history": ["hello"], "candidates": ["wrong", "hi there"]},
                {"history": ["hello", "hi there", "who are you ?"], "candidates": ["wrong", "a baker"]},
            ],
        }
    ],
    "valid": [{"personality": [], "utterances": [{"history": ["yes"], "candidates": ["no"]}]}],
}
JSONL = """\
{"persona": "a", "sentences": ["I bake."]}
{"dialogue": "1", "speakers": ["a", "b"], "turns": ["Hi.", "Hello!", "Bye."]}

{"persona": "b", "sentences": ["I sing."]}
{"dialogue": "2", "turns": ["One.", "Two."]}
"""


def read(folder: Path, content: str | bytes) -> Corpus:
    path = folder / "corpus"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return load_corpus(str(path))


def test_jsonl(tmp_path: Path) -> None:
    corpus = read(tmp_path, JSONL)
    assert [persona.id for persona in corpus.personas] == ["a", "b"]
    first, second = corpus.dialogues
    assert first.turns == ("Hi.", "Hello!", "Bye.")
    assert [first.speaker(at).sentences for at in range(3)] == [("I bake.",), ("I sing.",), ("I bake.",)]
    assert second.speakers == (None, None)


def test_jsonl_without_final_newline_and_with_carriage_returns(tmp_path: Path) -> None:
    corpus = read(tmp_path, JSONL.strip().replace("\n", "\r\n"))
    assert len(corpus.dialogues) == 2


def test_a_line_separator_inside_a_turn_is_text(tmp_path: Path) -> None:
    line = json.dumps({"dialogue": "1", "turns": ["one\u2028two", "three"]}, ensure_ascii=False)
    assert read(tmp_path, line).dialogues[0].turns[0] == "one\u2028two"


def test_parlai_with_the_repliers_persona(tmp_path: Path) -> None:
    corpus = read(tmp_path, SELF)
    first, second = corpus.dialogues
    assert first.turns == ("hello there", "hi , how are you ?", "fine . you ?", "great , i just sang .")
    assert first.speaker(0) is None
    assert first.speaker(1).sentences == ("i have two dogs.", "i sing.")
    assert second.speaker(1).sentences == ("i bake.",)
    assert len(corpus.personas) == 2


def test_parlai_with_both_personas_candidates_and_silence(tmp_path: Path) -> None:
    (dialogue,) = read(tmp_path, BOTH).dialogues
    # Nothing is said in line 4, so its reply and that of line 3 are one turn of the same speaker.
    assert dialogue.turns == ("hello there", "hi , how are you ? still there ?", "yes", "good .")
    assert [dialogue.speaker(at).sentences for at in (0, 1)] == [("i am a chef.",), ("i have two dogs.",)]


def test_parlai_that_opens_with_silence_is_opened_by_the_replier(tmp_path: Path) -> None:
    text = "1 your persona: i bake.\n2 __SILENCE__\thello\n3 hi\tbye\n"
    (dialogue,) = read(tmp_path, text).dialogues
    assert dialogue.turns == ("hello", "hi", "bye")
    assert dialogue.speaker(0).sentences == ("i bake.",)
    assert dialogue.speaker(1) is None


def test_parlai_fields(tmp_path: Path) -> None:
    first, second = read(tmp_path, FIELDS).dialogues
    assert first.turns == ("what do you do?", "i bake bread.", "lovely", "it is.")
    assert first.speaker(1).sentences == ("i bake.",)
    assert second.turns == ("next one", "and its answer")


@pytest.mark.parametrize("indent", [None, 2])
def test_personachat(tmp_path: Path, indent: int | None) -> None:
    first, second = read(tmp_path, json.dumps(PERSONACHAT, indent=indent)).dialogues
    assert first.turns == ("hello", "hi there", "who are you ?", "a baker")
    assert first.speaker(3).sentences == ("i bake .",)
    assert first.speaker(0) is None
    assert second.turns == ("yes", "no")


BROKEN = {
    "not json": ('{"persona": "a", "sentences": ["x"]}\n{"dialogue": ', 2, "not valid JSON"),
    "levels without end": ('{"dialogue": "1", "turns": ["a", "b"]}\n' + "[" * 100_000, 2, "not valid JSON"),
    "digits without end": ('{"dialogue": ' + "9" * 5_000 + "}", 1, "not valid JSON"),
    "a line number without end": ("1 a\tb\n" + "9" * 5_000 + " c\td", 2, "no line number"),
    "neither": ('{"dialog": "1", "turns": ["a", "b"]}\n{}', 1, 'no single key "persona" or "dialogue"'),
    "a list": ("[1]\n", 1, "neither a persona nor a dialogue"),
    "a number as turn": (
        '{"dialogue": "1", "turns": ["a", 5]}',
        1,
        "turns.1: Input should be a valid string",
    ),
    "an empty turn": ('{"dialogue": "1", "turns": ["a", " "]}', 1, "turns.1: String should have at least 1"),
    "one turn": ('{"dialogue": "1", "turns": ["a"]}', 1, "turns: List should have at least 2"),
    "an unknown key": ('{"dialogue": "1", "speaker": [], "turns": ["a", "b"]}', 1, "speaker: Extra inputs"),
    "no sentences": ('{"persona": "a", "sentences": []}', 1, "sentences: List should have at least 1"),
    "twice": ('{"dialogue": "1", "turns": ["a", "b"]}\n' * 2, 2, 'dialogue id "1" occurs twice'),
    "a stranger": ('{"dialogue": "1", "speakers": ["a", "b"], "turns": ["a", "b"]}', 1, 'the speaker "a"'),
    "no number": ("1 a\tb\nhello\tthere\n", 2, "no line number"),
    "no reply": ("1 a\tb\n2 hello\n", 2, "an exchange without a reply"),
    "no labels": ("text:a\tlabels:b\ntext:hello\n", 2, 'no field "labels"'),
    "no text": ("text:a\tlabels:b\nlabels:hello\n", 2, 'no field "text"'),
    "unknown": ("once upon a time\n", 1, "not a format that is known"),
    "bytes": (b'{"dialogue": "1",\n "turns": ["\xff"]}', 2, "not UTF-8"),
    "empty": ("", None, "the file is empty"),
    "no dialogue": ('{"persona": "a", "sentences": ["x"]}', None, "holds no dialogue"),
    "personachat": (
        '{"train": [{"utterances": [{"history": []}]}]}',
        None,
        "train.0.utterances.0.candidates",
    ),
}


@pytest.mark.parametrize(("content", "line", "reason"), BROKEN.values(), ids=BROKEN)
def test_what_is_wrong_is_said(tmp_path: Path, content: str | bytes, line: int | None, reason: str) -> None:
    with pytest.raises(CorpusError, match=re.escape(reason)) as caught:
        read(tmp_path, content)
    assert caught.value.line == line
    assert caught.value.source == str(tmp_path / "corpus")
    assert str(tmp_path / "corpus") in str(caught.value)
    assert str(caught.value).endswith((".", ".}"))


def test_files_that_cannot_be_opened(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="no such file"):
        load_corpus(str(tmp_path / "none"))
    with pytest.raises(CorpusError, match="cannot be read"):
        load_corpus(str(tmp_path))
    with pytest.raises(CorpusError, match="not a regular file"):
        load_corpus("/dev/zero")  # which has no end
    with pytest.raises(CorpusError, match=r"no such shipped corpus.*builtin:smalltalk"):
        load_corpus("builtin:none")


@pytest.mark.parametrize(("name", "language"), shipped_corpora().items())
def test_a_shipped_corpus_says_nothing_twice(name: str, language: str) -> None:
    corpus = load_corpus(name, language)
    turns = Counter(turn for dialogue in corpus.dialogues for turn in dialogue.turns)
    assert len(turns) >= 80
    assert max(turns.values()) == 1


def test_split_deals_whole_dialogues(corpus: Corpus) -> None:
    kept, held = corpus.split(0.2, seed=1)
    assert len(held.dialogues) == 18
    assert {d.id for d in kept.dialogues} | {d.id for d in held.dialogues} == {d.id for d in corpus.dialogues}
    assert not {d.id for d in kept.dialogues} & {d.id for d in held.dialogues}
    assert corpus.split(0.2, seed=1)[1].dialogues == held.dialogues
    assert corpus.split(0.2, seed=2)[1].dialogues != held.dialogues
    assert kept.personas == corpus.personas


@pytest.mark.parametrize("share", [0, 1, -0.5, 2])
def test_split_refuses_shares_that_leave_nothing(corpus: Corpus, share: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        corpus.split(share, seed=1)


@pytest.mark.parametrize(
    ("name", "first_speaker_known"),
    [("valid_self_original_no_cands.txt", False), ("valid_both_original_no_cands.txt", True)],
)
def test_convai2(convai2: Path, name: str, first_speaker_known: bool) -> None:
    corpus = load_corpus(str(convai2 / name))
    # METHOD.md, section 6: 1,000 dialogues, 7,801 turn pairs. Nobody is silent in them.
    assert len(corpus.dialogues) == 1000
    assert sum(len(d.turns) for d in corpus.dialogues) == 2 * 7801
    assert all(d.speaker(1) for d in corpus.dialogues)
    assert all((d.speaker(0) is not None) == first_speaker_known for d in corpus.dialogues)


def words(text: str) -> list[str]:
    return re.findall(r"[\w']+", text.lower())


def turns(corpus: Corpus) -> list[str]:
    return [turn for dialogue in corpus.dialogues for turn in dialogue.turns]


def test_size(corpus: Corpus) -> None:
    assert len(corpus.dialogues) >= 60
    assert min(len(dialogue.turns) for dialogue in corpus.dialogues) >= 10
    assert len(corpus.personas) >= 30
    assert min(len(persona.sentences) for persona in corpus.personas) >= 5


def test_ids_are_unique_and_speakers_known(corpus: Corpus) -> None:
    assert len({dialogue.id for dialogue in corpus.dialogues}) == len(corpus.dialogues)
    assert len({persona.id for persona in corpus.personas}) == len(corpus.personas)
    for dialogue in corpus.dialogues:
        first, second = dialogue.speakers
        assert first in corpus.personas
        assert second in corpus.personas
        assert first != second


def test_every_persona_speaks(corpus: Corpus) -> None:
    speaking = Counter(who.id for dialogue in corpus.dialogues for who in dialogue.speakers if who)
    assert set(speaking) == {persona.id for persona in corpus.personas}


def test_no_two_turns_are_the_same(corpus: Corpus) -> None:
    """No turn of more than three words occurs twice; nor does any shorter one, as it happens."""
    seen = Counter(" ".join(words(turn)) for turn in turns(corpus))
    assert [turn for turn, count in seen.items() if count > 1] == []


def test_no_persona_sentence_is_the_same(corpus: Corpus) -> None:
    seen = Counter(" ".join(words(text)) for persona in corpus.personas for text in persona.sentences)
    assert [text for text, count in seen.items() if count > 1] == []


def near_duplicates(lines: list[str], size: int, least: float) -> list[tuple[str, str]]:
    """Return the pairs of lines whose sets of `size` consecutive words have a Jaccard index of `least`."""
    shingles = [
        {tuple(said[at : at + size]) for at in range(len(said) - size + 1)} for said in map(words, lines)
    ]
    where = defaultdict(set)
    for number, found in enumerate(shingles):
        for shingle in found:
            where[shingle].add(number)
    pairs = {pair for numbers in where.values() for pair in itertools.combinations(sorted(numbers), 2)}
    alike = [
        (a, b) for a, b in pairs if len(shingles[a] & shingles[b]) >= least * len(shingles[a] | shingles[b])
    ]
    return [(lines[a], lines[b]) for a, b in alike]


def test_near_duplicates_among_turns(corpus: Corpus) -> None:
    """No two turns share a quarter of their runs of five words, and at most 5 pairs a tenth."""
    assert near_duplicates(turns(corpus), 5, 0.25) == []
    assert len(near_duplicates(turns(corpus), 5, 0.1)) <= 5


def test_near_duplicates_would_be_found() -> None:
    one = "I walked along the river with my dog this morning"
    other = "I walked along the river with my cat this morning"
    # Runs of five: 6 each; the 3 without dog or cat are shared, so 3 of 9.
    assert near_duplicates([one, other], 5, 0.33) == [(one, other)]
    assert near_duplicates([one, other], 5, 0.34) == []


def test_dialogues_are_not_variants_of_each_other(corpus: Corpus) -> None:
    """No two whole dialogues share a fiftieth of their runs of four words."""
    whole = [" ".join(dialogue.turns) for dialogue in corpus.dialogues]
    assert near_duplicates(whole, 4, 0.02) == []


def test_language_is_not_stamped_from_templates(corpus: Corpus) -> None:
    """Templates repeat frames: the function words of a line, with a gap for every rarer word."""
    said = [words(turn) for turn in turns(corpus)]
    frequency = Counter(word for line in said for word in line)
    common = {word for word, _ in frequency.most_common(100)}
    frames = Counter(
        tuple(word if word in common else "_" for word in line) for line in said if len(line) > 5
    )
    assert len(frames) / frames.total() > 0.995
    pairs = [pair for line in said for pair in itertools.pairwise(line)]
    assert len(set(pairs)) / len(pairs) > 0.6  # distinct-2 (Li et al., 2016)
    openings = Counter(tuple(line[:3]) for line in said if len(line) > 5)
    assert openings.most_common(1)[0][1] <= 0.01 * len(said)


def test_nobody_names_a_system(corpus: Corpus) -> None:
    assert not set(builtin_names()) & {word for turn in turns(corpus) for word in words(turn)}

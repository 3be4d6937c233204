"""Reading corpora: each format, and each way in which a file can be wrong."""

import json
import re
from pathlib import Path

import pytest

from bots import Corpus, CorpusError, load_corpus

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

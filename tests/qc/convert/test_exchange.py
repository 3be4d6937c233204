"""Exchange formats: each is read and written again, says what is lost, and which line is wrong.

Files of the other projects are written by hand after their published descriptions. ParlAI reads ours, too.
"""

import hashlib
import json
import struct
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import yaml
from pyarrow import parquet
from typer.testing import CliRunner, Result

from qc.convert import exchange
from qc.convert.__main__ import app
from qc.convert.exchange.content import ChatMessage, Content, Naming, SharedTranscript, Vote
from qc.convert.exchange.runs import content_of, of_run
from qc.errors import DataError, SourceError
from qc.loading import LoadOptions, open_source
from qc.loading.votes import read_votes
from server.items import read_items
from tests.needs import need_parlai
from tests.qc.support.spoken import spoken_run

HELLO = (ChatMessage("worker", "Hi!"), ChatMessage("bot", "Hello."))
TRANSCRIPTS = Content(
    "chats",
    transcripts=(
        SharedTranscript(
            "c1",
            "base",
            (*HELLO, ChatMessage("worker", "Bye"), ChatMessage("bot", "See you.")),
            "w1",
            {"fun": 60},
        ),
        SharedTranscript(
            "c2", "large", (ChatMessage("bot", "Good day!"), ChatMessage("worker", "Hi!")), "w2"
        ),
    ),
)
VOTES = Content(
    "votes",
    votes=tuple(
        Vote(
            name,
            SharedTranscript(name, "base", HELLO),
            SharedTranscript(name, "large", other),
            winner,
            "w1",
            1e9,
        )
        for name, other, winner in (
            ("v1", (HELLO[0], ChatMessage("bot", "Hey.")), "second"),
            ("v2", (HELLO[0], ChatMessage("bot", "Go away.")), "first"),
            ("v3", (HELLO[0], ChatMessage("bot", "Hello!")), "tie"),
        )
    ),
)


def lines(path: Path, *rows: object) -> Path:
    path.write_text("".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows))
    return path


def converted(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.mark.parametrize("form", [name for name in exchange.FORMATS if name not in exchange.NEEDING_VOTES])
def test_transcripts_come_back_from_every_format(form: str, tmp_path: Path) -> None:
    simulated = replace(TRANSCRIPTS, simulated=True)
    exchange.save(simulated, tmp_path / "target", form)
    assert exchange.format_of(tmp_path / "target") == form
    found = exchange.read(tmp_path / "target", form, Naming())
    assert found.simulated == (form != "items")
    assert [(one.name, one.system, one.messages) for one in found.transcripts] == [
        (one.name, one.system, one.messages) for one in TRANSCRIPTS.transcripts
    ]
    lost = {loss.what: loss.count for loss in exchange.losses(simulated, form)}
    of_items = {"names of workers": 2, "ratings of conversations": 1, "the mark that programs chatted": 1}
    assert lost == (of_items if form == "items" else {})
    assert [path.name for path in tmp_path.iterdir()] == ["target"]


@pytest.mark.parametrize("form", sorted(exchange.NEEDING_VOTES))
def test_votes_come_back_from_formats_of_votes(form: str, tmp_path: Path) -> None:
    exchange.save(VOTES, tmp_path / "votes.jsonl", form)
    found = exchange.read(tmp_path / "votes.jsonl", form, Naming()).votes
    if form == "arena":
        assert found == VOTES.votes
        with open_source(str(tmp_path / "votes.jsonl")) as source:
            votes = read_votes(source)
        assert votes is not None
        assert (votes.systems, sorted(votes.outcome.tolist())) == (("base", "large"), [-1, 0, 1])
        assert votes.style is not None
    else:  # pairs of a better and a worse one, in this order, without ties
        assert [(vote.first.system, vote.second.system) for vote in found] == [
            ("large", "base"),
            ("base", "large"),
        ]
        assert found[0].first.messages == VOTES.votes[0].second.messages
        told = {loss.what: loss.count for loss in exchange.losses(VOTES, form)}
        assert told == {"votes that found both equal": 1, "times of votes": 3}


@pytest.mark.parametrize(("content", "form"), [(TRANSCRIPTS, "openai"), (VOTES, "arena")])
def test_a_data_set_of_the_hub_is_read_again_and_its_metadata_name_every_column(
    content: Content, form: str, tmp_path: Path
) -> None:
    folder = tmp_path / "set"
    exchange.save(content, folder, "huggingface")
    assert exchange.format_of(folder) == form
    found = exchange.read(folder, form, Naming())
    assert list(found.conversations()) == [
        replace(one, worker=None, ratings={}) for one in content.conversations()
    ]
    assert found.votes == content.votes
    card = (folder / "README.md").read_text()
    header = yaml.safe_load(card.split("---\n")[1])
    (packed,) = folder.glob(header["configs"][0]["data_files"][0]["path"])
    croissant = json.loads((folder / "croissant.json").read_text())
    (file,), (records,) = croissant["distribution"], croissant["recordSet"]
    assert folder / file["contentUrl"] == packed
    assert file["sha256"] == hashlib.sha256(packed.read_bytes()).hexdigest()
    columns = [field["name"] for field in records["field"]]
    assert columns == parquet.read_schema(packed).names
    assert all(f"- `{name}`: " in card for name in columns)


def test_all_files_of_a_data_set_are_read_and_a_folder_without_any_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="has neither utterances"):
        exchange.format_of(tmp_path)
    for number, one in enumerate(TRANSCRIPTS.transcripts):
        exchange.save(replace(TRANSCRIPTS, transcripts=(one,)), tmp_path / f"part{number}", "huggingface")
    assert exchange.format_of(tmp_path) == "openai"
    found = exchange.read(tmp_path, "openai", Naming()).transcripts
    assert [one.name for one in found] == [one.name for one in TRANSCRIPTS.transcripts]


def test_the_prompt_of_a_pair_is_what_both_conversations_begin_with(tmp_path: Path) -> None:
    exchange.save(VOTES, tmp_path / "pairs.jsonl", "dpo")
    first = json.loads((tmp_path / "pairs.jsonl").read_text().splitlines()[0])
    assert first["prompt"] == [{"role": "user", "content": "Hi!"}]
    assert first["chosen"] == [{"role": "assistant", "content": "Hey."}]
    assert first["rejected"] == [{"role": "assistant", "content": "Hello."}]


# A file of each format as others write it, and the items that it becomes: item, system, authors.
FOREIGN: dict[str, tuple[list[Any], list[tuple[str, str, str]]]] = {
    "openai": (
        [
            {
                "messages": [
                    {"role": "system", "content": "Be brief."},
                    {"role": "user", "content": "Hi"},
                    {"role": "assistant", "content": None, "tool_calls": [{}]},
                    {"role": "tool", "content": "3"},
                    {"role": "assistant", "content": [{"type": "text", "text": "Yes"}]},
                ]
            },
        ],
        [("line 1", "mine", "wb")],
    ),
    "sharegpt": (
        [
            json.dumps(
                [
                    {
                        "id": "s1",
                        "conversations": [{"from": "human", "value": "Hi"}, {"from": "gpt", "value": "Yo"}],
                    }
                ]
            )
        ],
        [("s1", "mine", "wb")],
    ),
    "dpo": (
        [{"prompt": "Hi", "chosen": "Hello", "rejected": "No"}],
        [("line 1", "chosen", "wb"), ("line 1", "rejected", "wb")],
    ),
    "arena": (
        [
            {
                "id": "a1",
                "model_a_name": "x",
                "model_b_name": "y z",
                "chosen_model_name": "x",
                "both_equal": False,
                "conversation_a": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "A"}],
                "conversation_b": json.dumps(
                    [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "B"}]
                ),
            },
        ],
        [("a1", "x", "wb"), ("a1", "y_z", "wb")],
    ),
    "parlai": (
        [
            {
                "dialog": [[{"id": "human", "text": "Hi"}, {"id": "blender", "text": "Hello"}]],
                "context": [],
                "metadata_path": "x.metadata",
            },
            {"dialog": [{"id": "Speaker 1", "text": "Hi"}, {"id": "Speaker 2", "text": "Hello"}]},
        ],
        [("line 1", "mine", "wb"), ("line 2", "mine", "wb")],
    ),
}


@pytest.mark.parametrize("form", FOREIGN)
def test_files_of_others_become_items_that_the_server_reads(form: str, tmp_path: Path) -> None:
    rows, items = FOREIGN[form]
    source, target = lines(tmp_path / "theirs.jsonl", *rows), tmp_path / "items.jsonl"
    done = converted(source, target, "--system", "mine")
    assert done.exit_code == 0, done.output
    read = [
        (item.question, item.system, "".join(line.author[0] for line in item.forms["ordinary"].lines))
        for item in read_items(target)
    ]
    assert read == items


def test_votes_with_a_column_for_each_outcome_are_read(tmp_path: Path) -> None:
    said = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "A"}]
    outcomes = ("winner_model_a", "winner_model_b", "winner_tie")
    source = lines(
        tmp_path / "theirs.jsonl",
        *(
            {"id": name, "model_a": "x", "model_b": "y", "conversation_a": said, "conversation_b": said}
            | {outcome: int(outcome == name) for outcome in outcomes}
            for name in outcomes
        ),
    )
    done = converted(source, tmp_path / "votes.jsonl", "--to", "arena")
    assert done.exit_code == 0, done.output
    written = map(json.loads, (tmp_path / "votes.jsonl").read_text().splitlines())
    assert [row["winner"] for row in written] == ["model_a", "model_b", "tie"]


def test_the_system_of_a_corpus_is_the_speaker_that_is_named(tmp_path: Path) -> None:
    utterances: list[dict[str, Any]] = [
        {"id": "u1", "root": "u1", "user": "ann", "reply-to": None, "text": "Hi", "meta": {"score": 3}},
        {"id": "u2", "root": "u1", "user": "bob", "reply-to": "u1", "text": "Hello", "meta": {}},
        {"id": "u3", "root": "u1", "user": "cy", "reply-to": "u2", "text": "Hey", "meta": {}},
    ]
    lines(tmp_path / "utterances.jsonl", *utterances)
    done = converted(tmp_path, tmp_path / "items.jsonl", "--speaker", "ann")
    assert done.exit_code == 0, done.output
    assert "speakers beside the system and one person, shown as that person: 1" in done.stderr
    assert "utterances with metadata, which is not read: 1" in done.stderr
    assert json.loads((tmp_path / "items.jsonl").read_text())["turns"][0] == {"author": "bot", "text": "Hi"}
    assert (
        "dan does not speak here, only ann, bob, cy"
        in converted(tmp_path, tmp_path / "other.jsonl", "--speaker", "dan").stderr
    )


@pytest.mark.parametrize("packed", [False, True])
def test_samples_of_an_inspect_log_become_items(packed: bool, tmp_path: Path) -> None:
    said = [{"role": "user", "content": "attachment://ab"}, {"role": "assistant", "content": "Yes"}]
    members = {
        "header.json": {"version": 2, "eval": {"model": "lab/large", "task": "chat"}},
        "samples/s1_epoch_1.json": {
            "id": "s1",
            "epoch": 1,
            "messages": said,
            "attachments": {"ab": "Really?"},
        },
        "samples/s1_epoch_2.json": {
            "id": "s1",
            "epoch": 2,
            "messages": said,
            "error": {"message": "stopped"},
        },
        "summaries.json": [],
    }
    path = tmp_path / "log.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, value in members.items():
            archive.writestr(name, json.dumps(value))
    if packed:
        path.write_bytes(zstandard_zip({name: json.dumps(value).encode() for name, value in members.items()}))
    done = converted(path, tmp_path / "items.jsonl")
    assert "column 'error', which is not read: 1" in done.stderr, done.output
    first, second = read_items(tmp_path / "items.jsonl")
    assert [line.text for line in first.forms["ordinary"].lines] == ["Really?", "Yes"]
    assert (first.system, first.question, second.question) == ("lab/large", "s1", "s1, epoch 2")


def zstandard_zip(members: dict[str, bytes]) -> bytes:
    """Return an archive whose members are packed by Zstandard, which `zipfile` cannot write before 3.14."""
    content, directory = b"", b""
    for name, value in members.items():
        packed = bytes(pa.Codec("zstd").compress(value))
        sizes = struct.pack(
            "<HHHHHIIIHH", 20, 0, 93, 0, 33, zlib.crc32(value), len(packed), len(value), len(name), 0
        )
        directory += (
            b"PK\1\2" + struct.pack("<H", 20) + sizes + struct.pack("<HHHII", 0, 0, 0, 0, len(content))
        )
        directory += name.encode()
        content += b"PK\3\4" + sizes + name.encode() + packed
    count = len(members)
    end = struct.pack("<HHHHIIH", 0, 0, count, count, len(directory), len(content), 0)
    return content + directory + b"PK\5\6" + end


def test_mistakes_say_their_line_and_what_to_do_and_unknown_columns_are_named(tmp_path: Path) -> None:
    right = {"model": "m", "temperature": 1, "messages": [{"role": "assistant", "content": "Hi"}]}
    done = converted(lines(tmp_path / "right.jsonl", right), tmp_path / "items.jsonl")
    assert "column 'temperature', which is not read: 1" in done.stderr
    wrong = [{"messages": [{"role": "usr", "content": "Hi"}]}, right | {"id": "a"}, right | {"id": "a"}]
    with pytest.raises(DataError) as caught:
        exchange.read(lines(tmp_path / "wrong.jsonl", *wrong), "openai", Naming())
    assert [str(problem) for problem in caught.value.problems] == [
        "line 1: does not say which system it is of. Name the system with --system NAME.",
        "line 1.messages[0].role: 'usr' is none of user, assistant, system, developer, tool, function. "
        "Correct the line or take it out.",
        "the conversation 'a': 'm' has two of this name. Give each a name of its own.",
    ]
    cut = converted(lines(tmp_path / "cut.jsonl", right, "{"), tmp_path / "other.jsonl")
    assert (cut.exit_code, "line 2: is not JSON" in cut.stderr) == (2, True)
    utterance = {"conversation_id": "u", "speaker": "s", "text": "Hi", "meta": [1]}
    corpus = converted(lines(tmp_path / "utterances.jsonl", utterance), tmp_path / "other.jsonl")
    assert "line 1.meta: is not an object." in corpus.stderr
    assert not (tmp_path / "other.jsonl").exists()


def test_a_run_gives_transcripts_without_its_qc_bot_and_says_the_rest(tmp_path: Path) -> None:
    run = spoken_run(8)
    content = of_run(run)
    assert run.words is not None
    competing = run.conversations[~run.conversations["is_qc"]]
    assert [one.name for one in content.transcripts] == competing["conversation"].to_list()
    row = competing.index[0]
    said = run.words.exchanges[run.words.exchanges["conversation"] == row]
    assert content.transcripts[0].messages[:2] == (
        ("worker", said["input"].iloc[0]),
        ("bot", said["reply"].iloc[0]),
    )
    assert content.transcripts[0].ratings == run.ratings.iloc[row].to_dict()
    lost = {loss.what: loss.count for loss in exchange.losses(content, "openai")}
    assert lost["conversations with the QC bot"] == int(run.conversations["is_qc"].sum())


def test_a_run_of_comparisons_gives_votes_with_the_lines_until_each_choice(tmp_path: Path) -> None:
    pair = {
        "pair": 1,
        "left": "base",
        "right": "large",
        "choices": [{"turn": 1, "preference": "right"}, {"turn": 3, "preference": "tie"}],
        "lines": [
            {"turn": 0, "author": "worker", "text": "Hi"},
            {"turn": 1, "author": "bot", "left": "A", "right": "B"},
            {"turn": 2, "author": "worker", "text": "So?"},
            {"turn": 3, "author": "bot", "left": None, "right": "C"},
        ],
    }
    systems = [{"system": name, "is_qc": name == "qc"} for name in ("base", "large", "qc")]
    header = {"format": "candor-choices", "version": 1, "run": "r", "assignments": 1, "simulated": True}
    source = lines(
        tmp_path / "choices.jsonl",
        header | {"criteria": [], "systems": systems},
        {"assignment": "a", "worker": "w", "pairs": [pair, pair | {"pair": 2, "right": "qc"}]},
    )
    with open_source(str(source)) as opened:
        content = content_of(opened, LoadOptions())
    first, second = content.votes
    assert (first.first.messages, first.second.messages) == (
        (("worker", "Hi"), ("bot", "A")),
        (("worker", "Hi"), ("bot", "B")),
    )
    assert [len(one.messages) for one in (second.first, second.second)] == [3, 4]
    assert (first.winner, second.winner, first.voter) == ("second", "tie", "w")
    done = converted(source, tmp_path / "votes.jsonl", "--to", "arena")
    assert "votes between a system and the QC bot: 2" in done.stderr
    written = [json.loads(line) for line in (tmp_path / "votes.jsonl").read_text().splitlines()]
    assert [(row["winner"], row["turn"], row["simulated"]) for row in written] == [
        ("model_b", 1, True),
        ("tie", 2, True),
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--to", "dpo"), "holds votes between two conversations, and chats has none"),
        (("--to", "hits"), "conversations and votes hold no run"),
        (("--to", "convokit", "--force"), "Name another folder"),
    ],
)
def test_what_cannot_be_written_is_refused(arguments: tuple[str, ...], message: str, tmp_path: Path) -> None:
    exchange.save(TRANSCRIPTS, tmp_path / "chats.jsonl", "openai")
    (tmp_path / "target").mkdir()
    target = tmp_path / ("target" if "convokit" in arguments else "other.jsonl")
    done = converted(tmp_path / "chats.jsonl", target, *arguments)
    assert (done.exit_code, message in done.stderr) == (2, True), done.output


def test_simulated_workers_are_converted_if_they_are_chosen(spoken_database: Any, tmp_path: Path) -> None:
    spoken_database.execute("UPDATE v1_assignment SET simulated = 1 WHERE worker = 'anna'")  # who spoke
    target = tmp_path / "programs.jsonl"
    assert "holds no texts" in converted(spoken_database.url, target, "--to", "openai").stderr
    done = converted(spoken_database.url, target, "--to", "openai", "--simulated")
    assert done.exit_code == 0, done.output
    rows = [json.loads(line) for line in target.read_text().splitlines()]
    assert {(row["worker"], row["simulated"]) for row in rows} == {("anna", True)}
    refused = converted(target, tmp_path / "items.jsonl", "--simulated")
    assert "--simulated would have no effect" in refused.stderr


def test_names_of_systems_without_effect_are_refused(
    small_hits: dict[str, Any], hits_file: Callable[[object], Path], tmp_path: Path
) -> None:
    done = converted(hits_file(small_hits), tmp_path / "run.jsonl", "--to", "openai", "--system", "x")
    assert "--system would have no effect" in done.stderr


@pytest.mark.parlai
@pytest.mark.soak  # importing ParlAI takes ten seconds
def test_parlai_reads_what_is_written_and_what_it_writes_is_read(tmp_path: Path) -> None:
    need_parlai()
    from parlai.utils.conversations import Conversations

    exchange.save(TRANSCRIPTS, tmp_path / "ours.jsonl", "parlai")
    read = [[(turn.id, turn.text) for turn in one] for one in Conversations(str(tmp_path / "ours.jsonl"))]
    assert read[0][:2] == [("w1", "Hi!"), ("base", "Hello.")]
    pairs = [[{"id": "human", "text": "Hi"}, {"id": "blender", "text": "Hello"}]]
    Conversations.save_conversations([pairs], str(tmp_path / "theirs.jsonl"), {})
    (found,) = exchange.read(tmp_path / "theirs.jsonl", "parlai", Naming()).transcripts
    assert (found.system, found.messages) == ("blender", (("worker", "Hi"), ("bot", "Hello")))

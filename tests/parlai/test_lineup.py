"""The command that trains the line-up, and what it leaves behind."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import TypeAdapter
from typer.testing import CliRunner

from bots.corpus import load_corpus
from bots.endpoints import Endpoint
from bots.parlai.training import CHOICES, LINEUP, TrainedOtherwiseError, Training, training_data
from bots.train_lineup import app
from tests.parlai.support.tiny_lineup import EPOCHS

NAMES = [architecture.name for architecture in LINEUP]


def _records(models: Path) -> dict[str, Any]:
    return {name: json.loads((models / name / "training.json").read_text()) for name in NAMES}


def test_all_five_are_trained_and_tried_on_dialogues_that_they_have_not_seen(models: Path) -> None:
    records = _records(models)
    assert NAMES == ["biencoder", "polyencoder", "kvmemnn", "seq2seq", "lan_model"]
    for record in records.values():
        # 2 of 20 dialogues are held out; of 6 turns each side says 3, the first of them into silence.
        assert record["trained"]["examples"] == 2 * (3 + 3)
    for name in ("seq2seq", "lan_model"):  # something was learned: guessing has a perplexity of all the words
        words = len((models / name / "model.dict").read_text().splitlines())
        assert 1 < records[name]["trained"]["score"] < 0.8 * words
    assert all(0 <= records[name]["trained"]["score"] <= 1 for name in NAMES[:3])
    assert not list(models.glob("*/model.checkpoint*"))


def test_the_study_has_ten_systems_in_five_families_with_bots_of_the_host(
    models: Path, corpus_file: Path
) -> None:
    study = yaml.safe_load((models / "lineup.yaml").read_text())
    assert study["corpus"] == study["qc"]["corpus"] == str(corpus_file)
    assert study["bots"] == {
        name: {"kind": "http", "urls": [f"http://127.0.0.1:8601/{name}"]} for name in NAMES
    }
    assert all(TypeAdapter(Endpoint).validate_python(each) for each in study["bots"].values())
    systems = {(each["family"], each["bot"], each.get("persona")) for each in study["systems"]}
    assert systems == {(name, name, persona) for name in NAMES for persona in (None, "random")}
    names = {each["name"] for each in study["systems"]}
    assert names == {*NAMES, *(f"{name}_p" for name in NAMES)} == set(study["simulate"]["quality"])


def test_a_finished_line_up_is_not_trained_again(models: Path, corpus_file: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in models.glob("*/model")}
    assert len(before) == 5
    result = CliRunner().invoke(app, ["--corpus", str(corpus_file), "--out", str(models), "--epochs", EPOCHS])
    assert result.exit_code == 0, result.output
    assert {path: path.stat().st_mtime_ns for path in models.glob("*/model")} == before


def test_other_settings_are_refused_rather_than_mixed(models: Path, corpus_file: Path) -> None:
    result = CliRunner().invoke(app, ["--corpus", str(corpus_file), "--out", str(models), "--epochs", "2"])
    assert result.exit_code == 2
    assert "biencoder holds a model of another corpus or other settings" in result.output


class _PowerCutError(Exception):
    pass


def test_an_interrupted_training_goes_on_where_it_was(
    corpus_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bots.parlai.training._SAVE_EVERY", 1e-6)
    data = training_data(load_corpus(str(corpus_file)))
    dialogues = data.write_dialogues(tmp_path / "corpus")
    training = Training(LINEUP[2], data, dialogues, tmp_path / "kvmemnn", 8, 1)

    def cut(done: float) -> None:
        if done > 4:
            raise _PowerCutError

    with pytest.raises(_PowerCutError):
        training.run(cut)
    heard: list[float] = []
    trained = training.run(heard.append)
    assert heard[0] > 4
    assert heard[-1] >= 8
    assert Path(trained.model_file).is_file()
    with pytest.raises(TrainedOtherwiseError):
        Training(LINEUP[2], data, dialogues, tmp_path / "kvmemnn", 8, 2).run(heard.append)


def test_a_corpus_that_is_too_small_or_missing_is_said_plainly(tmp_path: Path) -> None:
    path = tmp_path / "one.jsonl"
    path.write_text('{"dialogue": "d", "turns": ["Hello.", "Hi."]}\n')
    result = CliRunner().invoke(app, ["--corpus", str(path), "--out", str(tmp_path / "models")])
    assert (result.exit_code, "Give a corpus with more dialogues." in result.output) == (2, True)
    result = CliRunner().invoke(app, ["--corpus", str(tmp_path / "none"), "--out", str(tmp_path / "models")])
    assert (result.exit_code, "no such file" in result.output) == (2, True)


def test_training_data_has_each_dialogue_from_both_sides_and_some_without_persona(tmp_path: Path) -> None:
    path = tmp_path / "two.jsonl"
    path.write_text(
        '{"persona": "a", "sentences": ["I am A.", "I a|so am."]}\n'
        '{"dialogue": "d1", "speakers": ["a", "a"], "turns": ["One.", "Two.", "Three."]}\n'
        '{"dialogue": "d2", "speakers": ["a", "a"], "turns": ["One.", "Two.", "Three."]}\n'
    )
    data = training_data(load_corpus(str(path)))
    persona = r"your persona: I am A.\nyour persona: I a__PIPE__so am.\n"
    first = ["text:{}__SILENCE__\tlabels:One.", "text:Two.\tlabels:Three.\tepisode_done:True"]
    second = "text:{}One.\tlabels:Two.\tepisode_done:True"
    expected = [line.format(who) for who in (persona, "") for line in first]
    expected.append(second.format(persona))  # of two sides, the first comes without its persona, too
    expected.append(
        "text:__SILENCE__\tlabels:One.\tepisode_done:True"
    )  # the first of three replies, by itself
    assert sorted(line.rstrip("\t") for line in data.train.splitlines()) == sorted(expected)
    assert sorted(data.candidates.splitlines()) == ["One.", "Three.", "Two."]
    memories = [json.loads(line) for line in data.exchanges.splitlines()]
    assert {"said": ["__SILENCE__", "One.", "Two."], "reply": "Three."} in memories


def test_held_out_replies_are_among_twenty_of_other_dialogues() -> None:
    data = training_data(load_corpus("builtin:smalltalk"))
    for line in data.valid.splitlines():
        fields = dict(field.split(":", 1) for field in line.split("\t") if field)
        choices = fields["label_candidates"].split("|")
        assert choices[0] == fields["labels"]
        assert len(set(choices)) == CHOICES
        assert line.split("\t")[0] not in choices


def test_a_model_without_its_exchanges_says_what_is_missing(models: Path, tmp_path: Path) -> None:
    from bots.host.model import HostModelError
    from bots.host.parlai import ParlaiModel

    copy = tmp_path / "kvmemnn"
    shutil.copytree(models / "kvmemnn", copy)
    (copy / "exchanges.jsonl").unlink()
    with pytest.raises(HostModelError, match=r"exchanges\.jsonl: cannot be read"):
        ParlaiModel(str(copy / "model"))

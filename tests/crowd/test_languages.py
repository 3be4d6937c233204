"""A Chinese and a German study, whole: simulated workers, the qc bot of the language, the filter."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
import yaml

from bots.qc_bots import run_length
from candor.common.segmentation import foreign_language, split_words
from tests.bots.support.corpora import CORPORA, write_corpus
from tests.crowd.test_crowd import SOAK, report
from tests.server.support.talker import talking
from tests.support.server_process import Server

LANGUAGES = ("zh", "de") if SOAK else ("zh",)  # German differs from English in little that is tested here
WORKERS, HONEST, RANDOM = 24, 16, 8
A_CROWD = 600  # seconds, more than enough on a machine that is busy with other things

pytestmark = pytest.mark.timeout(3 * A_CROWD)


def study(language: str, urls: list[str], corpus: Path) -> str:
    """Return a study in a language: two systems that speak it, and a qc bot over a corpus of it."""
    bots = {f"bot{at}": {"kind": "http", "urls": [url]} for at, url in enumerate(urls)}
    content = {
        "name": f"study_{language}",
        "title": "…",
        "payment": "…",
        "language": language,
        "systems_per_assignment": 2,
        "minimum_inputs": 2,
        "bots": bots,
        "systems": [{"name": f"{name}_system", "family": name, "bot": name} for name in bots],
        "qc": {"corpus": str(corpus)},
        "reply_time": {"median": 0, "spread": 0, "longest": 0},
        "simulate": {"quality": {f"{name}_system": 0.6 for name in bots}},
    }
    return yaml.safe_dump(content, allow_unicode=True)


@pytest.fixture(scope="module")
def held(
    server: Server, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, dict[str, set[str]]]]:
    """Both studies, in which everybody has handed in: the assignments of each profile, by language."""
    folder = tmp_path_factory.mktemp("languages")
    found: dict[str, dict[str, set[str]]] = {}
    with ExitStack() as stack:
        for language in LANGUAGES:
            lines = [turn for dialogue in CORPORA[language] for turn in dialogue]
            urls = [stack.enter_context(talking(*lines[at::2])).url for at in range(2)]
            file = folder / f"{language}.yaml"
            file.write_text(study(language, urls, write_corpus(folder, language)), encoding="utf-8")
            server.open_unchecked(file, language)
        server.start()
        for language in LANGUAGES:
            log = folder / f"{language}.log"
            mix = f"honest={HONEST},random={RANDOM}"
            crowd = server.crowd(
                language, "--workers", str(WORKERS), "--mix", mix, "--seed", "5", "--log", str(log)
            )
            output, _ = crowd.communicate(timeout=A_CROWD)
            assert crowd.returncode == 0, output
            assert f"The study is in {language}" in " ".join(output.split()), output
            for entry in map(json.loads, log.read_text().splitlines()):
                by_profile = found.setdefault(language, {})
                by_profile.setdefault(entry["profile"], set()).add(entry["assignment"])
        yield found


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_filter_tells_honest_workers_from_random_ones(
    server: Server, held: dict[str, dict[str, set[str]]], language: str, tmp_path: Path
) -> None:
    workers = report(server, language, tmp_path)["workers"]
    assert workers["total"] == WORKERS
    with sqlite3.connect(server.data / "candor.db") as database:
        worker_of = dict(database.execute("SELECT assignment_id, worker FROM v1_assignment").fetchall())
    failed = {worker["worker"] for worker in workers["failed"]}
    honest, random = ({worker_of[a] for a in held[language][name]} for name in ("honest", "random"))
    assert (len(honest), len(random)) == (HONEST, RANDOM)
    assert len(honest & failed) <= 2
    assert len(random & failed) >= RANDOM - 2


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_line_of_the_qc_bot_was_distorted(
    server: Server, held: dict[str, dict[str, set[str]]], language: str
) -> None:
    with sqlite3.connect(server.data / "candor.db") as database:
        said = database.execute(
            "SELECT text FROM v1_turn JOIN v1_conversation USING (conversation_id) JOIN v1_run USING (run_id)"
            " WHERE author = 'bot' AND is_qc AND run = ?",
            (language,),
        ).fetchall()
    turns = [turn for dialogue in CORPORA[language] for turn in dialogue]
    assert len(said) == WORKERS * 2
    for (line,) in said:
        assert line not in turns
        # A response of eight words or so keeps all but three of them, in both languages.
        assert any(
            sum(word not in line for word in words) <= run_length(len(words))
            for words in (split_words(turn, language) for turn in turns)
        )


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_workers_write_in_the_language_of_the_study(
    server: Server, held: dict[str, dict[str, set[str]]], language: str
) -> None:
    with sqlite3.connect(server.data / "candor.db") as database:
        said = database.execute(
            "SELECT text FROM v1_turn JOIN v1_run USING (run_id) WHERE author = 'worker' AND run = ?",
            (language,),
        ).fetchall()
    assert len(said) == WORKERS * 3 * 2
    assert not [line for (line,) in said if foreign_language(line, language)]

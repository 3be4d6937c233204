"""The transcripts in the docs are what the bots say today, in any process."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bots.builtin import bot_specs
from bots.builtin.transcript import SCRIPT, page
from bots.serving import Corpus

TRANSCRIPTS = Path(__file__).parents[3] / "docs" / "reference" / "transcripts"


@pytest.mark.parametrize("spec", bot_specs())
def test_transcript_is_up_to_date(corpus: Corpus, spec: str) -> None:
    written = TRANSCRIPTS / f"{spec.removeprefix('builtin:')}.md"
    assert page(spec, corpus) == written.read_text(encoding="utf-8"), "run python -m bots.builtin.transcript"


def test_there_is_no_transcript_of_a_bot_that_is_gone() -> None:
    expected = {f"{spec.removeprefix('builtin:')}.md" for spec in bot_specs()}
    assert {path.name for path in TRANSCRIPTS.glob("*.md")} == expected


def test_a_transcript_has_the_whole_script(corpus: Corpus) -> None:
    text = page("builtin:reflect", corpus)
    assert [text.count(f"**Worker:** {line}\n") for line in SCRIPT] == [2] * len(SCRIPT)


def test_another_process_says_the_same(tmp_path: Path) -> None:
    """Hashes of strings differ between processes; nothing that is said may depend on them."""
    command = [sys.executable, "-m", "bots.builtin.transcript", "--out", str(tmp_path)]
    subprocess.run(command, check=True, capture_output=True, env={**os.environ, "PYTHONHASHSEED": "99"})
    for path in TRANSCRIPTS.glob("*.md"):
        assert (tmp_path / path.name).read_text(encoding="utf-8") == path.read_text(encoding="utf-8")

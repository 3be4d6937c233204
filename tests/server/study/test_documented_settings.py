"""The YAML of docs/how-to/studies is valid: each block is a part of a study, or the rules of a run."""

import re
import textwrap
from pathlib import Path

import pytest
import yaml

from server.run_rules import RunRules, parse_rules
from server.study import Study, parse_study

PAGES = sorted((Path(__file__).parents[3] / "docs" / "how-to" / "studies").rglob("*.md"))
BLOCK = re.compile(r"^( *)```yaml\n(.*?)^\1```", re.DOTALL | re.MULTILINE)
BLOCKS = [
    pytest.param(textwrap.dedent(block), id=f"{page.stem} {i}")
    for page in PAGES
    for i, (_, block) in enumerate(BLOCK.findall(page.read_text(encoding="utf-8")))
]
AROUND = {"name": "study", "title": "Chats", "payment": "Nobody is paid."}
CHATS = {
    "systems": [
        {"name": "retrieval", "family": "retrieval", "bot": "builtin:retrieval", "persona": "random"},
        {"name": "interviewer", "family": "interviewer", "bot": "builtin:interviewer"},
    ],
    "systems_per_assignment": 2,
}
READS = {"criteria": [{"label": "fluent", "statement": "It is fluent."}]}


@pytest.mark.parametrize("block", BLOCKS)
def test_a_part_of_a_study_in_a_page_is_valid(block: str) -> None:
    given = yaml.safe_load(block)
    if given.keys() <= RunRules.model_fields.keys():
        assert parse_rules(block, "rules.yaml") != RunRules()
        return
    assert given.keys() <= Study.model_fields.keys()
    around = {"chat": CHATS, "transcripts": READS}.get(given.get("task", "chat"), {})
    parse_study(yaml.safe_dump(AROUND | around | given, allow_unicode=True))


def test_the_pages_have_yaml() -> None:
    assert len(BLOCKS) > 10

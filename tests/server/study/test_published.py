"""A study that others get pays nobody, grants no credit and opens no service."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from server.study import DEMO, LEFT_OUT, parse_study, published, study_schema

TEXT = DEMO.read_text(encoding="utf-8")
BOT = {
    "kind": "openai",
    "urls": ["https://models.lab.example/v1"],
    "model": "small",
    "headers": {"X-Team": "s3cret-of-the-team"},
    "query": {"api-key": "s3cret-of-azure"},
}
RECRUITERS: list[dict[str, Any]] = [
    {"recruiter": {"kind": "prolific", "completion_code": "S3CRET"}},
    {
        "recruiter": {
            "kind": "connect",
            "completion_code": "S3CRET",
            "completion_url": "https://connect.example/done?code=s3cret",
            "partial_url": "https://connect.example/part?code=s3cret",
        }
    },
    {
        "recruiter": {
            "kind": "sona",
            "school": "lab.sona-systems.com",
            "experiment_id": 7,
            "credit_token": "s3cret",
        }
    },
    {"completion_url": "https://pay.example/?code=s3cret"},
]


def study(changes: dict[str, Any]) -> str:
    content = yaml.safe_load(TEXT) | changes
    content["bots"] = {"theirs": BOT}
    content["systems"][0]["bot"] = "theirs"
    return f"# the code there is s3cret\n{yaml.safe_dump(content)}"


@pytest.mark.parametrize("changes", RECRUITERS, ids=lambda changes: str(changes)[:30])
def test_no_secret_is_left_and_it_is_a_study_still(changes: dict[str, Any]) -> None:
    text = published(study(changes))
    assert "s3cret" not in text.lower()
    assert LEFT_OUT in text
    kept, before = parse_study(text), parse_study(study(changes))
    assert kept.systems == before.systems
    assert kept.criteria == before.criteria
    assert kept.bots["theirs"].model_dump()["urls"] == BOT["urls"]


def test_a_study_without_secrets_stays_as_it_is() -> None:
    assert published(TEXT) == TEXT


def test_what_was_read_of_a_study_before_is_not_changed() -> None:
    text = study(RECRUITERS[0])
    published(text)
    assert parse_study(text).recruiter.completion_code == "S3CRET"  # type: ignore[union-attr]


def names(schema: object) -> Iterator[str]:
    if isinstance(schema, dict):
        yield from schema.get("properties", {})
        for part in schema.values():
            yield from names(part)
    elif isinstance(schema, list):
        for part in schema:
            yield from names(part)


def test_every_setting_that_sounds_like_a_secret_is_known() -> None:
    """A new one has to be left out by `published`, or to be named here as none."""
    found = {name for name in names(study_schema()) if re.search("code|token|secret|password|url", name)}
    no_secrets = {"urls", "url", "max_tokens", "max_completion_tokens", "max_new_tokens", "thinking_tokens"}
    assert found - no_secrets <= {"completion_code", "credit_token", "completion_url", "partial_url"}

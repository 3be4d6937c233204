"""Tests of trying and checking the bots of a study that is being written."""

import json
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
import yaml

from server.desk.trials import MESSAGES
from tests.server.support.answers import error
from tests.server.support.database import execute, query
from tests.server.support.provider import SAID, Provider, providing
from tests.server.support.registered import Serve, bots, good
from tests.server.support.server import House

KEY = "sk-very-secret-3141"
DOWN = {"kind": "openai", "urls": ["http://127.0.0.1:1/v1"], "model": "m"}


@pytest.fixture
def provider() -> Iterator[Provider]:
    with providing() as found:
        yield found


def draft(endpoint: Any, **changes: Any) -> str:
    """Return a study that lacks most settings, with an own bot `far` in the system `north`."""
    systems = [{"name": "north", "family": "north", "bot": "far", "persona": ["I sail."], "prompt": "Rhyme."}]
    return yaml.safe_dump({"name": "reef", "bots": {"far": endpoint}, "systems": systems} | changes)


def tried(house: House, text: str, *said: str, token: str | None = None, **body: Any) -> httpx2.Response:
    turns = [
        {"author": "bot" if at % 2 else "worker", "text": line} for at, line in enumerate(said or ("Hi!",))
    ]
    body = {"yaml": text, "bot": "far", "turns": turns, "confirmed": True} | body
    return house.desk("/studies/reef/trial", token, "POST", json=body)


def told(house: House, endpoint: Any, **changes: Any) -> dict[str, Any]:
    """Return the failure of a trial that shows nothing."""
    found = good(tried(house, draft(endpoint, **changes)))
    assert found["text"] is None
    trouble: dict[str, Any] = found["trouble"]
    return trouble


def test_a_reply_comes_with_what_was_sent_and_what_came(house: House, provider: Provider) -> None:
    output = "<think>A rhyme.</think>Bot: The sea is deep."
    usage = {"prompt_tokens": 40, "completion_tokens": 10}
    message = {"choices": [{"message": {"content": output}, "finish_reason": "stop"}], "usage": usage}
    provider.answers = json.dumps(message), "application/json"
    priced = provider.endpoint() | {"price": {"input": 100, "output": 400}, "prompt": "Be brief."}
    said = ("Hi!", "Ahoy.", "And now?")
    found = good(tried(house, draft(priced), *said, system="north"))
    assert (found["text"], found["output"]) == ("The sea is deep.", output)
    assert (found["changes"], found["trouble"]) == (["thoughts", "marks"], None)
    assert (found["persona"], found["prompt"]) == (["I sail."], "Rhyme.")
    (call,) = found["calls"]
    sent = json.loads(call["sent"])["messages"]
    assert [message["role"] for message in sent] == ["system", "user", "assistant", "user"]
    assert "Be brief." in sent[0]["content"]
    assert "I sail." in sent[0]["content"]
    assert (call["status"], json.loads(call["received"])) == (200, message)
    origin = found["provenance"]
    # 40 tokens at 100 for a million, and 10 at 400.
    assert (origin["tokens_in"], origin["tokens_out"], origin["cost"]) == (40, 10, 0.008)
    # Without a system, the bot has neither its persona nor its prompt.
    alone = good(tried(house, draft(priced)))
    assert (alone["persona"], alone["prompt"]) == ([], "")


def test_a_trial_stores_nothing_but_a_line_of_the_audit_log(house: House, provider: Provider) -> None:
    tables = [name for (name,) in query(house.url, "SELECT name FROM sqlite_master WHERE type = 'table'")]

    def counts() -> dict[str, int]:
        return {name: query(house.url, f'SELECT count(*) FROM "{name}"')[0][0] for name in tables}  # noqa: S608

    before = counts()
    assert good(tried(house, draft(provider.endpoint())))["text"] == SAID
    assert {name for name, count in counts().items() if count != before[name]} == {"audit_entry"}
    row = "SELECT action, subject, detail FROM audit_entry ORDER BY id DESC LIMIT 1"
    assert query(house.url, row) == [("bot.try", "far", "in the study reef")]


@pytest.mark.parametrize(
    ("refused", "what", "remedy"),
    [
        ((401, {"error": {"message": "no"}}), "wants a key", "environment variable"),
        ((404, {}), "does not know this address or this model", "the model’s name"),
        ((429, {}), "limits how often", "Wait a moment"),
        ((402, {}), "budget is spent", "add money"),
        ((400, {"error": {"message": "temperature?"}}), "does not take the request", "Advanced"),
    ],
)
def test_a_refusal_is_told_in_plain_words(
    house: House, provider: Provider, refused: tuple[int, dict[str, object]], what: str, remedy: str
) -> None:
    provider.refuses = refused
    trouble = told(house, provider.endpoint())
    assert what in trouble["what"]
    assert remedy in trouble["remedy"]


def test_an_endpoint_that_is_down_slow_or_a_web_page_is_told_apart(house: House, provider: Provider) -> None:
    assert "cannot be reached" in told(house, DOWN)["what"]
    provider.answers = "<!doctype html><title>Welcome</title>", "text/html"
    found = good(tried(house, draft(provider.endpoint())))
    assert "a web page" in found["trouble"]["what"]
    assert "Welcome" in found["calls"][0]["received"]
    provider.freed.clear()
    slow = told(house, provider.endpoint(), timeouts={"bot_try": 0.2})
    assert "did not answer in time" in slow["what"]
    assert "0.2 s" in slow["details"]


def test_a_key_is_never_shown(
    url: str, run: Any, serve: Serve, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REEF_KEY", KEY)
    house = serve(url, run, bot_keys={"REEF_KEY": ["127.0.0.1"]})
    provider.refuses = 401, {"error": {"message": f"the key {KEY} is wrong"}}
    answer = tried(house, draft(provider.endpoint() | {"key": "REEF_KEY"}))
    assert "the environment variable REEF_KEY" in good(answer)["trouble"]["remedy"]
    assert KEY not in answer.text
    elsewhere = provider.endpoint() | {"key": "OTHER_KEY"}
    error(tried(house, draft(elsewhere)), 422, "bot_unusable")  # the operator has not allowed it


def test_builtin_and_registered_bots_are_tried_by_name(house: House, provider: Provider) -> None:
    for bot in ("builtin:reflect", "qc"):
        found = good(tried(house, "name: reef", "Hello there, how are you?", bot=bot))
        assert found["text"]
        assert found["calls"] == []
    good(bots(house, "POST", json={"name": "near", "endpoint": provider.endpoint()}), 201)
    assert good(tried(house, "name: reef", bot="near"))["text"] == SAID
    error(tried(house, "name: reef", bot="nobody"), 404, "bot_not_found")
    error(tried(house, "name: reef", bot="human:wizard"), 422, "bot_unusable")


def test_a_registered_bot_whose_cap_is_reached_is_not_asked(house: House, provider: Provider) -> None:
    capped = provider.endpoint() | {"price": {"input": 1, "output": 1}, "spending_cap": 5}
    good(bots(house, "POST", json={"name": "near", "endpoint": capped}), 201)
    execute(house.url, "INSERT INTO bot (id, spec) VALUES (77, 'near')")
    execute(house.url, "INSERT INTO spending (run_id, bot_id, cost) VALUES (1, 77, 6.0)")
    found = good(tried(house, "name: reef", bot="near"))
    execute(house.url, "DELETE FROM spending WHERE bot_id = 77")  # or the audit finds more than was called
    assert "budget is spent" in found["trouble"]["what"]
    assert provider.asked == 0


def test_what_may_cost_money_is_confirmed_and_mistakes_of_bots_are_named(house: House) -> None:
    priced = DOWN | {"price": {"input": 1, "output": 1}}
    said = error(tried(house, draft(priced), confirmed=False), 409, "needs_confirmation")
    assert "each message: about 1 call to “far” at 127.0.0.1" in said["message"]
    lacks = error(
        tried(house, draft({"kind": "openai", "urls": ["http://127.0.0.1:1"]})), 422, "study_invalid"
    )
    assert "bots.far.model" in lacks["message"]


def test_who_may_not_change_bots_sees_no_address_of_a_registered_one(house: House) -> None:
    good(bots(house, "POST", json={"name": "near", "endpoint": DOWN}), 201)
    someone = house.token_in("reef", "researcher")
    answer = tried(house, "name: reef", bot="near", token=someone)
    assert "cannot be reached" in good(answer)["trouble"]["what"]
    assert "127.0.0.1" not in answer.text
    error(
        tried(house, "name: reef", bot="near", token=house.token_in("atoll", "researcher")),
        403,
        "not_allowed",
    )


def test_too_many_messages_in_a_minute_are_refused(
    url: str, run: Any, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("server.desk.trials.MESSAGES", MESSAGES.__class__(2))
    house = serve(url, run)
    for _ in range(2):
        good(tried(house, "name: reef", bot="builtin:reflect"))
    error(tried(house, "name: reef", bot="builtin:reflect"), 429, "rate_limited")


def test_an_own_bot_is_checked_as_it_stands(house: House, provider: Provider) -> None:
    body = {"yaml": draft(provider.endpoint(), language="de", assignments=2), "bot": "far"}
    answer = house.desk("/studies/reef/bot-check", method="POST", json=body)
    assert answer.headers["content-type"].startswith("text/event-stream")
    views = [json.loads(line[6:]) for line in answer.text.splitlines() if line.startswith("data: ")]
    assert [view["state"] for view in views[:-1]] == ["running"] * (len(views) - 1)
    over = views[-1]
    assert (over["state"], over["report"]["verdict"]) == ("finished", "fail")  # it always says the same
    assert over["report"]["calls"] == provider.asked == over["total"]
    assert over["report"]["scope"]["language"] == "de"
    unknown = house.desk("/studies/reef/bot-check", method="POST", json=body | {"bot": "near"})
    error(unknown, 404, "bot_not_found")

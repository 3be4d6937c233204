"""Nothing that is sent to a worker's page tells systems apart."""

import json
from collections.abc import Callable
from pathlib import Path

from bots import Bot, Chat, Reply
from qc.loading import load
from tests.server.support.bots import BROKEN, Says
from tests.server.support.commands import Candor
from tests.server.support.database import make_run
from tests.server.support.server import House, stored
from tests.server.support.study import PERSONAS, RATINGS, RUN, SYSTEMS, study_text

Serve = Callable[..., House]


def test_nothing_that_a_worker_is_sent_tells_systems_apart(url: str, serve: Serve) -> None:
    quick = {"bot_try": 0.2, "bot_total": 0.2}
    bots: dict[str, Bot] = {name: Says("What do you think?") for name in SYSTEMS}
    bots |= {"quokka_plain": BROKEN, "marmot_warm": BROKEN}
    house = serve(url, make_run(url, study_text(timeouts=quick), bots), exempt_addresses=["127.0.0.1"])
    sent: list[str] = []
    # Enough workers for every system to be met, failures and refusals included.
    for number in range(4):
        answer = house.join(f"w{number}")
        token, assignment = answer.json()["token"], answer.json()["assignment"]
        # Its own token and assignment are all that the way in tells a worker.
        sent += [str(answer.headers), answer.text.replace(token, "").replace(assignment, "")]
        with house.open(token) as page:
            assert page.connection.response is not None
            headers = dict(page.connection.response.headers.raw_items())
            del headers["Sec-WebSocket-Accept"]  # a digest, in which any two letters may meet
            sent.append(str(headers))
            page.agree()
            done = 0
            while done < 4:
                page.ask("topic", text="the sea", opinion="like")
                page.ask("rate", ratings={})
                page.ask("end_conversation")
                page.send("say", text="Hello?")
                while (message := page.receive())["type"] not in {"said", "replaced"}:
                    pass
                if message["type"] == "replaced":
                    page.until("topic_due")
                    continue
                page.say("And you?")
                page.send("end_conversation")
                page.until("rating_due")
                page.send("rate", "r", ratings={"zeal": 3})
                done += 1
                page.send("rate", ratings=RATINGS)
                while page.receive()["type"] not in {"topic_due", "feedback_due"}:
                    pass
            page.send("feedback", text="")
            page.until("completed")
            code = house.auth.completion_code(assignment)  # in which any two letters may meet
            sent += [frame.replace(code, "") for frame in page.frames]
        for path in ("/w/" + RUN, "/api/desk/runs", "/nowhere"):
            refused = house.http("GET", path)
            sent += [str(refused.headers), refused.text]
    met = stored(house, "SELECT DISTINCT name FROM conversation JOIN system ON system.id = system_id")
    assert {name for (name,) in met} == {*SYSTEMS, "qc"}
    assert stored(house, "SELECT count(*) FROM note WHERE kind = 'replaced'") != [(0,)]
    everything = "\n".join(sent).lower()
    secrets = {*SYSTEMS, *SYSTEMS.values(), "qc", "_plain", "_warm", "://spec", "seed", "persona"}
    secrets |= {sentence for persona in PERSONAS for sentence in persona}
    for sql in (
        "SELECT id FROM conversation",
        "SELECT seed FROM conversation UNION SELECT seed FROM run",
        "SELECT spec FROM bot",
        "SELECT DISTINCT assignment_id FROM conversation",
    ):
        secrets |= {str(value) for (value,) in stored(house, sql)}
    assert "what do you think?" in everything  # what was collected is what was said
    assert [secret for secret in secrets if secret.lower() in everything] == []


class Thinks:
    """Thinks in the form of a family of models, answers, goes on as the worker; all but the answer tells."""

    async def reply(self, chat: Chat) -> Reply:
        forms = (
            "<think>Zanzibar plans.</think>\nI like tea.\nUser: Zanzibar asks.\nAssistant: Zanzibar!",
            "Zanzibar plans.\n</think>\n\nI like tea.<|im_end|>\n<|im_start|>user\nZanzibar asks.",
            "<|channel|>analysis<|message|>Zanzibar plans.<|end|><|start|>assistant"
            "<|channel|>final<|message|>I like tea.<|return|>",
            "[THINK]Zanzibar plans.[/THINK]Bot: I like tea.</s>[INST]Zanzibar asks.[/INST]",
        )
        return Reply(forms[chat.seed % len(forms)])


def test_no_thought_and_no_made_up_turn_is_in_any_payload_to_a_worker(
    url: str, serve: Serve, candor: Candor, tmp_path: Path
) -> None:
    house = serve(url, make_run(url, bots=Thinks()))
    with house.page() as page:
        page.whole()
        sent = list(page.frames)
    answer = house.join("bob")
    token = answer.json()["token"]
    sent += [str(answer.headers), answer.text]
    with house.open(token) as page:
        page.agree()
        page.open_topic()
        page.say("Hello?")
        sent += page.frames
    with house.open(token) as again:  # the snapshot of a conversation that is under way
        sent += again.frames
    everything = "\n".join(sent).lower()
    assert everything.count("i like tea.") > 9
    assert [mark for mark in ("zanzibar", "think>", "analysis", "<|", "inst]") if mark in everything] == []
    kept = stored(house, "SELECT text, output, changes FROM v1_reply_output")
    assert len(kept) == 9 == len(stored(house, "SELECT * FROM turn WHERE author = 'bot'"))
    assert {text for text, _, _ in kept} == {"I like tea."}
    assert all("Zanzibar plans." in output for _, output, _ in kept)
    assert all(changes.startswith("thoughts") for _, _, changes in kept)
    file = tmp_path / "hits_data.json"
    done = candor("data", "export", "--run", RUN, "--out", file, "--data", tmp_path, CANDOR_DATABASE_URL=url)
    assert done.exit_code == 0, done.output
    rounds = [said for held in json.loads(file.read_text())["data"][0]["result"] for said in held["dialogue"]]
    assert all("Zanzibar plans." in said["output"] and said["changes"][0] == "thoughts" for said in rounds)
    words = load(file).words
    assert words is not None
    assert set(words.exchanges["reply"]) == {"I like tea."}


def test_whatever_bot_it_is_the_frames_are_the_same_but_for_its_words(url: str, serve: Serve) -> None:
    house = serve(url, make_run(url, bots=Says("The same words.")))
    with house.page() as page:
        page.ask("agree", "first")
        conversations = []
        for _ in range(4):
            page.frames.clear()
            page.converse()
            page.ask("rate", ratings=RATINGS)
            page.ask("agree", "first")  # once this is accepted, everything before it was heard
            messages = [message for frame in page.frames for message in json.loads(frame)]
            conversations.append(sorted(str({**m, "id": "", "conversation": 0}) for m in messages))
        # The qc bot's among them. Only what follows the last one differs: feedback instead of a topic.
        assert conversations[0] == conversations[1] == conversations[2]
        assert len(conversations[3]) == len(conversations[0])

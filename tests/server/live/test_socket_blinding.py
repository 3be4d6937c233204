"""What is sent to a worker's page: nothing in it tells systems apart."""

import json
from collections.abc import Callable

from bots import Bot
from tests.server.support.bots import BROKEN, Says
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

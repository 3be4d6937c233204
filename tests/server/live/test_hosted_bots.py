"""Workers chat with a model of a provider that breaks off, or is out."""

from server.bots.opened_bots import OpenedBots
from tests.server.support.answers import error
from tests.server.support.database import query
from tests.server.support.provider import SAID, providing
from tests.server.support.registered import Serve, open_run
from tests.server.support.study import study_text
from tests.support.waiting import wait_until

SYSTEMS = ("wren", "finch")


def study(**bots: object) -> str:
    """Return a study in which every worker meets every system, each with the bot of its name."""
    return study_text(
        bots=bots,
        systems=[{"name": name, "family": name, "bot": name} for name in bots],
        systems_per_assignment=len(bots),
        qc_per_assignment=0,
        simulate=None,
    )


def test_no_half_of_a_stream_is_stored_as_a_reply_and_each_counts_as_a_failed_try(
    url: str, serve: Serve
) -> None:
    with providing() as provider:
        provider.breaks = 3
        opened_bots = OpenedBots(refuse_private=False)
        run = open_run(url, study(**dict.fromkeys(SYSTEMS, provider.endpoint())), opened_bots)
        house = serve(url, run, opened_bots=opened_bots)
        with house.page() as page:
            page.whole(len(SYSTEMS))
        assert query(url, "SELECT DISTINCT text FROM turn WHERE author = 'bot'") == [(SAID,)]
        broken = provider.asked // 3
        replies = provider.asked - broken
        assert query(url, "SELECT count(*) FROM turn WHERE author = 'bot'") == [(replies,)]
        halves = query(url, "SELECT output FROM v1_bot_call WHERE failure = 'broken'")
        assert halves == [("I went",)] * broken
        assert broken > 0
        bots = house.desk(f"/runs/{run.slug}").json()["bots"]
        assert sum(bot["failed_tries"].get("broken", 0) for bot in bots) == broken


SPENT = 400, {"type": "error", "error": {
    "type": "invalid_request_error", "message": "Your credit balance is too low to access the API.",
}}  # fmt: skip


def test_newcomers_wait_while_a_provider_is_out_and_come_in_when_it_answers_again(
    url: str, serve: Serve
) -> None:
    with providing() as wren, providing() as finch:
        opened_bots = OpenedBots(refuse_private=False, heartbeat=0.05)
        run = open_run(url, study(wren=wren.endpoint(), finch=finch.endpoint()), opened_bots)
        house = serve(url, run, opened_bots=opened_bots)

        def told() -> list[str]:
            found = house.desk(f"/runs/{run.slug}").json()["attention"]
            return [item["text"] for item in found if item["urgent"]]

        with house.page("ann") as page:
            page.agree()
            wren.refuses = finch.refuses = SPENT
            page.open_topic()
            page.send("say", text="Hello?")
            wait_until(lambda: query(url, _FAILED) != [], "the bot to give up")  # at its first try
            (system,) = {name for (name,) in query(url, _FAILED)}
            assert query(url, "SELECT DISTINCT failure FROM v2_note WHERE kind = 'bot_gave_up'") == [
                ("budget",)
            ]
            error(house.join("bob"), 503, "run_not_ready")
            assert query(url, "SELECT count(*) FROM assignment") == [(1,)]
            newcomers = "New workers who would meet it are asked to come back later."
            wait_until(lambda: any(system in text and newcomers in text for text in told()), "the desk")
        wren.refuses = finch.refuses = None
        wait_until(lambda: house.join("bob").status_code == 200, "a trial that finds it mended")
        with house.page("bob") as page:
            page.whole(2)
        assert query(url, "SELECT DISTINCT text FROM turn WHERE author = 'bot'") == [(SAID,)]
        assert told() == []


_FAILED = (
    "SELECT name FROM conversation JOIN system ON system.id = system_id WHERE conversation.status = 'failed'"
)

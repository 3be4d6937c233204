"""Workers chat with a model of a provider that breaks off, or is out."""

from server.bots.opened_bots import OpenedBots
from tests.server.support.database import query
from tests.server.support.provider import SAID, providing
from tests.server.support.registered import Serve, open_run
from tests.server.support.study import study_text

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

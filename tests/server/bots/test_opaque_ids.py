"""Under which names bots know the conversations of workers."""

import re
from collections.abc import Callable

from bots import Chat, Reply
from server.session.plan import assignment_of
from tests.server.support.bots import Echo
from tests.server.support.database import make_run, query
from tests.server.support.server import House


class Listener:
    """Echoes, and remembers what it was asked."""

    def __init__(self) -> None:
        self.heard: list[Chat] = []

    async def reply(self, chat: Chat) -> Reply:
        self.heard.append(chat)
        return await Echo().reply(chat)


def test_a_bot_sees_neither_whose_conversation_it_is_nor_which_of_how_many(
    url: str, serve: Callable[..., House]
) -> None:
    listener = Listener()
    run = make_run(url, bots=listener)
    house = serve(url, run)
    for worker in ("ann", "bob"):
        with house.page(worker) as page:
            page.whole()
    stored = [conversation for (conversation,) in query(url, "SELECT DISTINCT conversation_id FROM turn")]
    names = {chat.conversation_id for chat in listener.heard}
    assert len(stored) == len(names) == 8
    assert all(re.fullmatch("[0-9a-f]{24}", name) for name in names)
    secrets = {*stored, *map(assignment_of, stored)}
    assert not [secret for secret in secrets for name in names if secret in name]


def test_a_conversation_keeps_its_name_over_a_restart(url: str, serve: Callable[..., House]) -> None:
    listener = Listener()
    house = serve(url, make_run(url, bots=listener))
    token = house.token("ann")
    with house.open(token) as page:
        page.agree()
        page.open_topic()
        page.say("one")
    house.stop()
    house.start()
    with house.open(token) as page:
        page.say("two")
    assert [len(chat.turns) for chat in listener.heard] == [1, 3]
    assert len({chat.conversation_id for chat in listener.heard}) == 1

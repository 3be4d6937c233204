"""All of Prolific that a recruiter needs."""

from typing import Self

from server.recruiters.prolific.bonuses import Bonuses
from server.recruiters.prolific.connection import Connection
from server.recruiters.prolific.hooks import Hooks
from server.recruiters.prolific.messages import Messages
from server.recruiters.prolific.studies import Studies
from server.recruiters.prolific.submissions import Submissions


class ProlificClient:
    """Prolific, with the operations on each kind of thing beside each other."""

    def __init__(self, connection: Connection) -> None:
        """Ask over `connection`, which is closed at the end."""
        self._connection = connection
        self.studies = Studies(connection)
        self.submissions = Submissions(connection)
        self.bonuses = Bonuses(connection)
        self.messages = Messages(connection)
        self.hooks = Hooks(connection)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._connection.close()

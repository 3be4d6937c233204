"""Messages to participants at Prolific."""

from server.recruiters.prolific.connection import Connection


class Messages:
    """The operations on messages. Each raises a ProlificFailure."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def send(self, participant: str, study: str, body: str) -> None:
        """Write to a participant of a study."""
        sent = {"recipient_id": participant, "study_id": study, "body": body}
        await self._connection.tell("send the message", "POST", "/api/v1/messages/", sent)

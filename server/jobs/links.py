"""Links to the files of a report that open them without a token: for a frame, an image, a download.

A frame cannot send a header. Who may see the report is asked when the link is made; it opens that one report,
and nothing after some hours.
"""

from itsdangerous import BadSignature, URLSafeTimedSerializer

from server.errors import TokenInvalid

LINK_SECONDS = 12 * 3600


class ReportLinks:
    """Makes and reads such links, signed with the installation's secret."""

    def __init__(self, secret: str) -> None:
        self._serializer = URLSafeTimedSerializer(secret, salt="report")

    def link(self, job: str) -> str:
        """Return the path under which the files of a report lie, with a slash at its end."""
        return f"/reports/{self._serializer.dumps(job)}/"

    def job(self, signed: str) -> str:
        """Return the report that a link leads to. Raises TokenInvalid: it is not ours, or is too old."""
        try:
            return str(self._serializer.loads(signed, max_age=LINK_SECONDS))
        except BadSignature as error:
            raise TokenInvalid(
                "this link to a report is not valid, or no longer", "Open the report from the desk again."
            ) from error

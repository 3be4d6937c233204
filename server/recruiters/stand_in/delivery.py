"""Send events of the simulated Prolific to subscribers, signed like Prolific's."""

import json
from datetime import datetime

import httpx2

from server.recruiters.prolific.hooks import EVENT, SIGNATURE, TIMESTAMP, signature
from server.recruiters.stand_in.platform import StandInPlatform
from server.recruiters.stand_in.records import Event

_SECONDS = 30.0  # time-out


def send(platform: StandInPlatform, event: Event, at: datetime) -> httpx2.Response:
    """Send an event as of the time `at`, note whether it was accepted, and return the response.

    Raises httpx2.HTTPError if there was no response.
    """
    wanted = platform.subscription(event.subscription)
    body, timestamp = json.dumps(event.payload).encode(), str(int(at.timestamp()))
    secret = str(platform.secrets[wanted.workspace]["value"])
    headers = {
        "Content-Type": "application/json",
        TIMESTAMP: timestamp,
        SIGNATURE: signature(secret, timestamp, body),
        EVENT: event.id,
    }
    event.status = "FAILED"
    answer = httpx2.post(wanted.target_url, content=body, headers=headers, timeout=_SECONDS)
    if answer.is_success:
        event.status = "SUCCEEDED"
    return answer

"""Assertions about responses of the server's HTTP APIs."""

from typing import Any

import httpx2


def assert_secure(answer: httpx2.Response) -> None:
    """Check that an answer has the headers that every answer has."""
    assert "default-src 'self'" in answer.headers["content-security-policy"]
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["x-content-type-options"] == "nosniff"


def error(answer: httpx2.Response, status: int, code: str) -> dict[str, Any]:
    """Check that an answer is an error of the one shape; return what it says."""
    assert answer.status_code == status, answer.text
    content = answer.json()
    # A page that may not join is told besides in which words to say so.
    beside = {"words", "again_at", "way_back"} if answer.request.url.path == "/api/join" else set()
    assert {"error"} <= set(content) <= {"error", *beside}
    assert set(content["error"]) == {"code", "message", "hint"}
    assert content["error"]["code"] == code
    assert all(isinstance(value, str) and value for value in content["error"].values())
    assert "Traceback" not in answer.text
    assert_secure(answer)
    said: dict[str, Any] = content["error"]
    return said

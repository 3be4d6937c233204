"""Potato: each participant chats with the echo agent of an `interactive_chat` display."""

import json
from collections.abc import Iterator

import httpx2
import yaml

from benchmarks.platforms.adapter import InstalledPlatform, Participant

LIMIT = 10**9  # of steps, of seconds and of messages a minute; the usual ones are for people


class PotatoUser(Participant):
    """An annotator. The answer to a request is the agent's reply, so nothing is left to wait for."""

    def __init__(self, client: httpx2.AsyncClient) -> None:
        self._client = client

    async def send(self, text: str) -> None:
        answer = await self._client.post("/agent_chat/send", json={"message": text})
        if answer.status_code != 200 or answer.json().get("error"):
            raise RuntimeError(f"The message was refused ({answer.status_code}): {answer.text[:200]}")

    async def hear(self) -> None:
        """Return at once: `send` has read the reply."""


class Potato(InstalledPlatform):
    exchange = "a person with an agent that repeats one line"
    acknowledged = "the answer to the request, which has the agent's reply"
    store = "all files of its output folder"

    async def start(self, participants: int) -> None:
        items = [
            {"id": f"item-{n}", "task": "Talk about the sea.", "conversation": None}
            for n in range(participants)
        ]
        (self.folder / "items.json").write_text(json.dumps(items))
        config = {
            "annotation_task_name": "Chat",
            "task_dir": str(self.folder),
            "data_files": ["items.json"],
            "item_properties": {"id_key": "id", "text_key": "task"},
            "annotation_schemes": [
                {
                    "name": "fun",
                    "annotation_type": "radio",
                    "labels": ["yes", "no"],
                    "description": "Was it fun?",
                }
            ],
            "output_annotation_dir": str(self.folder / "output"),
            "site_dir": "default",
            "require_password": False,
            "secret_key": "benchmark",
            "user_config": {"allow_all_users": True, "users": []},
            "agent_proxy": {
                "type": "echo",
                "responses": ["I like the sea a lot."],
                "sandbox": {"max_steps": LIMIT, "max_session_seconds": LIMIT, "rate_limit_per_minute": LIMIT},
            },
            "instance_display": {
                "fields": [
                    {"key": "task", "type": "text", "label": "Task"},
                    {"key": "conversation", "type": "interactive_chat", "label": "Chat"},
                ]
            },
        }
        (self.folder / "config.yaml").write_text(yaml.safe_dump(config))
        potato = str(self.home / "env/bin/potato")
        self.run(potato, "start", "config.yaml", "-p", str(self.port), cwd=self.folder)

    async def join(self, number: int) -> PotatoUser:
        client = httpx2.AsyncClient(base_url=self.url, timeout=60, follow_redirects=True)
        fields = {"email": f"user-{number}", "pass": "benchmark"}
        for page in ("/register", "/auth"):
            (await client.post(page, data=fields)).raise_for_status()
        (await client.get("/annotate")).raise_for_status()
        return PotatoUser(client)

    def stored(self) -> Iterator[str]:
        for path in (self.folder / "output").rglob("*"):
            if path.is_file():
                yield path.read_text(errors="replace")

    def versions(self) -> dict[str, str]:
        return self.packages("potato-annotation", "Flask", "Werkzeug")

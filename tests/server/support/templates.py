"""Templates of studies as researchers leave them: with everything filled in that they leave empty."""

from typing import Any

from server.settings_file import Location
from server.study import EditedSetting, edited, read_study

SYSTEMS = [{"name": name, "family": name, "bot": "builtin:reflect"} for name in ("a", "b", "c", "d", "e")]
# What a researcher has to fill in, by the setting.
FILLED: dict[Location, Any] = {
    ("title",): "T",
    ("payment",): "P",
    ("items", "run"): "pilot",
    ("items", "file"): "texts.jsonl",
    ("bots", "mine", "urls", 0): "http://127.0.0.1:9/v1",
    ("bots", "mine", "model"): "m",
    ("bots", "baseline", "urls", 0): "http://127.0.0.1:9/v1",
    ("bots", "baseline", "model"): "m",
    ("systems",): SYSTEMS,
}


def completed(text: str) -> str:
    """Return a template's text without mistakes. Raises KeyError if it has one that nobody has to fill in."""
    for _ in range(2):  # what contradicts itself is told when everything has a value
        _, mistakes = read_study(text)
        for path in {mistake.path for mistake in mistakes}:
            text = edited(text, EditedSetting(path, FILLED[path])).text
    return text

"""Offensive words of either side are noted where researchers look, and change nothing for the worker."""

from collections.abc import Callable

from tests.server.support.database import make_run
from tests.server.support.server import House, stored
from tests.server.support.study import RUN, study_text


def test_they_are_noted_with_the_line_and_shown_on_the_desk(url: str, serve: Callable[..., House]) -> None:
    house = serve(url, make_run(url, study_text()))  # whose bots say again what was said
    with house.page("ann") as page:
        page.agree()
        page.open_topic()
        told = page.say("Well, shit happens.")
        assert "shit" in told["text"]
        page.say("I bake bread.")
        assert "offensive" not in "".join(page.frames)
    kinds = stored(house, "SELECT kind, text FROM v1_note ORDER BY kind")
    assert kinds == [("offensive_input", "shit"), ("offensive_reply", "shit")]
    run = house.desk(f"/runs/{RUN}").json()
    assert {row["kind"] for row in run["incidents"]} == {"offensive_input", "offensive_reply"}
    assert sum(bot["offensive"] for bot in run["bots"]) == 1
    (row,) = run["workers"]
    detail = house.desk(f"/assignments/{row['assignment']}").json()
    turns = detail["conversations"][0]["turns"]
    assert [[(flag["by"], flag["reason"]) for flag in turn["flags"]] for turn in turns] == [
        [("words", "shit")], [("words", "shit")], [], [],
    ]  # fmt: skip
    assert detail["conversations"][0]["incidents"] == [
        {"kind": "offensive_input", "text": "shit"},
        {"kind": "offensive_reply", "text": "shit"},
    ]

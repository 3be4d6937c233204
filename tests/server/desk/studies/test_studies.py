"""Studies over the REST API: stored version by version, checked while they are written."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import yaml

from server.desk.studies.study_responses import checked_study
from server.study import BLANK, DEMO
from tests.server.support.answers import error
from tests.server.support.database import query
from tests.server.support.server import House
from tests.server.support.study import pairs_text, study_text
from tests.support.waiting import PATIENCE

TEXT = DEMO.read_text(encoding="utf-8")
PAIR = [
    {"name": name, "family": name, "bot": "builtin:reflect", "persona": "none"} for name in ("gull", "tern")
]
FUN = {"label": "fun", "statement": "It was fun."}


@pytest.fixture
def name(someone: str) -> str:
    """The name of a study that no other test knows."""
    return someone.replace("-", "_")


@pytest.fixture
def stored(shared: House, name: str) -> Callable[[], dict[str, Any]]:
    """Return a function that shows the study, which begins as the demo."""
    made = shared.desk("/studies", method="POST", json={"name": name, "begin_with": "demo"})
    assert made.status_code == 201, made.text

    def show() -> dict[str, Any]:
        found: dict[str, Any] = shared.desk(f"/studies/{name}").json()
        return found

    return show


def save(house: House, name: str, text: str, based_on: int) -> Any:
    return house.desk(f"/studies/{name}", method="PUT", json={"yaml": text, "based_on": based_on})


def test_every_save_is_a_version_that_stays(
    shared: House, name: str, stored: Callable[[], dict[str, Any]]
) -> None:
    first = stored()["yaml"]
    assert first == TEXT.replace("name: demo", f"name: {name}", 1)  # comments, too
    second = first.replace("minimum_inputs: 10", "minimum_inputs: 4")
    assert save(shared, name, second, 1).json()["version"] == 2
    assert save(shared, name, second, 2).json()["version"] == 2  # nothing has changed
    shown = stored()
    assert (shown["yaml"], shown["mistakes"], [v["version"] for v in shown["versions"]]) == (
        second,
        0,
        [2, 1],
    )
    assert shared.desk(f"/studies/{name}/versions/1").json()["yaml"] == first
    changes = shared.desk(f"/studies/{name}/versions/2/changes", params={"since": 1}).json()["lines"]
    assert [line for line in changes if line["kind"] in {"added", "removed"}] == [
        {"kind": "removed", "text": "minimum_inputs: 10"},
        {"kind": "added", "text": "minimum_inputs: 4"},
    ]
    logged = query(shared.url, "SELECT action, detail FROM audit_entry WHERE subject = ?", name)
    assert logged[:2] == [("study.create", "version 1"), ("study.save", "version 2")]


def test_the_second_of_two_who_edit_at_once_is_told_and_nothing_is_overwritten(
    shared: House, name: str, stored: Callable[[], dict[str, Any]]
) -> None:
    text = stored()["yaml"]
    theirs, ours = text.replace("six", "five"), text.replace("six", "seven")
    assert save(shared, name, theirs, 1).status_code == 200
    refused = save(shared, name, ours, 1)
    error(refused, 409, "study_changed")
    assert "has saved version 2" in refused.json()["error"]["message"]
    assert stored()["yaml"] == theirs
    assert save(shared, name, ours, 2).json()["version"] == 3  # now that they know


def test_a_name_that_is_taken_and_a_text_of_another_study(
    shared: House, name: str, stored: Callable[[], dict[str, Any]]
) -> None:
    body = {"name": name, "begin_with": "blank"}
    error(shared.desk("/studies", method="POST", json=body), 409, "study_exists")
    error(shared.desk(f"/studies/{name}/copy", method="POST", json={"name": name}), 409, "study_exists")
    error(save(shared, name, TEXT, 1), 422, "study_name_differs")
    error(shared.desk("/studies/nobody_knows_it"), 404, "study_not_found")
    error(shared.desk("/studies", method="POST", json={"name": "x"}), 422, "invalid_request")


def test_a_broken_study_is_kept_and_says_what_is_wrong(shared: House, name: str) -> None:
    made = shared.desk("/studies", method="POST", json={"name": name, "yaml": "title: [\n"}).json()
    assert (made["mistakes"], made["title"], made["version"]) == (1, "", 1)


def test_copying_archiving_and_deleting(
    shared: House, name: str, stored: Callable[[], dict[str, Any]]
) -> None:
    copied = shared.desk(f"/studies/{name}/copy", method="POST", json={"name": f"{name}_b"})
    assert (copied.status_code, yaml.safe_load(copied.json()["yaml"])["name"]) == (201, f"{name}_b")
    archived = shared.desk(f"/studies/{name}", method="PATCH", json={"archived": True}).json()
    assert archived["archived"]
    assert not shared.desk(f"/studies/{name}", method="PATCH", json={"archived": False}).json()["archived"]
    assert shared.desk(f"/studies/{name}_b", method="DELETE").status_code == 204
    names = [study["name"] for study in shared.desk("/studies").json()["studies"]]
    assert name in names
    assert f"{name}_b" not in names


def test_a_study_that_was_opened_belongs_to_its_version_and_cannot_be_deleted(
    shared: House, name: str, stored: Callable[[], dict[str, Any]]
) -> None:
    text = stored()["yaml"].replace("listed: true", "listed: false")
    save(shared, name, text, 1)
    opened = shared.desk("/runs", method="POST", json={"run": f"{name}-run", "study": name})
    assert opened.status_code == 201, opened.text
    save(shared, name, text + "# later\n", 2)
    assert stored()["runs"] == [{"run": f"{name}-run", "status": "open", "version": 2}]
    error(shared.desk(f"/studies/{name}", method="DELETE"), 409, "study_opened")
    assert stored()["version"] == 3


def test_what_was_opened_from_a_text_is_a_version_too(shared: House, name: str) -> None:
    text = study_text(name=name, systems=yaml.safe_load(TEXT)["systems"], simulate=None)
    opened = shared.desk("/runs", method="POST", json={"run": f"{name}-run", "yaml": text})
    assert opened.status_code == 201, opened.text
    shown = shared.desk(f"/studies/{name}").json()
    assert (shown["version"], shown["yaml"]) == (1, text)


def check(house: House, text: str, *changes: dict[str, Any]) -> Any:
    return house.desk("/study-check", method="POST", json={"yaml": text, "changes": changes})


def test_mistakes_have_their_line_and_their_place_unknown_bots_too(shared: House) -> None:
    assert check(shared, TEXT).json()["mistakes"] == []
    broken = check(shared, TEXT.replace("minimum_inputs: 10", "minimum_inputs: ten")).json()
    assert broken["mistakes"] == [
        {"line": 10, "path": ["minimum_inputs"], "reason": "Enter a whole number from 1 to 100"}
    ]
    assert broken["content"]["minimum_inputs"] == "ten"
    unknown = check(shared, TEXT.replace('"builtin:reflect"', "relfect")).json()["mistakes"]
    assert [(each["path"], each["reason"]) for each in unknown] == [
        (["systems", 7, "bot"], "There is no bot “relfect”; did you mean “builtin:reflect”?")
    ]
    assert check(shared, "a: [\n").json()["content"] is None
    assert check(shared, "a: &x {}\nb: *x\n").json()["content"] is None
    assert check(shared, "a: .inf\nb: 2026-01-01\n").json()["content"] == {"a": "Infinity", "b": "2026-01-01"}


def test_a_check_has_the_notes_that_the_command_lines_has(shared: House) -> None:
    assert check(shared, TEXT).json()["notes"] == []
    untested = TEXT.replace("qc_per_assignment: 1", "qc_per_assignment: 0")
    assert untested != TEXT
    (note,) = check(shared, untested).json()["notes"]
    assert note.startswith("No worker can be tested")
    broken = untested.replace("minimum_inputs: 10", "minimum_inputs: ten")
    assert check(shared, broken).json()["notes"] == []


def test_an_unknown_bot_is_told_where_two_stand_side_by_side_too(shared: House) -> None:
    systems = [PAIR[0], PAIR[1] | {"bot": "builtin:relfect"}]
    unknown = check(shared, pairs_text(systems=systems, simulate=None)).json()["mistakes"]
    assert [(each["path"], each["reason"]) for each in unknown] == [
        (["systems", 1, "bot"], "There is no bot “builtin:relfect”; did you mean “builtin:reflect”?")
    ]


def test_the_list_counts_the_problems_that_the_page_of_a_study_shows(shared: House, name: str) -> None:
    text = TEXT.replace("name: demo", f"name: {name}").replace('"builtin:reflect"', "relfect")
    content = yaml.safe_load(text)
    content["systems"].append({"name": "mine", "family": "mine", "bot": "mine"})
    del content["payment"]
    text = yaml.safe_dump(content)
    shown = check(shared, text).json()["mistakes"]
    assert ["simulate", "quality"] in [mistake["path"] for mistake in shown]  # told although one is missing
    shared.desk("/studies", method="POST", json={"name": name, "yaml": text})
    listed = {study["name"]: study["mistakes"] for study in shared.desk("/studies").json()["studies"]}
    assert listed[name] == len(shown)


def test_settings_are_changed_in_the_text(shared: House) -> None:
    changed = check(
        shared,
        TEXT,
        {"path": ["minimum_inputs"], "value": 7},
        {"path": ["systems", 8], "value": {"name": "mine", "family": "mine", "bot": "mine"}},
        {"path": ["payment"], "remove": True},
    ).json()
    assert "minimum_inputs: 7\n" in changed["yaml"]
    assert changed["yaml"].startswith(TEXT[:150])
    # The system that was added contradicts another setting, which is told although a setting is missing.
    assert [mistake["path"] for mistake in changed["mistakes"]] == [["payment"], ["simulate", "quality"]]
    assert changed["rewritten"] == []
    error(check(shared, "a: [\n", {"path": ["b"], "value": 1}), 422, "study_invalid")
    error(check(shared, "a: 1\n", {"path": ["a", "b"], "value": 1}), 422, "study_invalid")


def test_what_a_study_can_say(shared: House) -> None:
    settings = shared.desk("/study-settings").json()
    assert "minimum_inputs" in settings["schema_of_study"]["properties"]
    assert "builtin:reflect" in settings["builtin_bots"]


def preview_of(shared: House, text: str) -> dict[str, Any]:
    answer = shared.desk("/study-preview", method="POST", json={"yaml": text}).json()
    assert answer["mistakes"] == []
    return {step["phase"]: step["snapshot"] for step in answer["steps"]}


def test_the_preview_has_every_page_that_a_worker_comes_to(shared: House) -> None:
    pages = preview_of(shared, TEXT)
    assert list(pages) == ["instructions", "topic", "chat", "rating", "feedback", "done"]
    assert pages["chat"]["conversation"]["inputs"] == 2
    assert pages["done"]["code"] == "PREVIEW"
    fixed = preview_of(shared, TEXT.replace("topic_mode: free", "topic_mode: icebreaker"))
    assert fixed["topic"]["conversation"]["icebreaker"]
    asked = preview_of(shared, f"{TEXT}\nquiz: {{choices: 3}}\n")
    assert list(asked) == ["instructions", "topic", "chat", "rating", "quiz", "feedback", "done"]
    assert (len(asked["quiz"]["quiz"]["lines"]), asked["quiz"]["conversation"]) == (3, None)
    stored = query(shared.url, "SELECT COUNT(*) FROM assignment")
    assert stored == query(shared.url, "SELECT COUNT(*) FROM assignment WHERE id NOT LIKE 'preview%'")


def test_the_preview_chats_in_the_language_of_the_study(shared: House) -> None:
    chat = preview_of(shared, f"{TEXT}\nlanguage: de\n")["chat"]["conversation"]
    assert chat["topic"] == "Was ich am Wochenende koche"
    assert chat["turns"][1]["text"] == "(Hier erscheint die Antwort des Chatbots.)"


def test_the_preview_of_transcripts_shows_what_is_rated(shared: House) -> None:
    text = DEMO.with_name("demo_transcripts.yaml").read_text()
    pages = preview_of(shared, text)
    assert {"topic", "chat", "choice"}.isdisjoint(pages)
    assert len(pages["rating"]["conversation"]["item"]["lines"]) == 4
    read = preview_of(shared, text.replace("{run: demo}", "{file: passages.jsonl}"))
    item = read["rating"]["conversation"]["item"]
    assert item["context"].startswith("A honeybee")
    assert item["text"].startswith("(The text")
    judged = text.partition("\ncriteria:")[0].replace("degradation: chapter5", "correctness: true")
    judged = judged.replace("{run: demo}", "{file: answers.jsonl}").replace(
        "composition: questions", "composition: {ordinary: 3}"
    )
    item = preview_of(shared, f"{judged}\ncriteria: []\n")["rating"]["conversation"]["item"]
    assert (item["context"], len(item["paragraphs"])) == ("Why do honeybees dance?", 3)


@pytest.mark.parametrize(
    ("comparison", "criteria", "held"),
    [
        ({"choose": "end"}, [], ["topic", "chat", "choice"]),
        ({"choose": "turn", "history": "chosen"}, [], ["topic", "chat"]),
        ({"choose": "end"}, [FUN], ["topic", "chat", "choice", "rating"]),
        ({"choose": "turn"}, [FUN], ["topic", "chat", "rating"]),
    ],
)
def test_the_preview_shows_two_chatbots_side_by_side(
    shared: House, comparison: dict[str, Any], criteria: list[dict[str, str]], held: list[str]
) -> None:
    pages = preview_of(shared, pairs_text(comparison, systems=PAIR, criteria=criteria, simulate=None))
    assert list(pages) == ["instructions", *held, "feedback", "done"]
    chat = pages["chat"]["conversation"]
    assert (chat["item"], chat["inputs"], len(chat["turns"])) == (None, 2, 4)
    assert chat["turns"][3]["right"] not in {None, chat["turns"][3]["text"]}
    if comparison["choose"] == "end":
        assert pages["choice"]["conversation"]["choice_due"] == 3
        assert chat["choice_due"] is None
    else:
        assert chat["choice_due"] == 3
    if criteria:
        assert pages["rating"]["conversation"]["side"] == "left"


def previewed(shared: House, text: str, valid: str | None = None) -> Any:
    return shared.desk("/study-preview", method="POST", json={"yaml": text, "valid": valid}).json()


def test_a_study_with_mistakes_is_previewed_as_far_as_it_can_be_shown(shared: House) -> None:
    text = TEXT.replace("minimum_inputs: 10", "minimum_inputs: ten")
    text = text.replace("title: Chat with six chatbots", 'title: ""')
    text += "\ntexts: {consent: {text: We store your words.}}\nbogus: 1\n"
    answer = previewed(shared, text)
    assert [mistake["path"][0] for mistake in answer["mistakes"]] == [
        "title",
        "minimum_inputs",
        "texts",
        "bogus",
    ]
    study = answer["steps"][0]["snapshot"]["study"]
    assert (study["title"], study["minimum_inputs"]) == ("(The title of the study)", 10)  # 10: the default
    assert study["consent"]["text"] == "We store your words."
    earlier = previewed(shared, text, TEXT.replace("minimum_inputs: 10", "minimum_inputs: 7"))
    study = earlier["steps"][0]["snapshot"]["study"]
    assert (study["title"], study["minimum_inputs"]) == ("Chat with six chatbots", 7)
    # A study of which nothing is written yet, and a text that is none.
    assert len(previewed(shared, BLANK.read_text(encoding="utf-8"))["steps"]) == 6
    assert previewed(shared, "name: [")["steps"] == []
    assert len(previewed(shared, "name: [", TEXT)["steps"]) == 6


def test_what_cannot_be_previewed_says_why(shared: House) -> None:
    no_corpus = {"yaml": TEXT.replace("corpus: builtin:smalltalk", "corpus: builtin:nothing", 1)}
    error(shared.desk("/study-preview", method="POST", json=no_corpus), 422, "study_invalid")


def test_only_the_desk_shows_the_preview_within_itself(shared: House) -> None:
    policy = shared.http("GET", "/preview").headers["Content-Security-Policy"]
    assert "frame-ancestors 'self'" in policy


def test_the_qc_bot_of_a_study_is_examined_before_its_launch(shared: House, name: str, stored: Any) -> None:
    found = shared.desk(f"/studies/{name}/qc-examination").json()["findings"]
    assert {finding["question"]: finding["verdict"] for finding in found} == {
        "Are its lines distorted?": "pass",
        "Can people see it?": "pass",
    }
    without = stored()["yaml"].replace("qc_per_assignment: 1", "qc_per_assignment: 0")
    assert save(shared, name, without, 1).status_code == 200
    assert shared.desk(f"/studies/{name}/qc-examination").json() == {"findings": []}
    lost = without.replace("qc_per_assignment: 0", "qc_per_assignment: 1").replace(
        "corpus: builtin:smalltalk", "corpus: nowhere.txt"
    )
    assert save(shared, name, lost, 2).status_code == 200
    refused = shared.desk(f"/studies/{name}/qc-examination")
    error(refused, 422, "study_invalid")
    assert "nowhere.txt" in refused.json()["error"]["message"]


def test_while_a_text_is_read_the_server_goes_on(shared: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """A long text takes a second, for whoever may look at any study; workers must not wait for it."""
    begun, goes_on = threading.Event(), threading.Event()

    def slowly(*arguments: Any) -> Any:
        begun.set()
        assert goes_on.wait(PATIENCE)
        return checked_study(*arguments)

    monkeypatch.setattr("server.desk.studies.studies.checked_study", slowly)
    with ThreadPoolExecutor() as pool:
        asked = pool.submit(check, shared, TEXT)
        assert begun.wait(PATIENCE)
        assert shared.http("GET", "/healthz").status_code == 200
        goes_on.set()
        assert asked.result().json()["mistakes"] == []


def test_who_may_not_change_a_study_sees_none_of_its_codes(
    shared: House, name: str, stored: Callable[[], dict[str, Any]]
) -> None:
    version = stored()["version"]
    text = stored()["yaml"] + "completion_code: C0DESECRET\n"
    assert save(shared, name, text, version).status_code == 200
    body = {"name": f"viewer-of-{name}", "scope": "viewer", "study": name}
    viewer = shared.desk("/tokens", method="POST", json=body).json()["token"]
    paths = [f"/studies/{name}{end}" for end in ("", f"/versions/{version + 1}")]
    changes = f"/studies/{name}/versions/{version + 1}/changes?since={version}"
    for path in (*paths, changes):
        assert "C0DESECRET" in shared.desk(path).text
        seen = shared.desk(path, viewer)
        assert seen.status_code == 200
        assert "completion_code" in seen.text
        assert "C0DESECRET" not in seen.text
    assert save(shared, name, "completion_code: C0DESECRET\n - a\n", version + 1).status_code == 200
    broken = shared.desk(f"/studies/{name}", viewer)
    assert broken.status_code == 200
    assert "C0DESECRET" not in broken.text

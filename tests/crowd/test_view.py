"""Tests of a simulated worker's view of the page, folded from the server's messages."""

from dataclasses import replace

from bots.crowd.view import PageView, draw, show


def test_a_conversation_from_topic_to_rating() -> None:
    view = PageView(phase="instructions", minimum_inputs=10)
    here = {"conversation": 2, "attempt": 3}
    view = show(view, {"type": "topic_due", **here, "conversations": 6, "icebreaker": None})
    assert (view.phase, view.conversation, view.attempt, view.icebreaker) == ("topic", 2, 3, None)
    view = show(view, {"type": "conversation_started", **here, "conversations": 6, "topic": "bread"})
    assert (view.phase, view.inputs, view.topic) == ("chat", 0, "bread")
    view = show(view, {"type": "typing", **here})
    assert (view.typing, view.inputs) == (True, 1)
    view = show(view, {"type": "said", **here, "turn": 1, "text": "Hello."})
    assert not view.typing
    view = show(view, {"type": "rating_due", **here})
    assert (view.phase, view.conversation, view.attempt) == ("rating", 2, 3)


def test_a_snapshot_draws_the_page_anew() -> None:
    study = {"minimum_inputs": 3, "post_edit": None}
    conversation = {
        "conversation": 4,
        "attempt": 2,
        "icebreaker": "I bake.",
        "topic": "I bake.",
        "inputs": 2,
        "typing": True,
        "turns": [1, 2, 3],
    }
    view = draw({"phase": "chat", "study": study, "conversation": conversation, "question": None})
    expected = PageView("chat", 3, "I bake.", 4, 2, inputs=2, turns=3, typing=True, topic="I bake.")
    assert view == replace(expected, questions={"conversation": []})
    done = {"phase": "done", "study": study, "conversation": None, "question": None}
    assert draw(done).conversation == 0


def test_items_and_test_questions() -> None:
    view = PageView(phase="instructions", minimum_inputs=10)
    view = show(view, {"type": "question_due", "question": {"question": 2}})
    assert (view.phase, view.question) == ("tutorial", 2)
    here = {"conversation": 3, "attempt": 1}
    view = show(view, {"type": "item_due", **here, "conversations": 20, "item": {"text": "It rains."}})
    assert (view.phase, view.conversation, view.text) == ("rating", 3, "It rains.")
    study = {"minimum_inputs": 10, "post_edit": {"criterion": "fun", "top": 90}}
    snapshot = {"phase": "rating", "study": study, "conversation": {**here, "item": {"text": "A."}}}
    drawn = draw({**snapshot, "question": None})
    assert (drawn.text, drawn.post_edit) == ("A.", {"criterion": "fun", "top": 90})


def test_a_quiz_is_about_the_conversation_that_was_rated() -> None:
    here = {"conversation": 3, "attempt": 2}
    quiz = {**here, "lines": ["I bake.", "I sail."]}
    view = show(PageView(phase="rating", minimum_inputs=10, **here), {"type": "quiz_due", "quiz": quiz})
    study = {"minimum_inputs": 10, "post_edit": None}
    again = draw({"phase": "quiz", "study": study, "conversation": None, "question": None, "quiz": quiz})
    for seen in (view, again):
        assert (seen.phase, seen.quiz) == ("quiz", ["I bake.", "I sail."])
        assert (seen.conversation, seen.attempt) == (3, 2)


def test_the_end_is_seen() -> None:
    view = PageView(phase="feedback", minimum_inputs=10)
    assert show(view, {"type": "completed"}).phase == "done"
    assert show(view, {"type": "ended", "phase": "expired"}).phase == "expired"
    assert show(view, {"type": "accepted", "id": "x"}) == view

"""The judge, asked over real HTTP: what is sent, what is made of the answers, what of failures."""

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import numpy as np
import pytest

from qc.errors import JudgeRefused, JudgeUnreachable, JudgeUnreadable, OptionError, SourceError
from qc.metrics import judge as asking
from qc.metrics.against_people import judge_noise
from qc.metrics.cache import Cache, open_cache
from qc.metrics.judge import JudgeOptions, JudgeScore, judge, prompt, ratings_in, statements
from qc.metrics.transcripts import Exchange, Transcript
from tests.qc.support.judge_server import Answer, Json, judging, rated, statements_in
from tests.support.local_process import free_port

SPOKEN = [
    Transcript((Exchange(1, "Do you like tea?", "I like tea."),)),
    Transcript((Exchange(1, "Do you\nlike dogs?", "Purple ladder."),)),
]
ASKED = ["It was fun.", "It was dull.", "It stayed on topic."]


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[Cache]:
    with open_cache(tmp_path / "cache.db") as opened:
        yield opened


@pytest.fixture(autouse=True)
def _no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "LONGEST_WAIT", 0.001)


def by_statement(body: Json) -> Answer:
    """Rate by the statement, whatever its number; tea is better than ladders."""
    tea = "tea" in body["messages"][0]["content"]
    of = {"It was fun.": 90 if tea else 20, "It was dull.": 5, "It stayed on topic.": 50}
    return rated(*(of[statement] for statement in statements_in(body)))


def asked(url: str, cache: Cache, repeats: int = 2, key: str | None = None) -> JudgeScore:
    return judge(SPOKEN, ASKED, JudgeOptions(url, "a-model", key, repeats), cache, lambda _there, _all: None)


def test_both_orders_are_asked_and_put_back_in_order(cache: Cache) -> None:
    with judging(by_statement) as server:
        found = asked(server.url, cache)
    assert found.ratings.shape == (2, 2, 2, 3)
    np.testing.assert_array_equal(found.ratings[0], np.broadcast_to([90, 5, 50], (2, 2, 3)))
    np.testing.assert_array_equal(found.ratings[1], np.broadcast_to([20, 5, 50], (2, 2, 3)))
    orders = sorted(statements_in(body) for body in server.bodies)
    assert orders == sorted([ASKED, ASKED[::-1]] * 4)
    assert {body["model"] for body in server.bodies} == {"a-model"}


def test_tokens_are_counted_as_the_endpoint_counts_them(cache: Cache) -> None:
    with judging(by_statement) as server:
        found = asked(server.url, cache)
        again = asked(server.url, cache)
    # 2 conversations × 2 orders × 2 repeats.
    assert (found.asked, found.prompt_tokens, found.completion_tokens) == (8, 800, 80)
    assert (found.paid_prompt_tokens, found.paid_completion_tokens) == (800, 80)
    assert (again.asked, again.prompt_tokens, again.paid_prompt_tokens) == (0, 800, 0)
    np.testing.assert_array_equal(again.ratings, found.ratings)
    assert len(server.bodies) == 8


def test_repeats_are_asked_anew_and_kept_apart(cache: Cache) -> None:
    numbers = count()
    with judging(lambda _: rated(*[next(numbers) % 100] * 3)) as server:
        found = asked(server.url, cache, repeats=3)
    assert len(np.unique(found.ratings)) == 12
    assert len(server.bodies) == 12


def test_the_key_is_sent_and_told_nobody(cache: Cache) -> None:
    with judging(lambda _: (401, "wrong key: sk-secret")) as server, pytest.raises(JudgeRefused) as caught:
        asked(server.url, cache, key="sk-secret")
    assert server.headers[0]["Authorization"] == "Bearer sk-secret"
    assert "it does not accept the key" in str(caught.value)
    assert "sk-secret" not in str(caught.value)


def test_a_refusal_without_a_key_says_how_to_give_one(cache: Cache) -> None:
    with judging(lambda _: (401, "no")) as server, pytest.raises(JudgeRefused, match="--judge-key"):
        asked(server.url, cache)


def test_an_unknown_model_is_told_at_once(cache: Cache) -> None:
    with judging(lambda _: (404, "no such model")) as server, pytest.raises(JudgeRefused) as caught:
        asked(server.url, cache)
    assert "no model 'a-model'" in str(caught.value)
    assert "no such model" in str(caught.value)
    # Asking again would not help; several were under way already.
    assert len(server.bodies) <= asking.AT_ONCE


def test_what_passes_is_tried_again(cache: Cache) -> None:
    numbers = count()
    with judging(lambda body: (503, "busy") if next(numbers) % 2 else by_statement(body)) as server:
        found = asked(server.url, cache)
    assert np.isfinite(found.ratings).all()
    assert len(server.bodies) > 8


def test_what_was_answered_before_a_failure_is_not_asked_for_again(cache: Cache) -> None:
    numbers = count()
    open_for_all = False

    def three_and_no_more(body: Json) -> Answer:
        return by_statement(body) if open_for_all or next(numbers) < 3 else (429, "quota")

    with judging(three_and_no_more) as server:
        with pytest.raises(JudgeRefused, match="a quota is used up"):
            asked(server.url, cache)
        open_for_all = True
        assert asked(server.url, cache).asked == 8 - 3


def test_nobody_there(cache: Cache) -> None:
    url = f"http://127.0.0.1:{free_port()}/v1"
    with pytest.raises(JudgeUnreachable, match="no answer"):
        asked(url, cache)


def test_prose_is_asked_for_again_and_then_missing(cache: Cache) -> None:
    def prose_about_dogs(body: Json) -> Answer:
        return (200, "I would say 80.") if "dogs" in body["messages"][0]["content"] else by_statement(body)

    with judging(prose_about_dogs) as server:
        found = asked(server.url, cache, repeats=1)
    assert np.isfinite(found.ratings[0]).all()
    assert np.isnan(found.ratings[1]).all()
    assert found.unreadable == 2
    assert len(server.bodies) == 2 + 2 * asking.TRIES
    # All tries were paid for.
    assert found.prompt_tokens == 100 * len(server.bodies)


def test_a_judge_that_never_rates_is_told_with_its_words(cache: Cache) -> None:
    with judging(lambda _: (200, "I cannot do that.")) as server:
        for _ in range(2):
            with pytest.raises(JudgeUnreadable, match="I cannot do that"):
                asked(server.url, cache, repeats=1)
    # Such answers are not kept: the second call asked as often as the first.
    assert len(server.bodies) == 2 * 4 * asking.TRIES


def test_a_judge_that_never_rates_is_not_asked_about_everything(cache: Cache) -> None:
    with judging(lambda _: (200, "I cannot do that.")) as server, pytest.raises(JudgeUnreadable):
        asked(server.url, cache, repeats=20)
    # Answers that were under way when the tenth came are awaited, and no more are asked for.
    answers = len(server.bodies) / asking.TRIES
    assert asking.FIRST_ANSWERS <= answers < asking.FIRST_ANSWERS + asking.AT_ONCE < 2 * 2 * 20


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ('{"1": 0, "2": 100}', [0, 100]),
        ('Let me think: {"1": 3}. So: ```json\n{"2": 7.5, "1": 10}\n```', [10, 7.5]),
        ('{"1": "40", "2": 50}', [40, 50]),
        ('{"1": 40}', None),
        ('{"1": 40, "2": 101}', None),
        ('{"1": 40, "2": 50, "3": 60}', None),
        ('{"1": 40, "2": null}', None),
        ("[40, 50]", None),
        ('{"1": 40, "2": NaN}', None),
        ("", None),
        ('{"1": ' + "[" * 100_000 + "}", None),
        ('{"1": 40, "2": ' + "9" * 400 + "}", None),
    ],
)
def test_ratings_in_an_answer(answer: str, expected: list[float] | None) -> None:
    assert ratings_in(answer, 2) == expected


def test_the_prompt_holds_the_conversation_and_nothing_of_the_system() -> None:
    text = prompt(SPOKEN[1], ASKED)
    assert "Person: Do you like dogs?\nChatbot: Purple ladder." in text
    assert "1. It was fun.\n2. It was dull.\n3. It stayed on topic." in text
    assert "$" not in text


def test_what_is_said_cannot_fill_in_the_prompt() -> None:
    spoken = Transcript((Exchange(1, "$statements ${conversation}", "$$"),))
    assert "Person: $statements ${conversation}\nChatbot: $$" in prompt(spoken, ASKED)


def test_the_seven_statements_are_there() -> None:
    labels = ["robotic", "interesting", "fun", "consistent", "fluent", "repetitive", "topic"]
    assert list(statements(labels, None)) == labels


def test_a_criterion_of_ones_own_needs_a_statement(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="no statement for kindness"):
        statements(["fun", "kindness"], None)
    file = tmp_path / "own.toml"
    file.write_text('kindness = "It was kind."\n', encoding="utf-8")
    assert statements(["kindness"], file) == {"kindness": "It was kind."}
    file.write_text("kindness: It was kind.", encoding="utf-8")
    with pytest.raises(SourceError, match="cannot be read"):
        statements(["kindness"], file)


def test_noise_by_hand() -> None:
    # Conversation 1: forwards 10, 20, backwards 10, 10; 2: forwards 50, 50, backwards 40, 60.
    found = judge_noise(np.array([[[10.0, 20], [10, 10]], [[50, 50], [40, 60]]]))
    # Deviations: ±5, 0 0, 0 0, ±10: (50 + 200) / 4 degrees.
    assert found.sd_between_repeats == pytest.approx(np.sqrt(250 / 4))
    # Forwards 15 and 50, backwards 10 and 50: differences 5 and 0.
    assert found.forwards_minus_backwards == pytest.approx(2.5)
    # Means 12.5 and 50.
    assert found.sd_between_conversations == pytest.approx(37.5 / np.sqrt(2))
    assert (found.n, found.mean) == (2, 31.25)
    assert found.low < 0 < found.high


def test_noise_without_repeats_or_orders() -> None:
    assert np.isnan(judge_noise(np.array([[[10.0], [20]], [[30], [40]]])).sd_between_repeats)
    one_order = judge_noise(np.array([[[10.0, 20], [np.nan, np.nan]]]))
    assert one_order.n == 0
    assert np.isnan(one_order.forwards_minus_backwards)
    assert one_order.mean == 15


def test_progress_counts_what_was_kept(cache: Cache) -> None:
    told: list[tuple[int, int]] = []

    def on_answer(there: int, of: int) -> None:
        told.append((there, of))

    with judging(by_statement) as server:
        asked(server.url, cache, repeats=1)
        judge(SPOKEN, ASKED, JudgeOptions(server.url, "a-model", None, 2), cache, on_answer)
    assert told == [(there, 8) for there in range(4, 9)]

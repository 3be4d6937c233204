"""Answer correctness: whether an answer is plausible, and which paragraphs show that it is right. Pure.

Chaganty, Mussmann and Liang (ACL 2018), section 4 and appendix A.2. A worker says whether an answer is
plausible; then of each paragraph whether it shows that the answer is correct, that it is incorrect, or
neither, and marks the words that show it; then confirms that the marks are about this very answer.
"""

import json
from collections.abc import Iterable

from server.errors import AnswersUnfit
from server.session.instrument import AskedQuestion, Criterion

ANY_CORRECT, AVG_CORRECT = "any_correct", "avg_correct"
# The criteria that are computed from the answers: workers do not see them.
COMPUTED = (
    Criterion(label=ANY_CORRECT, statement="At least one paragraph shows that the answer is correct."),
    Criterion(label=AVG_CORRECT, statement="The paragraphs that decide show that the answer is correct."),
)
PLAUSIBLE, EVIDENCE, CONFIRMED = "plausible", "evidence", "confirmed"
CORRECT, INCORRECT = "correct", "incorrect"
QUESTIONS = (
    AskedQuestion(label=PLAUSIBLE, kind="choice", question="Is the answer plausible?", choices=("yes", "no")),
    AskedQuestion(
        label=EVIDENCE,
        kind="span",
        question="Which words show that the answer is correct, or that it is incorrect?",
        text="context",
        categories=(CORRECT, INCORRECT),
        required=False,
    ),
    AskedQuestion(
        label=CONFIRMED,
        kind="choice",
        question="Do the marks show this of the answer, not only of the question?",
        choices=("yes", "no"),
        required=False,
    ),
)


def correctness_values(answers: Iterable[tuple[str, float | str]]) -> dict[str, int]:
    """Return the ratings of the computed criteria, from 0 to 100, by label.

    `any_correct` is 100 if at least one paragraph shows that the answer is correct. `avg_correct` is the
    share of correct among the paragraphs that decide. Both are 0 if no paragraph decides, or if the answer is
    not plausible.

    Raises:
        AnswersUnfit: The answers contradict each other.
    """
    given: dict[str, list[str]] = {}
    for label, value in answers:
        given.setdefault(label, []).append(str(value))
    marks = [json.loads(value) for value in given.get(EVIDENCE, [])]
    verdicts = {(mark["line"], mark["category"]) for mark in marks}
    if marks and given[PLAUSIBLE] != ["yes"]:
        raise AnswersUnfit("Only a plausible answer has evidence")
    if len({line for line, _ in verdicts}) < len(verdicts):
        raise AnswersUnfit("A paragraph shows that the answer is correct or incorrect, not both")
    if marks and given.get(CONFIRMED) != ["yes"]:
        raise AnswersUnfit("The marks are not confirmed")
    correct = sum(verdict == CORRECT for _, verdict in verdicts)
    return {
        ANY_CORRECT: 100 if correct else 0,
        AVG_CORRECT: round(100 * correct / len(verdicts)) if verdicts else 0,
    }

"""Lines for a quiz after a conversation: of similar lengths, all different."""

from server.session.records import QuizLine

# What a chatbot says to a worker, reply by reply.
SAID = (
    "Hello, how do you do today?",
    "My uncle keeps nine brown goats.",
    "I paint every door of my house blue.",
    "The harbour smells of tar in winter.",
    "Nobody ever beats me at draughts.",
    "Well, goodbye and thank you so much.",
)
# What others were told.
ELSEWHERE = (
    "I bake rye bread before sunrise.",
    "We moved to Lisbon five years ago.",
    "Jazz records fill up half my room.",
    "Swimming in lakes makes me happy.",
    "A zebra crossed our street once.",
    "Her favourite pudding has quince.",
    "You could fix clocks for a living.",
    "That film about whales was dull.",
)


def others(*lines: str) -> tuple[QuizLine, ...]:
    """Return lines that were said to somebody else, each in another conversation; ELSEWHERE by default."""
    return tuple(QuizLine(text, f"b{n}-1.1", 3) for n, text in enumerate(lines or ELSEWHERE))

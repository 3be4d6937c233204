"""Training data and training times of the tiny line-up."""

import random
from collections.abc import Iterator

EPOCHS = "5"
_THINGS = ("dog", "cat", "car", "garden", "guitar", "kitchen")
_ASKED = ("Do you have a {}?", "What about a {}?", "Tell me about your {}.")
_ANSWERED = ("My {} is lovely, isn't it?", "I've had a {} for years.", "I don't like my {} at all.")


def tiny_corpus() -> Iterator[dict[str, object]]:
    """Yield the lines of a corpus of twenty short dialogues about six things."""
    rng = random.Random(5)
    for thing in _THINGS:
        yield {"persona": thing, "sentences": [f"I own a {thing}.", f"I talk about my {thing} all day."]}
    for at in range(20):
        asker, owner = rng.sample(_THINGS, 2)
        turns = ["Hello!", "Hi, how are you?"]
        for _ in range(2):
            turns += [rng.choice(_ASKED).format(owner), rng.choice(_ANSWERED).format(owner)]
        yield {"dialogue": f"d{at}", "speakers": [asker, owner], "turns": turns}

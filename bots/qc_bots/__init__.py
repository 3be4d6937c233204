"""The quality-control (QC) bots. Here: their material from a corpus, responses and words to distort them."""

from functools import lru_cache

from bots.corpus import Corpus, CorpusError
from candor.common.segmentation import split_words


def run_length(words: int) -> int:
    """Return how many consecutive words are replaced in a response of `words` words.

    The classes are those of Ji et al. (2022): 1 for 1-3 words, 2 for 4-5, 3 for 6-8, 4 for 9-15,
    5 for 16-29, and a fifth, rounded down, from 30 on.

    Raises:
        ValueError: there are no words.
    """
    if words < 1:
        raise ValueError(f"a response has at least one word, not {words}")
    for longest, length in ((3, 1), (5, 2), (8, 3), (15, 4), (29, 5)):
        if words <= longest:
            return length
    return words // 5


def responses(corpus: Corpus) -> dict[str, int]:
    """Return the corpus's distinct responses, with the number of the dialogue that each comes from.

    The same words of two speakers are one response, because no response may be repeated.
    """
    origins: dict[str, int] = {}
    for number, dialogue in enumerate(corpus.dialogues):
        for turn in dialogue.turns[1:]:
            origins.setdefault(" ".join(turn.split()), number)
    return origins


@lru_cache(maxsize=8)
def require_material(corpus: Corpus) -> None:
    """Check that a response of `corpus` can be distorted; a corpus that passed is not read again.

    Raises:
        CorpusError: there is no other dialogue to take words from.
    """
    language = corpus.language
    sizes = [sum(len(split_words(turn, language)) for turn in d.turns) for d in corpus.dialogues]
    longest = sorted(range(len(sizes)), key=sizes.__getitem__)[-2:]
    for text, origin in responses(corpus).items():
        donors = [sizes[number] for number in longest if number != origin]
        if donors and max(donors) >= run_length(len(split_words(text, language))):
            return
    remedy = "Give a corpus of at least two dialogues."
    raise CorpusError(corpus.name, None, "no second dialogue to take the distorting words from", remedy)

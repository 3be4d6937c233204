"""The corpus that Candor ships: large enough, sound, and written rather than generated."""

import itertools
import re
from collections import Counter, defaultdict

from bots import Corpus
from bots.builtin import builtin_names


def words(text: str) -> list[str]:
    return re.findall(r"[\w']+", text.lower())


def turns(corpus: Corpus) -> list[str]:
    return [turn for dialogue in corpus.dialogues for turn in dialogue.turns]


def test_size(corpus: Corpus) -> None:
    assert len(corpus.dialogues) >= 60
    assert min(len(dialogue.turns) for dialogue in corpus.dialogues) >= 10
    assert len(corpus.personas) >= 30
    assert min(len(persona.sentences) for persona in corpus.personas) >= 5


def test_ids_are_unique_and_speakers_known(corpus: Corpus) -> None:
    assert len({dialogue.id for dialogue in corpus.dialogues}) == len(corpus.dialogues)
    assert len({persona.id for persona in corpus.personas}) == len(corpus.personas)
    for dialogue in corpus.dialogues:
        first, second = dialogue.speakers
        assert first in corpus.personas
        assert second in corpus.personas
        assert first != second


def test_every_persona_speaks(corpus: Corpus) -> None:
    speaking = Counter(who.id for dialogue in corpus.dialogues for who in dialogue.speakers if who)
    assert set(speaking) == {persona.id for persona in corpus.personas}


def test_no_two_turns_are_the_same(corpus: Corpus) -> None:
    """No turn of more than three words occurs twice; nor does any shorter one, as it happens."""
    seen = Counter(" ".join(words(turn)) for turn in turns(corpus))
    assert [turn for turn, count in seen.items() if count > 1] == []


def test_no_persona_sentence_is_the_same(corpus: Corpus) -> None:
    seen = Counter(" ".join(words(text)) for persona in corpus.personas for text in persona.sentences)
    assert [text for text, count in seen.items() if count > 1] == []


def near_duplicates(lines: list[str], size: int, least: float) -> list[tuple[str, str]]:
    """Return the pairs of lines whose sets of `size` consecutive words have a Jaccard index of `least`."""
    shingles = [
        {tuple(said[at : at + size]) for at in range(len(said) - size + 1)} for said in map(words, lines)
    ]
    where = defaultdict(set)
    for number, found in enumerate(shingles):
        for shingle in found:
            where[shingle].add(number)
    pairs = {pair for numbers in where.values() for pair in itertools.combinations(sorted(numbers), 2)}
    alike = [
        (a, b) for a, b in pairs if len(shingles[a] & shingles[b]) >= least * len(shingles[a] | shingles[b])
    ]
    return [(lines[a], lines[b]) for a, b in alike]


def test_near_duplicates_among_turns(corpus: Corpus) -> None:
    """No two turns share a quarter of their runs of five words, and at most 5 pairs a tenth."""
    assert near_duplicates(turns(corpus), 5, 0.25) == []
    assert len(near_duplicates(turns(corpus), 5, 0.1)) <= 5


def test_near_duplicates_would_be_found() -> None:
    one = "I walked along the river with my dog this morning"
    other = "I walked along the river with my cat this morning"
    # Runs of five: 6 each; the 3 without dog or cat are shared, so 3 of 9.
    assert near_duplicates([one, other], 5, 0.33) == [(one, other)]
    assert near_duplicates([one, other], 5, 0.34) == []


def test_dialogues_are_not_variants_of_each_other(corpus: Corpus) -> None:
    """No two whole dialogues share a fiftieth of their runs of four words."""
    whole = [" ".join(dialogue.turns) for dialogue in corpus.dialogues]
    assert near_duplicates(whole, 4, 0.02) == []


def test_language_is_not_stamped_from_templates(corpus: Corpus) -> None:
    """Templates repeat frames: the function words of a line, with a gap for every rarer word."""
    said = [words(turn) for turn in turns(corpus)]
    frequency = Counter(word for line in said for word in line)
    common = {word for word, _ in frequency.most_common(100)}
    frames = Counter(
        tuple(word if word in common else "_" for word in line) for line in said if len(line) > 5
    )
    assert len(frames) / frames.total() > 0.995
    pairs = [pair for line in said for pair in itertools.pairwise(line)]
    assert len(set(pairs)) / len(pairs) > 0.6  # distinct-2 (Li et al., 2016)
    openings = Counter(tuple(line[:3]) for line in said if len(line) > 5)
    assert openings.most_common(1)[0][1] <= 0.01 * len(said)


def test_nobody_names_a_system(corpus: Corpus) -> None:
    assert not set(builtin_names()) & {word for turn in turns(corpus) for word in words(turn)}

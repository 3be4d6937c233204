"""Opening bots by name."""

import re

import pytest

from bots import Corpus, UnknownBotError, open_bot
from bots.builtin import builtin_names
from bots.builtin.parts.exchanges import stock
from bots.qc_bots.distorted import QcBot


def test_there_are_enough_systems_for_five_families_and_one_to_spare() -> None:
    assert len(builtin_names()) >= 6
    assert {"retrieval", "semantic", "ngram", "interviewer", "reflect"} <= set(builtin_names())


def test_qc_is_opened_by_its_name(corpus: Corpus) -> None:
    assert isinstance(open_bot("qc", corpus), QcBot)


@pytest.mark.parametrize("spec", ["", "retrieval", "builtin:", "builtin:none", "qc:", "openai:gpt"])
def test_an_unknown_bot_is_told_what_there_is(corpus: Corpus, spec: str) -> None:
    with pytest.raises(UnknownBotError, match=re.escape(f'"{spec}"')) as caught:
        open_bot(spec, corpus)
    for name in builtin_names():
        assert f"builtin:{name}" in str(caught.value)
    assert str(caught.value).endswith("qc")


def test_systems_over_one_corpus_share_what_they_learned(corpus: Corpus) -> None:
    assert open_bot("builtin:retrieval", corpus)._stock is open_bot("builtin:memory", corpus)._stock
    assert stock(corpus) is not stock(corpus.split(0.5, 1)[0])

"""Ids as the database keeps them: one text for one id, which nothing but the key reads."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.recruiters.arrival import IdCipher

OLD, NEW = "an old key", "a new key"


@given(st.text(min_size=1, max_size=200).filter(lambda text: text.isprintable()))
def test_an_id_is_one_text_and_back(external_id: str) -> None:
    kept = IdCipher([OLD]).encrypted(external_id)
    assert kept == IdCipher([OLD]).encrypted(external_id)
    assert IdCipher([OLD]).decrypted(kept) == external_id
    assert IdCipher([NEW]).decrypted(kept) is None


def test_what_an_earlier_key_encrypted_is_read() -> None:
    kept = IdCipher([OLD]).encrypted("ann")
    both = IdCipher([NEW, OLD])
    assert both.decrypted(kept) == "ann"
    assert both.encrypted("ann") == IdCipher([NEW]).encrypted("ann") != kept


@pytest.mark.parametrize("kept", ["", "ann", "a longer plain text", "forgotten:W12", "日本"])
def test_what_nobody_encrypted_is_no_id(kept: str) -> None:
    assert IdCipher([OLD]).decrypted(kept) is None


def test_one_changed_letter_is_noticed() -> None:
    kept = IdCipher([OLD]).encrypted("5f3a0c9b5f3a")
    changed = kept[:-2] + ("A" if kept[-2] != "A" else "B") + kept[-1]
    assert IdCipher([OLD]).decrypted(changed) is None

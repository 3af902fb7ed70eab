"""What is encrypted at rest."""

import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from hypothesis import given
from hypothesis import strategies as st

from gateway.security.sealing import SealBroken, Sealer

OLD, NEW = b"o" * 32, b"n" * 32
ROW = "0b9f5c5e-6c0a-4a59-9d3d-000000000001"
OTHER = "0b9f5c5e-6c0a-4a59-9d3d-000000000002"


@pytest.fixture
def sealer() -> Sealer:
    return Sealer({"new": NEW, "old": OLD}, "new")


@given(st.text(), st.text())
def test_sealed_bytes_open_in_their_own_row(text: str, row: str):
    sealer = Sealer({"new": NEW}, "new")

    assert sealer.open(sealer.seal(text, row), row) == text


def test_sealed_bytes_do_not_contain_the_text(sealer):
    sealed = sealer.seal("canary", ROW)

    assert b"canary" not in sealed


def test_the_same_text_sealed_twice_differs(sealer):
    assert sealer.seal("text", ROW) != sealer.seal("text", ROW)


def test_the_sealed_form_is_unchanged():
    """Stored rows have this format, which must never change."""
    nonce = bytes(range(12))
    head = b"\x01\x03new"
    sealed = head + nonce + AESGCM(NEW).encrypt(nonce, b"text", head + b"row")

    sealer = Sealer({"new": NEW}, "new", lambda count: bytes(range(count)))

    assert sealer.seal("text", "row") == sealed
    assert sealer.open(sealed, "row") == "text"


def test_sealed_bytes_do_not_open_in_another_row(sealer):
    sealed = sealer.seal("text", ROW)

    with pytest.raises(SealBroken, match="another row"):
        sealer.open(sealed, OTHER)


def test_a_retired_key_still_opens(sealer):
    sealed = Sealer({"old": OLD}, "old").seal("text", ROW)

    assert sealer.open(sealed, ROW) == "text"


def test_a_missing_key_opens_nothing():
    sealed = Sealer({"gone": OLD}, "gone").seal("text", ROW)

    with pytest.raises(SealBroken, match="not here"):
        Sealer({"new": NEW}, "new").open(sealed, ROW)


def test_the_key_name_of_a_sealed_text_cannot_be_replaced(sealer):
    sealed = sealer.seal("text", ROW)

    with pytest.raises(SealBroken):
        sealer.open(sealed.replace(b"new", b"old"), ROW)


def test_a_changed_or_truncated_sealed_text_is_refused(sealer):
    sealed = sealer.seal("text", ROW)
    changed = [
        bytes((*sealed[:at], sealed[at] ^ 1, *sealed[at + 1 :])) for at in range(len(sealed))
    ]

    for broken in [*changed, *(sealed[:end] for end in range(len(sealed))), sealed + b"\0"]:
        with pytest.raises(SealBroken):
            sealer.open(broken, ROW)

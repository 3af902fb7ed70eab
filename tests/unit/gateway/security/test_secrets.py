"""Client ids and client secrets."""

import os
import re
import string
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.security.secrets import (
    ALPHABET,
    has_valid_checksum,
    new_client_id,
    new_client_secret,
)

KNOWN = "gws_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh82uBW4I"


def counting(count: int) -> bytes:
    return bytes(range(count))


def checksum_by_hand(body: str) -> str:
    value = zlib.crc32(body.encode())
    return "".join(ALPHABET[value // 62**place % 62] for place in range(5, -1, -1))


def test_the_secret_alphabet_is_base_62():
    assert string.digits + string.ascii_uppercase + string.ascii_lowercase == ALPHABET


def test_an_id_is_a_prefix_and_twenty_base32_characters():
    client_id = new_client_id(counting)

    assert client_id == "cli_aaaqeayeaudaocajbifq"


def test_client_ids_have_no_special_characters():
    ids = {new_client_id(os.urandom) for _ in range(100)}

    assert len(ids) == 100
    assert all(re.fullmatch("cli_[a-z2-7]{20}", each) for each in ids)


def test_the_format_of_a_secret_is_unchanged():
    """Issued secrets end in this checksum, which must never change."""
    secret = new_client_secret(counting)

    assert secret[:-6] == "gws_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"
    assert secret[-6:] == checksum_by_hand(secret[:-6])
    assert secret == KNOWN


@given(st.binary(min_size=32, max_size=32))
def test_every_secret_has_its_form_and_a_valid_checksum(content: bytes):
    secret = new_client_secret(lambda _: content)

    assert re.fullmatch("gws_[A-Za-z0-9_-]{43}[0-9A-Za-z]{6}", secret)
    assert has_valid_checksum(secret)


@given(st.integers(0, 52), st.sampled_from(ALPHABET + "-_"))
def test_one_wrong_character_invalidates_the_checksum(at: int, character: str):
    wrong = KNOWN[:at] + character + KNOWN[at + 1 :]

    assert has_valid_checksum(wrong) is (wrong == KNOWN)


def test_a_malformed_secret_is_refused():
    cases = [
        "",
        KNOWN[:-1],
        KNOWN + "0",
        KNOWN + "\n",
        " " + KNOWN,
        KNOWN.replace("gws_", "GWS_"),
        KNOWN.replace("A", "Á"),
        KNOWN.replace("4", "\N{FULLWIDTH DIGIT FOUR}"),
        "gws_" + "\ud800" * 49,
        "x" * 1_000_000,
    ]

    wrong = [text for text in cases if has_valid_checksum(text)]

    assert wrong == []


@pytest.mark.parametrize("body", ["gws_" + "A" * 42, "gws_" + "A" * 44, "xws_" + "A" * 43])
def test_a_valid_checksum_does_not_make_a_malformed_secret_valid(body: str):
    assert not has_valid_checksum(body + checksum_by_hand(body))


def test_a_small_checksum_has_leading_zeros():
    """A CRC-32 below 62 to the fifth needs fewer than six digits."""
    bodies = (new_client_secret(lambda _, n=n: n.to_bytes(32, "big")) for n in range(2000))
    small = next(each for each in bodies if each[-6] == "0")

    assert len(small) == 53
    assert has_valid_checksum(small)

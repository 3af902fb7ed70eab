"""The panel's cookie: signed before the sign-in, opaque after it."""

from __future__ import annotations

import hashlib
import re
import uuid
from dataclasses import replace

import pytest

from gateway.identity.cookies import DeviceCookies, PanelCookies
from tests.world.standing import NOON

KEY, OTHER = b"k" * 32, b"o" * 32


@pytest.fixture
def cookies() -> PanelCookies:
    return PanelCookies([KEY])


def test_a_panel_cookie_has_two_halves_of_128_bits(cookies: PanelCookies):
    made = cookies.make()

    assert re.fullmatch(r"[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{22}", made.value)
    assert len(made.secret) == 16
    assert made.secret not in made.id_hash.encode()


def test_the_row_id_is_the_digest_of_the_cookie_s_first_half():
    made = PanelCookies([KEY], random=lambda size: b"n" * size).make()

    assert made.id_hash == hashlib.sha256(b"n" * 16).hexdigest()


def test_cookies_and_csrf_tokens_are_unique(cookies: PanelCookies):
    assert len({cookies.make().value for _ in range(1000)}) == 1000
    assert len({cookies.new_csrf() for _ in range(1000)}) == 1000


def test_a_cookie_is_read_back(cookies: PanelCookies):
    made = cookies.make()

    assert cookies.read(made.value) == made


def test_a_malformed_cookie_is_refused(cookies: PanelCookies):
    """A cookie has exactly one spelling."""
    cases = [
        "",
        ".",
        "AAAAAAAAAAAAAAAAAAAAAA",
        "AAAAAAAAAAAAAAAAAAAAAA.",
        "AAAAAAAAAAAAAAAAAAAAAA.AAAAAAAAAAAAAAAAAAAAA",
        "AAAAAAAAAAAAAAAAAAAAAA.AAAAAAAAAAAAAAAAAAAAAB",
        "AAAAAAAAAAAAAAAAAAAAAA.AAAAAAAAAAAAAAAAAAAAAA\n",
        "AAAAAAAAAAAAAAAAAAAAAA.AAAAAAAAAAAAAAAAAAAAA=",
        "AAAAAAAAAAAAAAAAAAAA+/.AAAAAAAAAAAAAAAAAAAAAA",
        "AAAAAAAAAAAAAAAAAAAAAé.AAAAAAAAAAAAAAAAAAAAAA",
    ]

    wrong = [value for value in cases if cookies.read(value) is not None]

    assert wrong == []


def test_an_anonymous_browser_has_a_signed_cookie(cookies: PanelCookies):
    begun = cookies.make_anonymous(NOON)

    assert cookies.read_anonymous(begun.cookie.value) == begun
    assert cookies.read(begun.cookie.value) is None
    assert begun.created_at == NOON
    assert begun.csrf not in begun.cookie.value
    assert PanelCookies([OTHER, KEY]).read_anonymous(begun.cookie.value) == begun
    assert begun.csrf != cookies.make_anonymous(NOON).csrf


def test_a_forged_anonymous_cookie_is_refused(cookies: PanelCookies):
    value = cookies.make_anonymous(NOON).cookie.value
    forged = [
        value[:place] + ("B" if value[place] == "A" else "A") + value[place + 1 :]
        for place in range(len(value))
    ]
    device = DeviceCookies([KEY], lambda: NOON).make(str(uuid.UUID(int=1)), None)

    taken = [
        each
        for each in (*forged, value[:-1], f"{value}A", "", device, cookies.make().value)
        if cookies.read_anonymous(each) is not None
    ]

    assert taken == []
    assert PanelCookies([OTHER]).read_anonymous(value) is None


def test_sealed_tokens_open_only_with_their_cookie(cookies: PanelCookies):
    """Not with another secret, in another row, or without the server's key."""
    mine, other = cookies.make(), cookies.make()
    sealed = cookies.seal("tokens", mine)

    assert cookies.open(sealed, mine) == "tokens"
    for wrong in (
        other,
        replace(mine, secret=other.secret),
        replace(mine, id_hash=other.id_hash),
    ):
        assert cookies.open(sealed, wrong) is None
    assert PanelCookies([OTHER]).open(sealed, mine) is None
    assert b"tokens" not in sealed


def test_changed_sealed_bytes_do_not_open(cookies: PanelCookies):
    for place in [0, 11, 12, -1]:
        mine = cookies.make()
        sealed = bytearray(cookies.seal("tokens", mine))
        sealed[place] ^= 1

        assert cookies.open(bytes(sealed), mine) is None


def test_unsealed_bytes_do_not_open(cookies: PanelCookies):
    wrong = [
        sealed
        for sealed in [b"", b"short", b"n" * 12]
        if cookies.open(sealed, cookies.make()) is not None
    ]

    assert wrong == []


def test_sealing_the_same_text_twice_gives_different_bytes(cookies: PanelCookies):
    mine = cookies.make()

    assert cookies.seal("tokens", mine) != cookies.seal("tokens", mine)


def test_bytes_sealed_with_a_previous_key_still_open(cookies: PanelCookies):
    """Until its last session is over; new ones are sealed with the new key."""
    mine = cookies.make()
    sealed = cookies.seal("tokens", mine)
    rotated = PanelCookies([OTHER, KEY])

    assert rotated.open(sealed, mine) == "tokens"
    assert cookies.open(rotated.seal("tokens", mine), mine) is None

"""Sign-ins under way: each in a sealed cookie, for ten minutes."""

from __future__ import annotations

import os

from gateway.security.sealing import Sealer
from gateway.single_sign_on.attempts import Attempts, end_of
from tests.unit.gateway.single_sign_on.world import headers_of
from tests.world.standing import Clock

KEY = {"1": bytes(32)}


def attempts(clock: Clock, *, secure: bool = True, key: bytes = KEY["1"]) -> Attempts:
    return Attempts(Sealer({"1": key}, "1"), clock.now, os.urandom, secure=secure)


def test_a_cookie_is_read_by_its_own_server_until_its_end():
    clock = Clock()
    made = attempts(clock).begin("company", "/panel/payouts", "/panel")
    cookie = attempts(clock).given(made)

    assert attempts(clock).read(headers_of(cookie)) == made
    assert attempts(clock, key=bytes([1]) * 32).read(headers_of(cookie)) is None
    assert attempts(clock, secure=False).read(headers_of(cookie)) is None
    assert end_of(made, clock.now()) > clock.now()
    clock.passes(600)
    assert attempts(clock).read(headers_of(cookie)) is None


def test_no_two_attempts_have_anything_in_common():
    one, other = (attempts(Clock()).begin("company", "/panel", "/panel") for _ in range(2))

    assert len({*(one.state, one.nonce, one.verifier), *(other.state, other.nonce)}) == 5
    assert not one.is_answered_by("company", other.state)
    assert not one.is_answered_by("another", one.state)
    assert one.is_answered_by("company", one.state)


def test_a_long_address_is_left_out_so_that_the_cookie_is_kept():
    made = attempts(Clock()).begin("company", "/panel?q=" + "x" * 1_000, "/panel")

    assert made.back == "/panel"
    assert len(attempts(Clock()).given(made)) < 4_096


def test_on_plain_http_the_cookie_has_another_name():
    cookie = attempts(Clock(), secure=False).taken

    assert cookie == "pixgate-company-dev=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0"

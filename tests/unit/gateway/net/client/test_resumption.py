"""Sessions are used once, while they are young, and not after a handshake has failed."""

from __future__ import annotations

import ssl
from pathlib import Path

import pytest

from gateway.net.client.resumption import ResumingContext, SecuredObject
from tests.unit.provider_adapters.authority import Authority
from tests.unit.provider_adapters.witness import Clock


class Pair:
    """A bank's context and ours; connections are made in memory."""

    def __init__(self, folder: Path) -> None:
        authority = Authority(folder)
        self.clock = Clock()
        self.bank = authority.server()
        self.context = ResumingContext(ssl.PROTOCOL_TLS_CLIENT, self.clock)
        self.context.load_verify_locations(authority.file)

    def connect(self, *, keep: bool = True) -> SecuredObject:
        """Make a connection, have the bank say a word, and keep its session."""
        to_bank, to_us = ssl.MemoryBIO(), ssl.MemoryBIO()
        ours = self.context.wrap_bio(to_us, to_bank, server_hostname="localhost")
        theirs = self.bank.wrap_bio(to_bank, to_us, server_side=True)
        waiting = [ours, theirs]
        while waiting:
            for one in list(waiting):
                try:
                    one.do_handshake()
                except ssl.SSLWantReadError:
                    continue
                waiting.remove(one)
        theirs.write(b"x")
        assert ours.read(1) == b"x"
        if keep:
            self.context.keep(ours)
        return ours


@pytest.fixture
def pair(tmp_path: Path) -> Pair:
    return Pair(tmp_path)


def test_the_next_connection_goes_on_from_the_one_before(pair: Pair):
    assert [pair.connect().session_reused for _ in range(3)] == [False, True, True]


def test_a_session_is_used_once(pair: Pair):
    pair.connect()

    assert [pair.connect(keep=False).session_reused for _ in range(2)] == [True, False]


def test_after_ten_minutes_the_bank_shows_its_certificate_again(pair: Pair):
    """Resuming does not begin them anew."""
    pair.connect()
    pair.clock.passes(400)
    resumed = pair.connect()
    pair.clock.passes(201)

    assert resumed.session_reused
    assert not pair.connect().session_reused


def test_after_a_failure_nothing_is_resumed_for_ten_minutes(pair: Pair):
    pair.connect()
    pair.context.distrust()

    assert [pair.connect().session_reused for _ in range(2)] == [False, False]
    pair.clock.passes(600)
    assert [pair.connect().session_reused for _ in range(2)] == [False, True]

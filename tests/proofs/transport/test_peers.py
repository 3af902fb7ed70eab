"""Servers that were not written for a test: Debian's nginx, Caddy and HAProxy."""

from __future__ import annotations

import asyncio

import pytest

from gateway.banks.client.messages import ProviderAnswer, SendProgress
from gateway.banks.port.providers import ProviderError
from tests.proofs.transport.conftest import Run
from tests.servers.peer import Peer
from tests.world.banks.roads import FAR, READ, order, read, road, tried
from tests.world.extent import WHOLE
from tests.world.waiting import block_until, until

ABSENT = {"nginx": 502, "caddy": 502, "haproxy": 503}
LONG_HEAD = {"nginx": 400, "caddy": 200, "haproxy": 400}
ANSWERS = [("/empty", 204, b""), ("/away", 307, None), ("/", 200, b'{"kind": "plain"}')]


def plain(peer: Peer) -> str:
    return f"http://127.0.0.1:{peer.plain}"


def test_calls_continue_while_the_peer_ends_connections(run: Run, peer: Peer):
    """Every third answer announces the end of its connection."""

    async def calls() -> None:
        paths = ["/", "/", "/last"] * (33 if WHOLE else 5)
        async with road(plain(peer)) as to:
            found = [await tried(to, order(mark, path=path)) for mark, path in enumerate(paths)]

        assert [one for one in found if isinstance(one, ProviderError)] == []
        assert {one.status for one in found if isinstance(one, ProviderAnswer)} == {200}

    run(calls())


def test_a_connection_closed_by_the_peer_is_replaced(run: Run, peer: Peer):
    """The peer keeps it for a second; its end is noticed, and a payout uses another one."""

    async def idle() -> None:
        async with road(plain(peer)) as to:
            await tried(to, READ)
            await until(lambda: not to._pool.idle)
            found = await tried(to, order())

        assert isinstance(found, ProviderAnswer)

    run(idle())


def test_a_close_not_yet_processed_by_the_loop_is_noticed(run: Run, peer: Peer):
    """The loop is blocked while the peer closes the connection, so the kernel is asked."""

    async def deaf() -> None:
        async with road(plain(peer)) as to:
            await tried(to, READ)
            [kept] = to._pool.idle
            block_until(lambda: not kept.is_quiet())
            found = [await tried(to, each) for each in (READ, order())]

        assert [type(each) for each in found] == [ProviderAnswer] * 2

    run(deaf())


@pytest.mark.skipif(not WHOLE, reason="`make proofs` alone")
def test_a_payout_at_the_peer_s_idle_timeout_is_answered_or_lost(run: Run, peer: Peer):
    """Many connections, each reused at a different moment around the second."""

    async def edge() -> None:
        async def once(pause: float) -> ProviderAnswer | ProviderError:
            async with road(plain(peer)) as to:
                await tried(to, READ)
                await asyncio.sleep(pause)
                progress = SendProgress(FAR)
                found = await tried(to, order(), progress)
                assert progress.bytes_left
                return found

        found = await asyncio.gather(*(once(0.98 + 0.002 * step) for step in range(20)))

        failed = [one for one in found if isinstance(one, ProviderError)]
        assert {one.reason for one in failed} <= {"connection_lost"}
        assert {one.status for one in found if isinstance(one, ProviderAnswer)} <= {200}

    run(edge())


def test_a_peer_s_answers_are_read_on_one_connection(run: Run, peer: Peer):
    """And one connection is reused."""

    async def twice() -> None:
        for path, status, body in ANSWERS:
            async with road(plain(peer)) as to:
                for _ in range(2):
                    found = await tried(to, read(path))

                    assert isinstance(found, ProviderAnswer)
                    assert found.status == status
                    assert body is None or found.body == body
                assert len(to._pool._all) == 1

    run(twice())


def test_a_proxy_without_a_bank_answers_itself(run: Run, peer: Peer):
    async def twice() -> None:
        async with road(plain(peer)) as to:
            found = [await tried(to, order(path="/nobody")) for _ in range(2)]

        for one in found:
            assert isinstance(one, ProviderAnswer)
            assert one.status == ABSENT[peer.name]

    run(twice())


@pytest.mark.parametrize("path", ["/", "/bank"])
def test_a_body_refused_as_too_large_is_read_as_a_refusal(run: Run, peer: Peer, path: str):
    """The peer answers after the head and closes while we are still writing."""

    async def large() -> None:
        async with road(plain(peer)) as to:
            big = order(body=b"x" * 4_000_000, path=path)
            found = await tried(to, big)
            idle = list(to._pool.idle)

        if isinstance(found, ProviderAnswer):
            assert found.status in ({200} if (peer.name, path) == ("caddy", "/") else {413, 502})
        else:
            assert found.reason == "connection_lost"  # the reset may overtake the answer
        assert idle == []

    run(large())


def test_a_head_refused_as_too_large_is_read_as_a_refusal(run: Run, peer: Peer):
    """Refused before its end; the next call uses another connection."""

    async def long() -> None:
        async with road(plain(peer)) as to:
            refused = await tried(to, order(headers={"X-Long": "x" * 60_000}))
            after = await tried(to, order())

        if isinstance(refused, ProviderAnswer):
            assert refused.status == LONG_HEAD[peer.name]
        else:
            assert refused.reason == "connection_lost"
        assert isinstance(after, ProviderAnswer)
        assert after.status == 200

    run(long())

"""Servers that were not written for a test: Debian's nginx, Caddy and HAProxy."""

from __future__ import annotations

import asyncio
import time

import pytest

from gateway.domain.bank.providers import ProviderError
from gateway.net.client.messages import ProviderAnswer, SendProgress
from tests.proofs.transport.conftest import Run
from tests.servers.peer import Peer
from tests.world.banks.roads import FAR, READ, order, read, road, tried

ABSENT = {"nginx": 502, "caddy": 502, "haproxy": 503}
LONG_HEAD = {"nginx": 400, "caddy": 200, "haproxy": 400}


def plain(peer: Peer) -> str:
    return f"http://127.0.0.1:{peer.plain}"


def test_calls_go_on_while_the_peer_ends_connections(run: Run, peer: Peer):
    """Every third call is answered with the word that it was the connection's last."""

    async def calls() -> None:
        paths = ["/", "/", "/last"] * 33
        async with road(plain(peer)) as to:
            found = [await tried(to, order(mark, path=path)) for mark, path in enumerate(paths)]

        assert {one.status for one in found if isinstance(one, ProviderAnswer)} == {200}
        assert not [one for one in found if isinstance(one, ProviderError)]

    run(calls())


def test_a_connection_the_peer_has_given_up_is_noticed(run: Run, peer: Peer):
    """It keeps one for a second; away from that edge no payout goes astray."""

    async def idle() -> None:
        async with road(plain(peer)) as to:
            for pause in (0.5, 1.2):
                await tried(to, READ)
                await asyncio.sleep(pause)
                found = await tried(to, order())

                assert isinstance(found, ProviderAnswer), pause

    run(idle())


def test_a_good_bye_that_the_loop_has_not_heard_is_noticed(run: Run, peer: Peer):
    """The loop stands still while the peer gives the connection up: the kernel is asked."""

    async def deaf() -> None:
        async with road(plain(peer)) as to:
            await tried(to, READ)
            time.sleep(1.3)
            found = await tried(to, order())

            assert isinstance(found, ProviderAnswer)

    run(deaf())


def test_at_the_edge_of_its_patience_a_payout_is_answered_or_known_to_be_lost(run: Run, peer: Peer):
    """Many connections, each used again at another moment around the second."""

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
        assert {one.status for one in found if isinstance(one, ProviderAnswer)} == {200}

    run(edge())


@pytest.mark.parametrize(
    ("path", "status", "body"),
    [("/empty", 204, b""), ("/away", 307, None), ("/", 200, b'{"kind": "plain"}')],
)
def test_what_a_peer_answers_is_read(
    run: Run, peer: Peer, path: str, status: int, body: bytes | None
):
    """And the connection is used again."""

    async def twice() -> None:
        async with road(plain(peer)) as to:
            for _ in range(2):
                found = await tried(to, read(path))

                assert isinstance(found, ProviderAnswer)
                assert found.status == status
                assert body is None or found.body == body
            assert to._open is not None
            assert len(to._open.pool) == 1

    run(twice())


def test_nobody_behind_the_peer_is_an_answer_of_its_own(run: Run, peer: Peer):
    async def twice() -> None:
        async with road(plain(peer)) as to:
            found = [await tried(to, order(path="/nobody")) for _ in range(2)]

        for one in found:
            assert isinstance(one, ProviderAnswer)
            assert one.status == ABSENT[peer.name]

    run(twice())


@pytest.mark.parametrize("path", ["/", "/bank"])
def test_a_body_the_peer_does_not_want(run: Run, peer: Peer, path: str):
    """It answers by the head alone and closes while we are still writing."""

    async def large() -> None:
        async with road(plain(peer)) as to:
            big = order(body=b"x" * 4_000_000, path=path)
            found = await tried(to, big)
            idle = to._open.pool.idle if to._open else None

        if isinstance(found, ProviderAnswer):
            assert found.status in ({200} if (peer.name, path) == ("caddy", "/") else {413, 502})
        else:
            assert found.reason == "connection_lost"  # the reset may overtake the answer
        assert idle == 0

    run(large())


def test_a_head_the_peer_does_not_want(run: Run, peer: Peer):
    """Refused before its end; what follows goes over another connection."""

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

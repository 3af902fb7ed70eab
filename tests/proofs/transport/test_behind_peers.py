"""A bank behind nginx, Caddy or HAProxy: what it does wrong arrives in another shape."""

from __future__ import annotations

import asyncio
import json
import random

import pytest

from gateway.banks.client.messages import ProviderAnswer, SendProgress
from gateway.banks.port.providers import ProviderError
from tests.proofs.transport.conftest import Run, Street
from tests.proofs.transport.plays import dripping, echo, echoing, hasty
from tests.servers.peer import Peer
from tests.world.banks.roads import FAR, behind, marks, order, read, road, tried
from tests.world.banks.scripted import Line, ScriptedBank, answer, saying
from tests.world.extent import WHOLE
from tests.world.waiting import settle

OF_THE_PEER = {502, 503, 504}
STEP = 1 if WHOLE else 9
"""Bytes from one cut to the next."""
ORDERS = 150 if WHOLE else 60
BODY = b'{"id": "' + b"1" * 40 + b'"}'
CODED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
ANSWERS = {
    "length": answer(BODY),
    "chunks": CODED + b"5\r\n%s\r\n2D\r\n%s\r\n0\r\n\r\n" % (BODY[:5], BODY[5:]),
}


def plain(peer: Peer) -> str:
    return f"http://127.0.0.1:{peer.plain}"


def is_json(body: bytes) -> bool:
    try:
        json.loads(body)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize("kind", list(ANSWERS))
@pytest.mark.parametrize("how", ["close", "reset"])
def test_an_answer_cut_at_any_byte_is_not_read_as_complete(
    run: Run, street: Street, peer: Peer, kind: str, how: str
):
    """
    A failure, or the peer's own 502; sent once.

    Caddy 2.6, however, ends the part of a chunked answer that it has as if it were complete: there
    the adapter notices, because the part is not JSON.
    """
    data = ANSWERS[kind]
    framed_anew = (peer.name, kind) == ("caddy", "chunks")

    async def every_cut() -> None:
        cut = 0

        async def short(line: Line) -> None:
            await line.say(data[:cut])
            if how == "reset":
                await settle()  # what it has not forwarded, a reset may take back
                line.reset()

        bank = ScriptedBank(short)
        async with behind(street.bank, bank), road(plain(peer)) as to:
            for cut in range(0, len(data), STEP):
                progress = SendProgress(FAR)
                found = await tried(to, order(cut, path="/bank"), progress)

                assert progress.bytes_left
                if isinstance(found, ProviderError):
                    assert found.reason in {"connection_lost", "answer_cut_short"}, cut
                elif framed_anew and found.status == 200:
                    assert found.body == BODY or not is_json(found.body), cut
                else:
                    assert found.status in OF_THE_PEER, (cut, found.body)
        assert marks(bank.requests) == list(range(0, len(data), STEP))

    run(every_cut())


def test_a_silent_bank_behind_a_proxy_gives_a_504(run: Run, street: Street, peer: Peer):
    """The peer's timeout is shorter than ours: its 504 is an answer, and proves nothing."""

    async def silent() -> None:
        async def keeps_silent(line: Line) -> None:
            await line.reader.read()

        bank = ScriptedBank(keeps_silent)
        async with behind(street.bank, bank), road(plain(peer)) as to:
            found = await tried(to, order(7, path="/silent"))

        assert isinstance(found, ProviderAnswer)
        assert found.status == 504
        assert marks(bank.requests) == [7]

    run(silent())


def test_a_bank_that_closes_without_an_answer_gives_a_502_or_a_lost_connection(
    run: Run, street: Street, peer: Peer
):
    async def wordless() -> None:
        bank = ScriptedBank(saying(b""))
        async with behind(street.bank, bank), road(plain(peer)) as to:
            found = [await tried(to, order(mark, path="/bank")) for mark in range(5)]

        for one in found:
            if isinstance(one, ProviderAnswer):
                assert one.status == 502
            else:  # HAProxy hangs up without a word too, from the second call of a connection on
                assert (peer.name, one.reason) == ("haproxy", "connection_lost")
        assert marks(bank.requests) == [0, 1, 2, 3, 4]

    run(wordless())


@pytest.mark.parametrize("kind", list(ANSWERS))
def test_a_slow_answer_behind_a_proxy_is_read_complete(
    run: Run, street: Street, peer: Peer, kind: str
):
    async def slowly() -> None:
        bank = ScriptedBank(dripping(ANSWERS[kind]), keeps=True)
        async with behind(street.bank, bank), road(plain(peer)) as to:
            for mark in range(2):
                found = await tried(to, order(mark, path="/bank"))

                assert isinstance(found, ProviderAnswer)
                assert (found.status, found.body) == (200, BODY)

    run(slowly())


def test_a_body_of_unknown_length_behind_a_proxy_is_read_complete(
    run: Run, street: Street, peer: Peer
):
    """The bank ends it by closing; HAProxy does the same, the others frame it."""
    body = b"[" + b"1," * 100_000 + b"1]"

    async def chunks() -> None:
        bank = ScriptedBank(saying(b"HTTP/1.0 200 OK\r\n\r\n" + body))
        async with behind(street.bank, bank), road(plain(peer)) as to:
            for _ in range(3):
                found = await tried(to, read("/bank"))

                assert isinstance(found, ProviderAnswer)
                assert ("Transfer-Encoding" in found.headers) == (peer.name != "haproxy")
                assert found.body == body

    run(chunks())


def test_interim_responses_before_the_answer_are_skipped(run: Run, street: Street, peer: Peer):
    """Whether the peer passes them on or not, the answer is the one after them."""
    hint = b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"

    async def hinted() -> None:
        bank = ScriptedBank(saying(hint * 3 + answer(BODY)))
        async with behind(street.bank, bank), road(plain(peer)) as to:
            for _ in range(2):
                found = await tried(to, read("/bank"))

                assert isinstance(found, ProviderAnswer)
                assert (found.status, found.body) == (200, BODY)

    run(hinted())


def test_surplus_bytes_are_never_read_as_the_next_answer(run: Run, street: Street, peer: Peer):
    async def talkative() -> None:
        async def says_more(line: Line) -> None:
            await line.say(echo(line.request) + answer(b'{"mark": -1}'))

        bank = ScriptedBank(says_more, keeps=True)
        async with behind(street.bank, bank), road(plain(peer)) as to:
            for mark in range(30):
                found = await tried(to, order(mark, path="/bank"))

                if isinstance(found, ProviderAnswer) and found.status == 200:
                    assert json.loads(found.body) == {"mark": mark}
        arrived = marks(bank.requests)
        assert len(arrived) == len(set(arrived))

    run(talkative())


@pytest.mark.parametrize("seed", [1, 2] if WHOLE else [1])
def test_no_request_arrives_twice_after_any_close(run: Run, street: Street, peer: Peer, seed: int):
    """Neither we nor the peer send an order again; and every answer belongs to its order."""

    async def race() -> None:
        bank = ScriptedBank(hasty(random.Random(seed)), keeps=True)
        async with behind(street.bank, bank), road(plain(peer)) as to:
            for mark in range(ORDERS):
                found = await tried(to, order(mark, path="/bank"))
                if isinstance(found, ProviderError):
                    assert found.reason in {"connection_lost", "answer_cut_short"}
                elif found.status == 200:
                    assert json.loads(found.body) == {"mark": mark}
                else:
                    assert found.status in OF_THE_PEER
        arrived = marks(bank.requests)
        assert len(arrived) == len(set(arrived))
        assert len(arrived) > ORDERS / 2

    run(race())


def test_concurrent_calls_behind_a_proxy_get_their_own_answers(
    run: Run, street: Street, peer: Peer
):
    async def crowd() -> None:
        bank = ScriptedBank(echoing, keeps=True)
        async with behind(street.bank, bank), road(plain(peer)) as to:

            async def caller(first: int) -> None:
                for mark in range(first, first + 15):
                    found = await tried(to, order(mark, path="/bank"))

                    assert isinstance(found, ProviderAnswer)
                    assert json.loads(found.body) == {"mark": mark}

            await asyncio.gather(*(caller(1000 * number) for number in range(1, 21)))
        arrived = marks(bank.requests)
        assert (len(arrived), len(set(arrived))) == (300, 300)

    run(crowd())

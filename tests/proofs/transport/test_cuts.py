"""An answer that ends at any byte: a whole one is believed, anything less is not."""

from __future__ import annotations

import pytest

from gateway.banks.client.messages import ProviderAnswer, SendProgress
from gateway.banks.port.providers import ProviderError
from tests.proofs.transport.conftest import Run
from tests.world.banks.roads import FAR, marks, order, road, tried
from tests.world.banks.scripted import Line, ScriptedBank, answer, standing

BODY = b'{"id": "1"}'
HINT = b"HTTP/1.1 103 Early Hints\r\nA: b\r\n\r\n"
CODED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
ANSWERS = {
    "length": (answer(BODY), answer(BODY).index(b"\r\n\r\n") + 4),
    "chunks": (CODED + b'5\r\n{"id"\r\n6\r\n: "1"}\r\n0\r\n\r\n', len(CODED)),
    "hint": (HINT + answer(BODY), len(HINT) + answer(BODY).index(b"\r\n\r\n") + 4),
}


@pytest.mark.parametrize("kind", list(ANSWERS))
@pytest.mark.parametrize("how", ["close", "reset"])
def test_a_payout_s_answer_cut_at_any_byte_is_an_error(run: Run, kind: str, how: str):
    """Sent once, and unknown: taken neither for an answer nor for unsent."""
    data, head = ANSWERS[kind]

    async def every_cut() -> None:
        cut = 0

        async def short(line: Line) -> None:
            await line.say(data[:cut])
            if how == "reset":
                line.reset()

        async with standing(ScriptedBank(short)) as bank, road(bank.url) as to:
            for cut in range(len(data)):
                progress = SendProgress(FAR)
                found = await tried(to, order(cut), progress)

                assert isinstance(found, ProviderError), cut
                assert progress.bytes_left
                known = "answer_cut_short" if cut >= head else "connection_lost"
                # What a reset leaves unread is the kernel's to say.
                assert found.reason in ({known} if how == "close" else {known, "connection_lost"})
            assert marks(bank.requests) == list(range(len(data)))

    run(every_cut())


@pytest.mark.parametrize("kind", list(ANSWERS))
def test_a_complete_answer_is_read_when_the_bank_then_hangs_up(run: Run, kind: str):
    data, _ = ANSWERS[kind]

    async def whole(line: Line) -> None:
        await line.say(data)

    async def twice() -> None:
        async with standing(ScriptedBank(whole)) as bank, road(bank.url) as to:
            for mark in range(20):
                found = await tried(to, order(mark))

                assert isinstance(found, ProviderAnswer)
                assert found.body == BODY
            assert marks(bank.requests) == list(range(20))

    run(twice())


@pytest.mark.parametrize("cut", [1, 7, len(BODY)])
def test_an_answer_without_a_length_ends_with_the_connection(run: Run, cut: int):
    """An orderly close ends it, a reset does not. The adapter checks its content."""

    async def both() -> None:
        async def ends(line: Line) -> None:
            await line.say(b"HTTP/1.1 200 OK\r\n\r\n" + BODY[:cut])
            if b'"mark": 1' in line.request:
                line.reset()

        async with standing(ScriptedBank(ends)) as bank, road(bank.url) as to:
            closed, broken = await tried(to, order(0)), await tried(to, order(1))

        assert isinstance(closed, ProviderAnswer)
        assert closed.body == BODY[:cut]
        assert isinstance(broken, ProviderError)

    run(both())

"""A money call in two halves, where a test watches."""

from __future__ import annotations

import pytest

from gateway.domain.accounts.accounts import Environment
from gateway.domain.kernel.clocks import Deadline
from gateway.net.client.messages import Kind, ProviderRequest
from gateway.net.client.send_progress import Passage
from gateway.net.client.transport import WireTransport
from gateway.net.common.runtime import Surroundings
from tests.unit.provider_adapters.scripted import ScriptedBank, answer, saying, standing
from tests.unit.provider_adapters.witness import SHORT

ORDER = ProviderRequest(
    operation="create_payout", method="POST", template="/p", path="/p", body=b'{"a":"0123456789"}',
    kind=Kind.PAYOUT,
)  # fmt: skip
FAR = Deadline(10.0, lambda: 0.0)


class Ended(BaseException):
    """Stands for the end of the process."""


async def test_every_point_is_passed_in_order():
    passed: list[str] = []
    async with standing(ScriptedBank(saying(answer()))) as bank:
        transport = WireTransport(
            bank.url, SHORT, Environment.SANDBOX, Surroundings(passing=passed.append)
        )
        await transport.start()
        got = await transport.call(ORDER, Passage(FAR))
        await transport.close()

    assert got.body == b"{}"
    assert bank.requests[0].endswith(ORDER.body)
    assert passed == [
        "before_connect", "after_connect", "mid_body", "after_body", "before_answer", "mid_answer",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("point", "arrived"), [("after_connect", 0), ("mid_body", 0), ("after_body", 1)]
)
async def test_what_has_left_at_a_point(point: str, arrived: int):
    """At the one in the middle, half of the body is all that ever leaves."""

    def ends(name: str) -> None:
        if name == point:
            raise Ended

    async with standing(ScriptedBank(saying(answer()))) as bank:
        transport = WireTransport(bank.url, SHORT, Environment.SANDBOX, Surroundings(passing=ends))
        await transport.start()
        with pytest.raises(Ended):
            await transport.call(ORDER, Passage(FAR))
        await transport.close()

    assert len(bank.requests) == arrived


async def test_a_read_passes_no_point():
    passed: list[str] = []
    read = ProviderRequest(operation="x", method="GET", template="/p", path="/p")
    async with standing(ScriptedBank(saying(answer()))) as bank:
        transport = WireTransport(
            bank.url, SHORT, Environment.SANDBOX, Surroundings(passing=passed.append)
        )
        await transport.start()
        await transport.call(read, Passage())
        await transport.close()

    assert passed == []

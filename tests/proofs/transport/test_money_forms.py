"""Money by POST, by POST without a body, and by PUT: one request, and the same evidence."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

import msgspec
import pytest

from gateway.banks.client.messages import Kind, ProviderAnswer, ProviderRequest
from gateway.banks.client.transport import HttpTransport
from gateway.banks.port.providers import Accepted, Evidence, NotSent, Outcome, Phase, Unknown
from gateway.core.account import Environment
from provider_adapters.kit.answers import provider_id, read_document
from provider_adapters.kit.client import ClientParts, ProviderClient
from provider_adapters.kit.limits import ClientLimits
from provider_adapters.kit.transcript import Transcript
from provider_adapters.testing.verify.suite.wire import FAULTS, WireFault
from tests.proofs.transport.forward import Forward
from tests.world.banks.harness import FAR, KEY, PASSED
from tests.world.banks.scripted import ScriptedBank, answer, saying, standing
from tests.world.banks.witness import Witness
from tests.world.waiting import settle, until

LIMITS = ClientLimits(connect_s=60.0, read_s=60.0, payout_s=60.0)
FORMS = {
    "post": ("POST", "/payments", b'{"value":1050}'),
    "post without body": ("POST", "/payments", b""),
    "put": ("PUT", f"/pix/{KEY}", b'{"value":1050}'),
    "put without body": ("PUT", f"/pix/{KEY}", b""),
}
forms = pytest.mark.parametrize("form", FORMS)


def order(form: str) -> ProviderRequest:
    """A payout, asked for in one of the forms."""
    method, path, body = FORMS[form]
    return ProviderRequest(
        operation="create_payout",
        method=method,
        template=path.replace(KEY, "{key}"),
        path=path,
        body=body,
        kind=Kind.PAYOUT,
        key=KEY if method == "PUT" else "",
    )


class Said(msgspec.Struct):
    id: str


DECODER = msgspec.json.Decoder(Said)


def read(said: ProviderAnswer) -> Outcome:
    """Believe a 200 with an id alone, and no damaged one, as adapters do."""
    name = read_document(said, DECODER, lambda document: provider_id(document.id))
    return Accepted(evidence=said.evidence("answered"), provider_id=name)


async def pay(form: str, url: str, told: Witness, by: object = FAR) -> Outcome:
    """Pay once, through the client that all adapters share."""
    transport = HttpTransport(url, LIMITS, Environment.SANDBOX)
    client = ProviderClient(
        ClientParts(
            provider="bank", transport=transport, limits=LIMITS, observer=told,
            transcript=Transcript("bank", frozenset()),
        )
    )  # fmt: skip
    await client.start()
    try:
        return await client.pay(order(form), read, by)  # type: ignore[arg-type]
    finally:
        await client.close()


@forms
async def test_an_order_is_written_once(form: str):
    async with standing(ScriptedBank(saying(answer(b'{"id":"p-1"}')))) as bank:
        outcome = await pay(form, bank.url, Witness())

    method, path, body = FORMS[form]
    assert isinstance(outcome, Accepted)
    (written,) = bank.requests
    assert written.startswith(f"{method} {path} HTTP/1.1\r\n".encode())
    assert f"Content-Length: {len(body)}\r\n".encode() in written
    assert written.endswith(b"\r\n\r\n" + body)


@pytest.mark.parametrize("form", ["post without body", "put"])
async def test_a_fault_of_the_wire_leaves_it_unknown(form: str):
    """
    As a POST with a body does (see the adapters' suite): it proves nothing, and is over.

    All at once, each at a bank of its own; the clock is put forward when those that wait for it
    are the only ones left.
    """
    clock = Forward()
    trials = [Trial(fault) for fault in FAULTS]
    paying = [asyncio.create_task(each.pays(form)) for each in trials]
    await until(
        lambda: all(each.stands or task.done() for each, task in zip(trials, paying, strict=True))
    )
    await settle(100)
    clock.by(LIMITS.payout_s + 1)
    await asyncio.gather(*paying)

    assert {each.fault.name: each.wrong for each in trials if each.wrong} == {}


@dataclass
class Trial:
    """A payout amid a fault, and what is wrong with its outcome."""

    fault: WireFault
    bank: ScriptedBank = field(init=False)
    wrong: str = ""

    def __post_init__(self) -> None:
        self.bank = ScriptedBank(self.fault.play, reads=self.fault.reads)

    @property
    def stands(self) -> bool:
        """Whether it has sent its order, to a bank that only a time limit ends."""
        arrived = self.bank.requests if self.fault.reads else self.bank.connections
        return bool(arrived) and self.fault.waits

    async def pays(self, form: str) -> None:
        told = Witness()
        async with standing(self.bank):
            outcome = await pay(form, self.bank.url, told)
        once = (self.bank.connections, len(told.calls), told.retries) == (1, 1, [])
        evidence = outcome.evidence
        right = evidence.reason == self.fault.reason or not self.fault.reason
        if not (isinstance(outcome, Unknown) and evidence.bytes_left and right and once):
            self.wrong = f"{outcome}, {self.bank.connections} connections"


@forms
async def test_what_is_late_is_not_sent(form: str):
    async with standing(ScriptedBank(saying(answer(b'{"id":"p-1"}')))) as bank:
        outcome = await pay(form, bank.url, Witness(), PASSED)

    assert isinstance(outcome, NotSent)
    assert outcome.evidence == Evidence(
        phase=Phase.CONNECTED, bytes_left=False, reason="deadline_passed"
    )
    assert bank.requests == []

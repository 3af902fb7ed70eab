"""The Woovi adapter's own part; the contract tests show what it does at the bank."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from gateway.banks.port.payout_orders import FailureCode
from gateway.banks.port.pix_keys import KeyOrder, PixKeyType
from gateway.banks.port.provider_callbacks import CallbackOrder
from gateway.banks.port.providers import (
    Accepted,
    BadReply,
    NotSent,
    Refused,
    Rejected,
    Settled,
    Unknown,
)
from gateway.core.account import Environment
from provider_adapters.kit.factory import AdapterContext
from provider_adapters.woovi.adapter import WooviAdapter
from provider_adapters.woovi.factory import WooviFactory
from provider_adapters.woovi.mapping import REGISTERED
from tests.unit.provider_adapters.woovi.payouts import PAID, SHOWN
from tests.world.banks.harness import FAR, KEY, order
from tests.world.banks.scripted import Line, ScriptedBank, answer, standing
from tests.world.banks.witness import Witness
from tests.world.banks.woovi import ACCOUNT, by_account, refund
from tests.world.tables import cases

DUPLICATE = {"error": "Já existe um pagamento com o correlationID fornecido"}
URL = "https://gateway.example/callbacks/1"


def bank_of(*answers: tuple[int, object]) -> ScriptedBank:
    """A bank that answers in this order, and shows what it was asked."""
    rest = list(answers)

    async def play(line: Line) -> None:
        status, document = rest.pop(0)
        await line.say(answer(json.dumps(document).encode(), status=f"{status} X"))

    return ScriptedBank(play, keeps=True)


async def adapter_of(bank: ScriptedBank, told: Witness | None = None) -> WooviAdapter:
    context = AdapterContext(
        name="bank", environment=Environment.SANDBOX, observer=told or Witness()
    )
    adapter = WooviFactory()({"base_url": bank.url}, context)
    await adapter.start()
    return adapter


def asked(bank: ScriptedBank) -> list[str]:
    """The first lines of what it was asked."""
    return [request.split(b" HTTP/")[0].decode() for request in bank.requests]


async def test_an_unsendable_order_is_rejected_without_a_bank_call():
    async with standing(bank_of()) as bank:
        adapter = await adapter_of(bank)
        paid = await adapter.create_payout(ACCOUNT, by_account("998"), FAR)
        given = await adapter.create_refund(ACCOUNT, refund("x" * 200), FAR)
        await adapter.close()

    assert isinstance(paid, Rejected)
    assert paid.failure is FailureCode.ACCOUNT_INVALID
    assert isinstance(given, Rejected)
    assert not paid.evidence.bytes_left
    assert not given.evidence.bytes_left
    assert bank.requests == []


async def test_an_account_without_an_app_id_sends_nothing():
    async with standing(bank_of()) as bank:
        adapter = await adapter_of(bank)
        outcome = await adapter.create_payout(replace(ACCOUNT, secrets=None), order(), FAR)
        await adapter.close()

    assert isinstance(outcome, NotSent)
    assert bank.requests == []


@cases(
    ("shown", "kind"),
    [
        ({**SHOWN, "status": "CONFIRMED"}, Settled),
        (SHOWN, Accepted),
        ({**SHOWN, "status": "FAILED"}, Rejected),
        ({**SHOWN, "value": 1}, Unknown),
        ({**SHOWN, "destinationAlias": "x@example.com"}, Unknown),
        ({name: text for name, text in SHOWN.items() if name != "destinationAlias"}, Unknown),
    ],
)
async def test_a_duplicate_is_read_back_and_compared(shown, kind):
    document = {"payment": shown, "transaction": PAID}
    async with standing(bank_of((400, DUPLICATE), (200, document))) as bank:
        adapter = await adapter_of(bank)
        outcome = await adapter.create_payout(ACCOUNT, order(), FAR)
        await adapter.close()

    assert isinstance(outcome, kind)
    assert asked(bank) == ["POST /api/v1/payment", f"GET /api/v1/payment/{KEY}"]


async def test_a_duplicate_that_cannot_be_read_back_is_unknown():
    async with standing(bank_of((400, DUPLICATE), (400, {"error": "x"}))) as bank:
        adapter = await adapter_of(bank)
        outcome = await adapter.create_payout(ACCOUNT, order(), FAR)
        await adapter.close()

    assert isinstance(outcome, Unknown)


async def test_all_keys_are_read_with_any_page_length():
    def page(*keys: str) -> tuple[int, object]:
        return 200, {"pixKeys": [{"key": key, "type": "EMAIL"} for key in keys]}

    async with standing(bank_of(page("a@b.c", "d@e.f"), page("g@h.i"), page())) as bank:
        adapter = await adapter_of(bank)
        keys = await adapter.list_keys(ACCOUNT)
        await adapter.close()

    assert [key.key for key in keys] == ["a@b.c", "d@e.f", "g@h.i"]
    assert [line.partition("skip=")[2] for line in asked(bank)] == [
        "0&limit=100", "2&limit=100", "3&limit=100"
    ]  # fmt: skip


async def test_endless_pages_of_keys_are_a_bad_reply():
    page = (200, {"pixKeys": [{"key": f"{i}@b.c", "type": "EMAIL"} for i in range(100)]})
    async with standing(bank_of(*[page] * 20)) as bank:
        adapter = await adapter_of(bank)
        with pytest.raises(BadReply):
            await adapter.list_keys(ACCOUNT)
        await adapter.close()


async def test_a_key_of_an_unsupported_type_is_refused_without_a_bank_call():
    async with standing(bank_of()) as bank:
        adapter = await adapter_of(bank)
        with pytest.raises(Refused):
            await adapter.create_key(ACCOUNT, KeyOrder(PixKeyType.EMAIL, "a@b.c"))
        await adapter.close()

    assert bank.requests == []


async def test_an_address_is_registered_only_for_missing_events():
    known, *others = REGISTERED
    there = {"webhooks": [{"id": "0", "url": URL, "event": known}]}
    made = [(200, {"webhook": {"id": str(i), "url": URL}}) for i in range(1, len(REGISTERED))]
    async with standing(bank_of((200, there), *made)) as bank:
        adapter = await adapter_of(bank)
        first = await adapter.register_callback(ACCOUNT, CallbackOrder(url=URL, secret=b"s3cret"))
        await adapter.close()

    bodies = [json.loads(each.partition(b"\r\n\r\n")[2])["webhook"] for each in bank.requests[1:]]
    assert [each["event"] for each in bodies] == others
    assert first.id == "0"
    assert not any(b"s3cret" in each for each in bank.requests)

"""
The matrix of capabilities against what happens: one gateway, an account at every bank.

Each cell is asked for where people and partners do, in an order in which one answer gives the
next question. What a bank is declared to offer succeeds; the rest is 422 ``SVC.ACC.005``, and
403 for a payout at a bank without payouts.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator
from urllib.parse import quote

import pytest

from gateway.banks.port.capabilities import Capabilities, PortCall
from gateway.banks.port.payout_orders import PayoutMethod
from gateway.banks.port.provider_callbacks import CallbackOrder
from gateway.core.audit_context import RuleViolation
from provider_adapters.testing import simulators
from tests.surfaces.banks.every_bank import AtBank, EveryBank
from tests.surfaces.banks.matrix_cells import charge, days
from tests.surfaces.banks.paying import ended, registrations_of
from tests.world.backoffice.operations import BANK_PAYEE
from tests.world.gateway.world import order

pytestmark = pytest.mark.asyncio(loop_scope="module")

C = PortCall
OFFERED = "offered"
LACKS, READ_ONLY = "422 SVC.ACC.005", "403 SVC.ACC.005"
ABSENT = str(uuid.UUID(int=0))
ASKED_BY_OURSELVES = {
    *(C.PROBE, C.FIND_PAYOUT, C.FIND_RECEIVED),
    *(C.LIST_MISSED_EVENTS, C.ACKNOWLEDGE_EVENTS),
}
"""No route of a surface stands for these; the suite for adapters calls them."""

Cell = tuple[PortCall, str]


def told(answer) -> str:
    """Say in a word how a route answered."""
    if answer.status < 300:
        return OFFERED
    return f"{answer.status} {answer.document.get('code')}"


async def keys(bank: AtBank) -> AsyncIterator[Cell]:
    listed = await bank.partner("GET", "/pix/keys")
    yield C.LIST_KEYS, told(listed)
    known = listed.document["data"][0]["id"] if listed.status == 200 else ABSENT
    yield C.GET_KEY, told(await bank.partner("GET", f"/pix/keys/{known}"))
    made = await bank.person("POST", "/pix/keys", {"type": "evp"})
    yield C.CREATE_KEY, told(made)
    gone = made.document["id"] if made.status == 201 else known
    yield C.CANCEL_KEY, told(await bank.person("DELETE", f"/pix/keys/{gone}"))
    owner = {"key": "maria@example.com"}
    yield C.LOOK_UP_KEY, told(await bank.person("POST", "/pix/keys/lookup", owner))


async def money_in(bank: AtBank) -> AsyncIterator[Cell]:
    for cancelled in (True, False):
        wanted = charge(bank)
        made = await bank.person("POST", "/pix/qrcode", wanted)
        if cancelled:
            gone = await bank.person("DELETE", f"/pix/qrcode/{wanted['reference']}")
            yield C.CANCEL_CHARGE, told(gone)
    yield C.CREATE_CHARGE, told(made)
    reference = wanted["reference"]
    yield C.GET_CHARGE, told(await bank.partner("GET", f"/pix/qrcode/{reference}"))
    await bank.pay_newest_charge()
    paid = await bank.partner("GET", f"/pix/transactions/{reference}")
    yield C.GET_CHARGE_PAYMENT, told(paid)
    received = await bank.person("POST", "/pix/transactions/search", days(bank))
    yield C.LIST_RECEIVED, told(received)
    async for cell in refunds(bank, str(reference)):
        yield cell


async def refunds(bank: AtBank, reference: str) -> AsyncIterator[Cell]:
    wanted = {"reference": uuid.uuid4().hex, "value": 3.25, "description": "uma parte"}
    made = await bank.person("POST", f"/pix/transactions/{reference}/refunds", wanted)
    yield C.CREATE_REFUND, told(made)
    read = await bank.person("GET", f"/pix/refunds/{wanted['reference']}")
    yield C.FIND_REFUND, told(read)
    yield C.LIST_REFUNDS, told(await bank.person("POST", "/pix/refunds/search", days(bank)))


async def account(bank: AtBank) -> AsyncIterator[Cell]:
    window = "?init={init}&ends={ends}".format(**days(bank))
    yield C.GET_BALANCE, told(await bank.partner("GET", "/balance"))
    yield C.LIST_BLOCKS, told(await bank.person("GET", "/blocks"))
    yield C.LIST_STATEMENT, told(await bank.partner("GET", f"/transactions{window}"))


async def payouts(bank: AtBank) -> AsyncIterator[Cell]:
    wanted = order(uuid.uuid4().hex, bank.office.world.today())
    yield C.CREATE_PAYOUT, told(await bank.partner("POST", "/withdraw", wanted))


async def callbacks(bank: AtBank) -> AsyncIterator[Cell]:
    """Register an address, find it in the list, and remove it."""
    registrations, at = registrations_of(bank), bank.account
    asked = CallbackOrder(url="http://127.0.0.1:1/callbacks/here", secret=b"s" * 40)
    made = None
    try:
        made = await registrations.register(at, asked)
        yield C.REGISTER_CALLBACK, OFFERED
    except RuleViolation as problem:
        yield C.REGISTER_CALLBACK, str(problem)
    for call, asking in (
        (C.LIST_CALLBACKS, registrations.list(at)),
        (C.REMOVE_CALLBACK, registrations.remove(at, made.id if made else ABSENT)),
    ):
        try:
            await asking
            yield call, OFFERED
        except RuleViolation as problem:
            yield call, str(problem)


def expected(can: Capabilities, call: PortCall, said: str) -> str:
    """Return the expected text of a cell; a command writes a route's 422 in words."""
    if call in can.calls:
        return OFFERED
    if call is C.CREATE_PAYOUT:
        return READ_ONLY
    return said if "callback" in call and said != OFFERED else LACKS


PARTS = (account, keys, money_in, payouts, callbacks)


@pytest.mark.parametrize("name", simulators.names())
async def test_the_matrix_matches_each_bank_s_behaviour(every_bank: EveryBank, name: str):
    bank = every_bank[name]
    said = {call: word for part in PARTS async for call, word in part(bank)}

    assert set(said) == set(PortCall) - ASKED_BY_OURSELVES
    assert said == {call: expected(bank.capabilities, call, word) for call, word in said.items()}


@pytest.mark.parametrize("name", simulators.names())
async def test_concurrent_charges_under_one_reference_are_one(every_bank: EveryBank, name: str):
    """Also at banks that accept a reference twice."""
    bank = every_bank[name]
    wanted = charge(bank)
    before = await charges_at(bank)

    made = await asyncio.gather(*(bank.person("POST", "/pix/qrcode", wanted) for _ in range(3)))

    assert sorted(told(each) for each in made) == [*["409 SVC.GTW.009"] * 2, OFFERED]
    assert await charges_at(bank) == before + 1


async def charges_at(bank: AtBank) -> int:
    """Count the account's charges in the bank's books."""
    return len((await bank.control.get("accounts", bank.bank_account, "charges"))["data"])


async def test_a_reference_too_long_for_a_path_is_an_unknown_charge(every_bank: EveryBank):
    """A bank that names charges in paths gets no request with 12 KB, and no charge."""
    reference = "\U0001f600" * 1024
    paths = [f"/pix/{each}/{quote(reference)}" for each in ("qrcode", "transactions")]
    absent, kept = {}, {}
    for name, bank in every_bank.items():
        absent[name] = [told(await bank.partner("GET", path)) for path in paths]
        made = await bank.person("POST", "/pix/qrcode", charge(bank) | {"reference": reference})
        kept[name] = (told(made), told(await bank.partner("GET", paths[0])))

    charge_absent, payment_absent = "404 SVC.PIX.005", "404 SVC.PIX.017"
    fits = [(OFFERED, OFFERED), ("422 SVC.GTW.008", charge_absent), (LACKS, charge_absent)]
    assert absent == {name: [charge_absent, payment_absent] for name in every_bank}
    assert {name: each for name, each in kept.items() if each not in fits} == {}


@pytest.mark.parametrize("name", simulators.names())
async def test_a_payout_ends_paid_by_the_bank_s_answer(every_bank: EveryBank, name: str):
    """By key, and to an account where supported; executed once."""
    bank = every_bank[name]
    destinations = bank.capabilities.destinations if bank.capabilities.payouts else ()
    # Some refuse the same value to the same recipient for a while: none is asked for twice.
    changed = {
        PayoutMethod.PIX: {"value": 11.5},
        PayoutMethod.BANK_ACCOUNT: {"value": 12.5, "destination": BANK_PAYEE},
    }
    for method in destinations:
        wanted = order(
            uuid.uuid4().hex, bank.office.world.today(), method=method.value, **changed[method]
        )
        assert told(await bank.partner("POST", "/withdraw", wanted)) == OFFERED
        assert (await ended(bank, str(wanted["reference"])))["status"] == "paid"
    executed = (await bank.control.get("executions"))["data"]
    assert len({row["key"] for row in executed}) == len(executed)

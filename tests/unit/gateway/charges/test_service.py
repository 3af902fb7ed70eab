"""Making charges and cancelling them."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace

import pytest

from gateway.banks.port.charges import (
    Charge,
    ChargeOrder,
    Payer,
)
from gateway.banks.port.providers import (
    CHARGE_PAID,
    IN_USE,
    ProviderAccount,
    Refused,
    Unavailable,
    Unreachable,
)
from gateway.charges.service import ChargeReads, Charges
from gateway.core import errors
from gateway.core.catalogue import ErrorCode
from gateway.core.errors import ServiceError
from tests.unit.charge_book import ChargeBook, kept
from tests.unit.gateway.charges.orders import CHARGE, ORDER
from tests.unit.offering import Log, OfferingBank, staff
from tests.unit.refusals import refused
from tests.world.exports import exports
from tests.world.leaping import leaping
from tests.world.payouts import OneBank
from tests.world.people import account
from tests.world.standing import Clock
from tests.world.waiting import settle


def at(bank: OfferingBank, log: Log | None = None, **more: bool) -> Charges:
    reads = ChargeReads(OneBank(bank, **more), kept())  # type: ignore[arg-type]
    return Charges(reads, log or Log(), exports())  # type: ignore[arg-type]


async def test_a_created_charge_is_audited_without_its_reference():
    log, bank = Log(), OfferingBank(reads={"create_charge": CHARGE})

    assert await at(bank, log).create(staff(), account(), ORDER) == CHARGE

    assert log.actions == ["charge.create.ordered", "charge.create.done"]
    assert log.events[0].details["value"] == "10.50"
    assert "maria-1" not in str(log.events)


@dataclass
class SlowBank(OfferingBank):
    """Makes a charge when its gate opens; ``making`` is how many are made at once, at most."""

    opened: asyncio.Event = field(default_factory=asyncio.Event)
    now: list[str] = field(default_factory=list)
    making: int = 0

    async def create_charge(self, _account: ProviderAccount, order: ChargeOrder) -> Charge:
        self.now.append(order.reference)
        self.making = max(self.making, len(self.now))
        await self.opened.wait()
        self.now.remove(order.reference)
        return CHARGE


async def test_one_charge_per_reference_is_created_at_a_time_across_processes():
    """The bank is asked again once it can know the first; other references do not wait."""
    bank, book, clock = SlowBank(), ChargeBook(), Clock()
    one, other = (
        Charges(ChargeReads(OneBank(bank), kept(book, clock.now)), Log(), exports())  # type: ignore[arg-type]
        for _ in range(2)
    )
    first = asyncio.create_task(one.create(staff(), account(), ORDER))
    further = asyncio.create_task(
        one.create(staff(), account(), replace(ORDER, reference="maria-2"))
    )
    await settle()

    with refused(errors.ALREADY_IN_USE) as refusal:
        await other.create(staff(), account(), ORDER)
    bank.opened.set()
    await asyncio.gather(first, further)
    await other.create(staff(), account(), ORDER)

    assert "being made" in refusal.value.detail
    assert bank.making == 2


async def test_a_reference_is_held_for_30_s_after_an_unknown_outcome():
    """A bank that did not answer may still create it; any definite outcome releases it."""
    bank, book, clock = OfferingBank(), ChargeBook(), Clock()
    orders = Charges(ChargeReads(OneBank(bank), kept(book, clock.now)), Log(), exports())  # type: ignore[arg-type]
    wrong = []

    for problem, is_held in ((Unavailable("timeout"), True), (Unreachable("refused"), False)):
        bank.reads["create_charge"] = problem
        with pytest.raises(type(problem)):
            await orders.create(staff(), account(), ORDER)
        bank.reads["create_charge"] = CHARGE
        try:
            await orders.create(staff(), account(), ORDER)
            held = False
        except ServiceError:
            held = True
            clock.passes(30)
            await orders.create(staff(), account(), ORDER)
        if held != is_held:
            wrong.append(problem)

    assert not wrong


@leaping
async def test_a_slow_bank_is_not_waited_for_beyond_the_reference_hold():
    """Otherwise another process would create a second one while the first is under way."""
    with pytest.raises(Unavailable):
        await at(SlowBank()).create(staff(), account(), ORDER)


@pytest.mark.parametrize(
    ("call", "reason", "error"),
    [
        ("create_charge", IN_USE, errors.ALREADY_IN_USE),
        ("create_charge", "refused", errors.BANK_REFUSED),
        ("cancel_charge", CHARGE_PAID, errors.BANK_REFUSED),
    ],
)
async def test_a_refusal_of_the_bank_has_our_code(call: str, reason: str, error: ErrorCode):
    orders = at(OfferingBank(reads={call: Refused(reason)}))

    with refused(error):
        if call == "create_charge":
            await orders.create(staff(), account(), ORDER)
        else:
            await orders.cancel(staff(), account(), "maria-1")


async def test_charges_of_a_read_only_or_absent_bank_are_not_changed():
    log, bank = Log(), OfferingBank(reads={"create_charge": CHARGE, "cancel_charge": CHARGE})

    for orders, error in (
        (at(bank, log, read_only=True), errors.PROVIDER_READ_ONLY),
        (at(bank, log, is_there=False), errors.PROVIDER_NOT_CONFIGURED),
    ):
        with refused(error):
            await orders.create(staff(), account(), ORDER)
        with refused(error):
            await orders.cancel(staff(), account(), "x")

    assert (log.events, bank.asked) == ([], [])


@pytest.mark.parametrize(
    "change",
    [{"key": "12ABC34501DE35"}, {"payer": Payer(name="Ltda", tax_number="12ABC34501DE35")}],
    ids=["key", "payer"],
)
async def test_a_charge_with_a_cnpj_with_letters_is_refused_by_a_digits_only_bank(change):
    log, bank = Log(), OfferingBank()
    bank.capabilities = replace(bank.capabilities, alphanumeric_cnpj=False)

    with refused(errors.PAYLOAD_INVALID):
        await at(bank, log).create(staff(), account(), replace(ORDER, **change))

    assert log.events == []

"""Cases about charges, keys, payments received, blocks and addresses for callbacks."""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Awaitable, Sequence
from typing import Final

from gateway.domain.bank import answers
from gateway.domain.bank.capabilities import PortCall
from gateway.domain.bank.charges import ChargeOrder, ChargeStatus, ChargeType, Payer
from gateway.domain.bank.payout_orders import PayoutMethod, PixDestination
from gateway.domain.bank.pix_keys import PixKeyStatus
from gateway.domain.bank.provider_options import CHARGE_PAID, IN_USE
from gateway.domain.bank.providers import NotFound, NotSupported, ProviderError, Refused
from gateway.domain.bank.refunds import IncomingPayment
from gateway.domain.kernel.money import Money
from provider_adapters.testing.verify.cases import CaseFailed, case
from provider_adapters.testing.verify.stage import Charge, ChargePaid, NotApplicable, Received
from provider_adapters.testing.verify.suite.calls import (
    Ready,
    callback_order,
    new_reference,
    recent,
)
from provider_adapters.testing.verify.trial import Harness, Trial

_VALUE: Final = Money(10_50)
_ODD: Final = ("nowhere", "a?b=c", "..%2f", "\u00e9" * 30, "a#b", "a b", "a/b")
"""References as people make them: each is one step of a path, whatever is in it."""
_READS_CHARGES: Final = frozenset({PortCall.GET_CHARGE, PortCall.GET_CHARGE_PAYMENT})
_MAKES_CHARGES: Final = frozenset({PortCall.CREATE_CHARGE, PortCall.GET_CHARGE})
_MOST_PAGES: Final = 20


@case("calls.charge_states", needs={PortCall.GET_CHARGE})
async def charge_states(trial: Trial) -> None:
    """A charge is read in each of the states that are declared."""
    async with trial.harness() as harness:
        for status in sorted(trial.capabilities.charge_states):
            reference = await trial.stage.put(trial.account, Charge(value=_VALUE, status=status))
            found = await harness.adapter.get_charge(trial.account, reference)
            answers.charge(found, reference)
            trial.expect(found.status is status, f"{status.value} is read as {found!r}")
            trial.expect(found.value == _VALUE, f"{status.value}: the value is {found.value}")
            payload = found.emv.startswith("000201") or status is not ChargeStatus.ACTIVE
            trial.expect(payload, f"{status.value}: there is nothing to pay it by: {found!r}")


@case("calls.charge_unpaid", needs={PortCall.GET_CHARGE_PAYMENT})
async def charge_unpaid(trial: Trial) -> None:
    """A charge that nobody paid is a pending transaction of its value."""
    reference = await trial.stage.put(trial.account, Charge(value=_VALUE))
    async with trial.harness() as harness:
        found = await harness.adapter.get_charge_payment(trial.account, reference)
    answers.charge_payment(found, reference)
    told = (found.paid_at, found.e2e_id, found.value)
    trial.expect(told == (None, "", _VALUE), f"it is told as {found!r}")


@case("calls.charge_paid", needs=_READS_CHARGES)
async def charge_paid(trial: Trial) -> None:
    """A charge that was paid is a transaction, with the payment's end-to-end id."""
    reference = await trial.stage.put(trial.account, Charge(value=_VALUE))
    e2e_id = await trial.stage.put(trial.account, ChargePaid(reference=reference))
    async with trial.harness() as harness:
        found = await harness.adapter.get_charge_payment(trial.account, reference)
        charge = await harness.adapter.get_charge(trial.account, reference)
        if PortCall.CANCEL_CHARGE in trial.capabilities.calls:
            cancelling = harness.adapter.cancel_charge(trial.account, reference)
            refused = await trial.raised(Refused, cancelling, "cancelling a paid charge")
            right = refused.reason in {CHARGE_PAID, "refused"}
            trial.expect(right, f"the reason is {refused.reason!r}")
    answers.charge_payment(found, reference)
    trial.expect(found.paid_at is not None, f"it is told as {found!r}")
    trial.expect(found.value == _VALUE, f"the value is told as {found.value}")
    trial.expect(found.e2e_id == e2e_id, f"the end-to-end id is told as {found.e2e_id!r}")
    trial.expect(charge.status is ChargeStatus.PAID, f"the charge is told as {charge!r}")


@case("calls.charge_absent", needs={PortCall.GET_CHARGE})
async def charge_absent(trial: Trial) -> None:
    """A charge that is not there is NotFound, whatever its reference looks like."""
    async with trial.harness() as harness:
        for reference in _ODD:
            reading = harness.adapter.get_charge(trial.account, reference)
            await _absent(trial, reading, f"get_charge of {reference!r}")
            if PortCall.GET_CHARGE_PAYMENT in trial.capabilities.calls:
                paying = harness.adapter.get_charge_payment(trial.account, reference)
                await _absent(trial, paying, f"get_charge_payment of {reference!r}")
        if PortCall.CANCEL_CHARGE in trial.capabilities.calls:
            cancelling = harness.adapter.cancel_charge(trial.account, new_reference())
            await trial.raised(NotFound, cancelling, "cancelling what is not there")


async def _absent(trial: Trial, made: Awaitable[object], what: str) -> None:
    """Expect NotFound, or Refused for what the bank cannot be asked."""
    failure = await trial.raised(ProviderError, made, what)
    trial.expect(isinstance(failure, NotFound | Refused), f"{what} raised {failure!r}")


@case("calls.charge_made", needs=_MAKES_CHARGES)
async def charge_made(trial: Trial) -> None:
    """A charge is made as it was ordered, and is read as it was made."""
    plain = trial.stage.charge_order(trial.stage.own_key(trial.account))
    async with trial.harness() as harness:
        await _made(trial, harness, plain)
        for more in _variants(plain):
            try:
                await _made(trial, harness, more)
            except (NotSupported, Refused):  # no bank makes every kind
                trial.checks += 1


def _variants(plain: ChargeOrder) -> Sequence[ChargeOrder]:
    """Return orders that some banks take."""
    somebody = Payer(name="Maria Silva", tax_number="52998224725", message="oi")
    orders = (
        dataclasses.replace(plain, value=None),
        dataclasses.replace(plain, expires_in=3600),
        dataclasses.replace(plain, type=ChargeType.STATIC, reusable=True, description="balcao"),
        dataclasses.replace(plain, payer=somebody),
    )
    return tuple(dataclasses.replace(each, reference=new_reference()) for each in orders)


async def _made(trial: Trial, harness: Harness, order: ChargeOrder) -> None:
    made = answers.created_charge(await harness.adapter.create_charge(trial.account, order), order)
    found = await harness.adapter.get_charge(trial.account, order.reference)
    trial.expect(made.value == order.value, f"the value of {order!r} is {made.value}")
    trial.expect(made.status is ChargeStatus.ACTIVE, f"{order!r} was made as {made!r}")
    trial.expect(made.emv.startswith("000201"), f"{order!r} cannot be paid by {made.emv!r}")
    expires = made.expires_at is not None or order.expires_in is None
    trial.expect(expires, f"{order!r} never expires")
    same = (found.reference, found.value, found.emv) == (made.reference, made.value, made.emv)
    trial.expect(same, f"{made!r} is read as {found!r}")


@case("calls.charge_reference_in_use", needs=_MAKES_CHARGES)
async def charge_reference_in_use(trial: Trial) -> None:
    """A reference is used once: the second order is refused, or is the same charge."""
    order = trial.stage.charge_order(trial.stage.own_key(trial.account))
    async with trial.harness() as harness:
        first = await harness.adapter.create_charge(trial.account, order)
        try:
            second = await harness.adapter.create_charge(trial.account, order)
        except Refused as refused:
            trial.expect(refused.reason == IN_USE, f"the reason is {refused.reason!r}")
        else:
            trial.expect(second.emv == first.emv, "there are two charges of one reference")


@case("calls.charge_cancelled", needs=_MAKES_CHARGES | {PortCall.CANCEL_CHARGE})
async def charge_cancelled(trial: Trial) -> None:
    """A charge that was cancelled is told so, and can be cancelled again."""
    order = trial.stage.charge_order(trial.stage.own_key(trial.account))
    async with trial.harness() as harness:
        await harness.adapter.create_charge(trial.account, order)
        cancelled = await harness.adapter.cancel_charge(trial.account, order.reference)
        answers.charge(cancelled, order.reference)
        status = cancelled.status
        trial.expect(status is ChargeStatus.CANCELED, f"it is told as {cancelled!r}")
        try:
            again = await harness.adapter.cancel_charge(trial.account, order.reference)
        except (NotFound, Refused):
            return
        trial.expect(again.status is ChargeStatus.CANCELED, f"again it is told as {again!r}")


@case("calls.received", needs={PortCall.FIND_RECEIVED})
async def received(trial: Trial) -> None:
    """A payment that came in is found by its end-to-end id; no other is."""
    e2e_id = await trial.stage.put(trial.account, Received(value=_VALUE))
    other = await trial.stage.put(trial.stage.accounts[1], Received(value=_VALUE))
    async with trial.harness() as harness:
        found = await harness.adapter.find_received(trial.account, e2e_id)
        for absent in ("E" + "0" * 31, other):
            reading = harness.adapter.find_received(trial.account, absent)
            await trial.raised(NotFound, reading, f"the payment {absent}")
    answers.received(found, e2e_id)
    trial.expect(found.value == _VALUE, f"the value is told as {found.value}")
    trial.expect(not found.refunded.centavos, f"{found.refunded} of it were refunded")


@case("calls.received_pages", needs={PortCall.LIST_RECEIVED})
async def received_pages(trial: Trial) -> None:
    """What came in is listed page by page, each payment once, newest first."""
    put = [await trial.stage.put(trial.account, Received(value=_VALUE)) for _ in range(3)]
    async with trial.harness() as harness:
        found = await _walked(trial, harness, 1)
        whole = await _walked(trial, harness, 50)
    # A bank may know a payment by its id in small letters alone.
    ids = [each.e2e_id.upper() for each in found]
    trial.expect(len(ids) == len(set(ids)), f"a payment is listed twice: {ids}")
    missing = {each.upper() for each in put} - set(ids)
    trial.expect(not missing, f"of {put} are missing {missing}")
    same = ids == [each.e2e_id.upper() for each in whole]
    trial.expect(same, "pages of one are another list")
    times = [each.paid_at for each in found]
    trial.expect(times == sorted(times, reverse=True), "the newest is not the first")


async def _walked(trial: Trial, harness: Harness, limit: int) -> list[IncomingPayment]:
    cursor, found = None, list[IncomingPayment]()
    for _ in range(_MOST_PAGES):
        page = await harness.adapter.list_received(trial.account, recent(), cursor, limit)
        answers.received_page(page, cursor, limit)
        found.extend(page.items)
        cursor = page.next_cursor
        if cursor is None:
            return found
    message = f"{_MOST_PAGES} pages and no end"
    raise CaseFailed(message)


@case("calls.key_registered", needs={PortCall.CREATE_KEY, PortCall.CANCEL_KEY})
async def key_registered(trial: Trial) -> None:
    """A key is registered as ordered, is listed, and is given up."""
    order = trial.stage.new_key()
    async with trial.harness() as harness:
        made = answers.created_key(await harness.adapter.create_key(trial.account, order), order)
        if PortCall.LIST_KEYS in trial.capabilities.calls:
            listed = [each.key for each in await harness.adapter.list_keys(trial.account)]
            trial.expect(made.key in listed, f"{made.key!r} is not among {listed}")
        gone = answers.cancelled_key(await harness.adapter.cancel_key(trial.account, made), made)
    trial.expect(made.type is order.type, f"it was made as {made!r}")
    trial.expect(gone.status is PixKeyStatus.CANCELED, f"it is told as {gone!r}")


@case("calls.key_found", needs={PortCall.LIST_KEYS, PortCall.GET_KEY})
async def key_found(trial: Trial) -> None:
    """Each key of the account is found by its public id; another one is NotFound."""
    account = trial.account
    async with trial.harness() as harness:
        listed = answers.keys(await harness.adapter.list_keys(account))
        trial.expect(listed, "the account has no key")
        for key in listed:
            key_id = key.public_id(account.account_id)
            found = await harness.adapter.get_key(account, key_id)
            trial.expect(found == key, f"{key!r} is found as {found!r}")
        reading = harness.adapter.get_key(account, str(uuid.uuid4()))
        await trial.raised(NotFound, reading, "a key that is not there")


@case("calls.key_owner", needs={PortCall.LOOK_UP_KEY})
async def key_owner(trial: Trial) -> None:
    """The owner of a key is named; a person's tax number is not shown whole."""
    company = trial.stage.own_key(trial.stage.accounts[1])
    person = trial.stage.payee(PayoutMethod.PIX)
    if not isinstance(person, PixDestination):
        message = "the stage's payee has no key"
        raise NotApplicable(message)
    async with trial.harness() as harness:
        for key in (company, person.key):
            owner = await harness.adapter.look_up_key(trial.account, key)
            answers.key_owner(owner, key)
            trial.expect(owner.name, f"nobody is named: {owner!r}")
    hidden = person.tax_number not in owner.tax_number
    trial.expect(hidden, "a person's tax number is shown whole")


@case("calls.blocks", needs={PortCall.LIST_BLOCKS, PortCall.GET_BALANCE})
async def blocked(trial: Trial) -> None:
    """All blocks together are what the balance calls blocked."""
    async with trial.harness() as harness:
        blocks = answers.blocks(await harness.adapter.list_blocks(trial.account))
        balance = answers.balance(await harness.adapter.get_balance(trial.account))
    total = sum(each.value.centavos for each in blocks)
    known = balance.blocked.centavos if balance.blocked is not None else None
    trial.expect(total == known, f"the blocks are {total} and the balance says {known}")


@case("calls.callback_address", needs={PortCall.REGISTER_CALLBACK, PortCall.LIST_CALLBACKS})
async def callback_address(trial: Trial) -> None:
    """An address is registered, listed, and removed."""
    async with trial.harness() as harness:
        order = callback_order(Ready(trial, harness.adapter))
        made = await harness.adapter.register_callback(trial.account, order)
        listed = await _addresses(trial, harness, order.url)
        trial.expect(made.url == order.url, f"{order.url} was registered as {made.url}")
        trial.expect(listed, f"{order.url} is not listed")
        if PortCall.REMOVE_CALLBACK in trial.capabilities.calls:
            await harness.adapter.remove_callback(trial.account, made.id)
            left = await _addresses(trial, harness, order.url)
            trial.expect(not left, f"of {order.url} is left {left}")


async def _addresses(trial: Trial, harness: Harness, url: str) -> list[str]:
    """Return what the bank has of an address of ours; some add a step or a parameter to it."""
    listed = await harness.adapter.list_callbacks(trial.account)
    return [each.url for each in listed if each.url.startswith(url)]

"""What banks offer beyond the nine calls, against one that keeps a ledger."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from gateway.banks.port.capabilities import OPTIONAL_CALLS, PortCall
from gateway.banks.port.charges import ChargeOrder, ChargeStatus, ChargeType, Payer
from gateway.banks.port.payout_orders import FailureCode
from gateway.banks.port.pix_keys import KeyOrder, PixKeyStatus, PixKeyType
from gateway.banks.port.provider_options import (
    ABOVE_PAYMENT,
    CHARGE_PAID,
    IN_USE,
    BlockCalls,
    CallbackCalls,
    ChargeCalls,
    IncomingCalls,
    KeyCalls,
    RefundCalls,
)
from gateway.banks.port.providers import (
    Accepted,
    NotFound,
    NotSent,
    Refused,
    Rejected,
    Settled,
    Unknown,
)
from gateway.banks.port.refunds import IncomingStatus, RefundStatus
from gateway.banks.port.statements import BlockKind, Direction, MovementKind
from gateway.core.money import Money, Sum
from provider_adapters.kit.answers import is_e2e_id
from tests.contract.adapters.calls import around_today
from tests.contract.adapters.options import (
    REFUND_KEY,
    Offering,
    charge_order,
    refund_order,
    refunded,
)
from tests.world.banks.harness import FAR, KEY, PASSED, order
from tests.world.banks.sandbox import BankWorld, Paid
from tests.world.waiting import until

PORTS = {
    KeyCalls: {PortCall.CREATE_KEY, PortCall.CANCEL_KEY, PortCall.LOOK_UP_KEY},
    ChargeCalls: {PortCall.CREATE_CHARGE, PortCall.CANCEL_CHARGE},
    IncomingCalls: {PortCall.FIND_RECEIVED, PortCall.LIST_RECEIVED},
    BlockCalls: {PortCall.LIST_BLOCKS},
    CallbackCalls: {
        PortCall.REGISTER_CALLBACK,
        PortCall.LIST_CALLBACKS,
        PortCall.REMOVE_CALLBACK,
        PortCall.LIST_MISSED_EVENTS,
        PortCall.ACKNOWLEDGE_EVENTS,
    },
    RefundCalls: {PortCall.CREATE_REFUND, PortCall.FIND_REFUND, PortCall.LIST_REFUNDS},
}


async def until_settled(adapter: Offering, bank_world: BankWorld, key: str = REFUND_KEY):
    found = []

    async def settled() -> bool:
        found.append(await adapter.find_refund(bank_world.account, key))
        return found[-1].status is not RefundStatus.PROCESSING

    await until(settled)
    return found[-1]


def test_what_is_declared_is_there(adapter: Offering):
    """And nothing else is: an undeclared call would never be made."""
    declared = adapter.capabilities.operations

    for port, options in PORTS.items():
        assert all(callable(getattr(adapter, option)) for option in declared & options), port
    assert declared <= {option.value for options in PORTS.values() for option in options}


def test_every_option_belongs_to_a_port():
    assert set().union(*PORTS.values()) == OPTIONAL_CALLS


async def test_a_key_is_registered_and_given_up(adapter: Offering, bank_world: BankWorld):
    made = await adapter.create_key(
        bank_world.account, KeyOrder(PixKeyType.EMAIL, "nova@example.com")
    )

    canceled = await adapter.cancel_key(bank_world.account, made)
    again = await adapter.cancel_key(bank_world.account, made)

    assert (made.type, made.key, made.status) == (
        PixKeyType.EMAIL,
        "nova@example.com",
        PixKeyStatus.ACTIVE,
    )
    assert canceled == again
    assert canceled.status is PixKeyStatus.CANCELED
    assert made.public_id(bank_world.account.account_id) == canceled.public_id(
        bank_world.account.account_id
    )


async def test_a_random_key_is_drawn_by_the_bank(adapter: Offering, bank_world: BankWorld):
    made = await adapter.create_key(bank_world.account, KeyOrder(PixKeyType.EVP, ""))

    assert (made.type, len(made.key)) == (PixKeyType.EVP, 36)
    assert made in await adapter.list_keys(bank_world.account)


async def test_a_key_in_use_is_refused_as_such(adapter: Offering, bank_world: BankWorld):
    with pytest.raises(Refused) as refused:
        await adapter.create_key(bank_world.account, KeyOrder(PixKeyType.EMAIL, "loja@example.com"))

    assert refused.value.reason == IN_USE


async def test_the_owner_of_a_key_is_shown_without_the_tax_number(
    adapter: Offering, bank_world: BankWorld
):
    """A person's, that is: a company's is public."""
    other = await adapter.look_up_key(bank_world.account, "maria@example.com")
    own = await adapter.look_up_key(bank_world.account, "loja@example.com")

    assert (other.type, other.tax_number) == (PixKeyType.EMAIL, "***.982.247-**")
    assert all((other.name, other.bank_name, other.bank_number, other.ispb, other.branch))
    assert (own.name, own.tax_number) == ("Loja Exemplo", "11222333000181")


async def test_nobody_behind_a_key_is_not_found(adapter: Offering, bank_world: BankWorld):
    with pytest.raises(NotFound):
        await adapter.look_up_key(bank_world.account, "notfound@example.com")


@pytest.mark.parametrize(
    "order",
    [
        charge_order(),
        charge_order(value=None),
        charge_order(expires_in=60),
        charge_order(type=ChargeType.STATIC, reusable=True, description="balcão"),
        charge_order(payer=Payer(name="Maria Silva", tax_number="52998224725", message="oi")),
    ],
    ids=["plain", "open amount", "expiring", "static", "for somebody"],
)
async def test_a_charge_is_made_as_ordered(
    adapter: Offering, bank_world: BankWorld, order: ChargeOrder
):
    made = await adapter.create_charge(bank_world.account, order)

    assert (made.reference, made.type, made.key, made.value, made.reusable, made.payer) == (
        order.reference,
        order.type,
        order.key,
        order.value,
        order.reusable,
        order.payer,
    )
    assert made.status is ChargeStatus.ACTIVE
    assert made.emv.startswith("000201")
    assert (made.expires_at is None) is (order.expires_in is None)
    assert await adapter.get_charge(bank_world.account, order.reference) == made


async def test_a_made_charge_can_be_paid_and_then_not_cancelled(
    adapter: Offering, bank_world: BankWorld
):
    await adapter.create_charge(bank_world.account, charge_order())
    await bank_world.tell("/charges/order%2F1042/pay", {})

    with pytest.raises(Refused) as refused:
        await adapter.cancel_charge(bank_world.account, "order/1042")

    payment = await adapter.get_charge_payment(bank_world.account, "order/1042")
    assert (payment.value, payment.paid_at is None) == (Money(1050), False)
    assert refused.value.reason == CHARGE_PAID


async def test_a_cancelled_charge_cannot_be_paid(adapter: Offering, bank_world: BankWorld):
    canceled = await adapter.cancel_charge(bank_world.account, "pending/1")
    again = await adapter.cancel_charge(bank_world.account, "pending/1")

    assert canceled == again
    assert canceled.status is ChargeStatus.CANCELED
    with pytest.raises(AssertionError, match="CHARGE_CANCELED"):
        await bank_world.tell("/charges/pending%2F1/pay", {})


async def test_a_charge_s_reference_is_used_once(adapter: Offering, bank_world: BankWorld):
    with pytest.raises(Refused) as refused:
        await adapter.create_charge(bank_world.account, charge_order(reference="pending/1"))

    assert refused.value.reason == IN_USE


async def test_a_charge_on_somebody_else_s_key_is_refused(adapter: Offering, bank_world: BankWorld):
    with pytest.raises(Refused):
        await adapter.create_charge(bank_world.account, charge_order(key="maria@example.com"))


async def test_an_absent_charge_cannot_be_cancelled(adapter: Offering, bank_world: BankWorld):
    with pytest.raises(NotFound):
        await adapter.cancel_charge(bank_world.account, "nowhere")


async def test_what_came_in_is_listed_page_by_page(
    adapter: Offering, bank_world: BankWorld, paid: Paid
):
    whole = await adapter.list_received(bank_world.account, around_today(), None, 100)
    first = await adapter.list_received(bank_world.account, around_today(), None, 1)
    rest = await adapter.list_received(bank_world.account, around_today(), first.next_cursor, 99)

    assert [*first.items, *rest.items] == list(whole.items)
    newest = whole.items[0]
    assert (newest.reference, newest.e2e_id, newest.value) == (
        "pending/1",
        paid.e2e_id,
        Money(1050),
    )
    assert (newest.status, newest.payer is None) == (IncomingStatus.PAID, False)
    assert "" in {each.reference for each in whole.items}


async def test_one_payment_is_found_by_its_end_to_end_id(
    adapter: Offering, bank_world: BankWorld, paid: Paid
):
    found = await adapter.find_received(bank_world.account, paid.e2e_id)

    assert (found.e2e_id, found.reference) == (paid.e2e_id, "pending/1")
    with pytest.raises(NotFound):
        await adapter.find_received(bank_world.account, "E" + "0" * 31)


async def test_a_refund_moves_money_and_shows_in_the_statement(
    adapter: Offering, bank_world: BankWorld, paid: Paid
):
    before = await adapter.get_balance(bank_world.account)

    ordered = await adapter.create_refund(bank_world.account, refund_order(paid), FAR)
    held = await adapter.get_balance(bank_world.account)
    refund = await until_settled(adapter, bank_world)

    after = await adapter.get_balance(bank_world.account)
    newest = (await adapter.list_statement(bank_world.account, around_today(), None, 1)).items[0]
    payment = await adapter.find_received(bank_world.account, paid.e2e_id)
    assert isinstance(ordered, Accepted | Settled)
    assert ordered.e2e_id.startswith("D")
    assert is_e2e_id(ordered.e2e_id)
    assert held.balance.centavos - held.blocked.centavos == before.balance.centavos - 1050
    assert after.balance.centavos == before.balance.centavos - 1050
    assert (refund.status, refund.value, refund.reference, refund.payment_reference) == (
        RefundStatus.PAID,
        Money(1050),
        "refund/1",
        "pending/1",
    )
    assert refund.return_id == ordered.e2e_id
    assert (newest.direction, newest.is_pix, newest.kind, newest.e2e_id) == (
        Direction.DEBIT,
        True,
        MovementKind.PIX_RETURN,
        ordered.e2e_id,
    )
    assert payment.status is IncomingStatus.REFUNDED
    assert await refunded(bank_world) == [1050]


async def test_the_same_key_gives_back_once(adapter: Offering, bank_world: BankWorld, paid: Paid):
    first = await adapter.create_refund(bank_world.account, refund_order(paid, 400), FAR)
    second = await adapter.create_refund(bank_world.account, refund_order(paid, 400), FAR)

    assert isinstance(first, Accepted | Settled)
    assert isinstance(second, Accepted | Settled)
    assert first.provider_id == second.provider_id
    assert await refunded(bank_world) == [400]


async def test_a_key_of_another_refund_is_refused_as_such(
    adapter: Offering, bank_world: BankWorld, paid: Paid
):
    await adapter.create_refund(bank_world.account, refund_order(paid, 400), FAR)

    other = await adapter.create_refund(bank_world.account, refund_order(paid, 500), FAR)

    assert isinstance(other, Rejected)
    assert other.evidence.reason == IN_USE
    assert await refunded(bank_world) == [400]


async def test_no_more_is_given_back_than_came_in(
    adapter: Offering, bank_world: BankWorld, paid: Paid
):
    await adapter.create_refund(bank_world.account, refund_order(paid, 1000), FAR)

    other = await adapter.create_refund(bank_world.account, refund_order(paid, 51, KEY), FAR)
    last = await adapter.create_refund(bank_world.account, refund_order(paid, 50, KEY), FAR)

    assert isinstance(other, Rejected)
    assert other.evidence.reason == ABOVE_PAYMENT
    assert isinstance(last, Accepted | Settled)
    assert [await refunded(bank_world), await refunded(bank_world, KEY)] == [[1000], [50]]


async def test_after_the_deadline_nothing_is_given_back(
    adapter: Offering, bank_world: BankWorld, paid: Paid
):
    outcome = await adapter.create_refund(bank_world.account, refund_order(paid), PASSED)

    assert isinstance(outcome, NotSent)
    assert await refunded(bank_world) == []


async def test_an_absent_payment_is_no_proof(adapter: Offering, bank_world: BankWorld):
    """A 404 may come from anywhere, after the refund too: who asks has looked before."""
    nowhere = refund_order(Paid("", "E" + "0" * 31))

    outcome = await adapter.create_refund(bank_world.account, nowhere, FAR)

    assert isinstance(outcome, Unknown)
    with pytest.raises(NotFound):
        await adapter.find_refund(bank_world.account, REFUND_KEY)


async def test_a_refund_that_fails_gives_nothing_back(adapter: Offering, bank_world: BankWorld):
    """R$ 777.02, the bank's magic amount."""
    said = await bank_world.tell(
        f"/accounts/{bank_world.account.provider_account}/incoming", {"value": 1000.00}
    )
    large = Paid("", said["e2e_id"])
    before = await adapter.get_balance(bank_world.account)

    await adapter.create_refund(bank_world.account, refund_order(large, 777_02), FAR)
    refund = await until_settled(adapter, bank_world)

    assert (refund.status, refund.failure) == (RefundStatus.FAILED, FailureCode.REJECTED)
    assert (await adapter.get_balance(bank_world.account)).balance == before.balance
    assert await refunded(bank_world) == []


async def test_refunds_are_listed_newest_first(
    adapter: Offering, bank_world: BankWorld, paid: Paid
):
    for key, centavos in ((REFUND_KEY, 100), (KEY, 200)):
        await adapter.create_refund(bank_world.account, refund_order(paid, centavos, key), FAR)

    first = await adapter.list_refunds(bank_world.account, around_today(), None, 1)
    rest = await adapter.list_refunds(bank_world.account, around_today(), first.next_cursor, 99)

    listed = [*first.items, *rest.items]
    assert [each.value.centavos for each in listed] == [200, 100]
    assert [each.provider_key for each in listed] == [KEY, REFUND_KEY]
    assert {each.payment_e2e_id for each in listed} == {paid.e2e_id}
    assert all(each.created_at.tzinfo is UTC for each in listed)
    assert datetime.now(UTC) >= listed[0].created_at


async def test_movements_that_are_not_pix_have_their_kind(adapter: Offering, bank_world: BankWorld):
    for kind in ("ted_in", "ted_out", "boleto_in", "boleto_out", "fee"):
        await bank_world.tell(
            f"/accounts/{bank_world.account.provider_account}/movements",
            {"kind": kind, "value": 1.00},
        )

    page = await adapter.list_statement(bank_world.account, around_today(), None, 5)

    assert [(each.kind, each.direction, each.is_pix) for each in page.items] == [
        (MovementKind.FEE, Direction.DEBIT, False),
        (MovementKind.BOLETO, Direction.DEBIT, False),
        (MovementKind.BOLETO, Direction.CREDIT, False),
        (MovementKind.TED, Direction.DEBIT, False),
        (MovementKind.TED, Direction.CREDIT, False),
    ]


@pytest.mark.parametrize("kind", list(BlockKind))
async def test_a_block_has_its_kind_amount_beginning_and_reference(
    adapter: Offering, bank_world: BankWorld, kind: BlockKind
):
    where = f"/accounts/{bank_world.account.provider_account}/block"
    before = datetime.now(UTC)
    await bank_world.tell(where, {"value": 10.50, "kind": kind.value, "reference": "0001-22"})

    [block] = await adapter.list_blocks(bank_world.account)

    assert (block.kind, block.value, block.reference) == (kind, Money(1050), "0001-22")
    assert block.since is not None
    assert abs((block.since - before).total_seconds()) < 300


async def test_all_blocks_together_are_what_the_balance_calls_blocked(
    adapter: Offering, bank_world: BankWorld
):
    """A payout that the bank holds is among them."""
    where = f"/accounts/{bank_world.account.provider_account}/block"
    for kind in BlockKind:
        await bank_world.tell(where, {"value": 1.25, "kind": kind.value})
    await adapter.create_payout(bank_world.account, order(77_701), FAR)

    blocks = await adapter.list_blocks(bank_world.account)
    balance = await adapter.get_balance(bank_world.account)

    assert sum(each.value.centavos for each in blocks) == 4 * 125 + 77_701
    assert balance.blocked == Sum(4 * 125 + 77_701)

"""The rows of payouts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gateway.domain.bank.payout_orders import PayoutMethod
from gateway.domain.bank.providers import PixReturn
from gateway.domain.kernel import errors
from gateway.domain.kernel.money import Money
from gateway.domain.kernel.storage import StoreUnavailable
from gateway.domain.payouts.payouts import PayoutRequest, PayoutState
from gateway.http.backoffice.money.payouts import ordered_payout, withdraw_acting_rows
from gateway.http.backoffice.money.payouts import payout as shown_payout
from gateway.http.rendering import dumps
from gateway.http.resources import represent as resources
from gateway.http.route import Answer
from gateway.operations.payouts.records import PayoutWithReturns
from tests.unit.gateway.http.backoffice.ordering import WAITING, Only, Says
from tests.unit.gateway.http.backoffice.surface import (
    MARIA,
    OFFICE,
    ROWS,
    becomes,
    gate_of,
    line,
)
from tests.unit.offering import refund
from tests.world.people import posted
from tests.world.standing import NOON
from tests.world.stores.samples import payout

PIX = {"tax_number": "52998224725", "key_type": "email", "key": "maria@example.com"}
BANK = {
    "tax_number": "52998224725",
    "bank_number": "341",
    "branch": "0001",
    "account": "123456-7",
}
BODY = {"reference": "order-1", "value": 10.5, "date": "2026-11-20"}
NAMES = ["withdraw", "withdraws", "withdraw_bank", "withdraw_pix", "withdraw_cancel"]


@pytest.mark.parametrize(
    ("name", "declared"),
    [
        ("withdraw", ("GET", "/withdraw/{reference}", "payout:read", 200)),
        ("withdraws", ("POST", "/withdraws/search", "payout:read", 200)),
        ("withdraw_bank", ("POST", "/withdraw/bank-account", "payout:write", 200)),
        ("withdraw_pix", ("POST", "/withdraw/pix", "payout:write", 200)),
        ("withdraw_cancel", ("DELETE", "/withdraw/{reference}", "payout:write", 200)),
    ],
)
def test_the_rows_are_those_decided(name: str, declared: tuple[str, str, str, int]):
    assert line(name) == declared


def test_only_what_acts_asks_for_an_account_that_may_bank():
    asked = ["AccountState" in gate_of(name) for name in NAMES]

    assert asked == [False, False, True, True, True]


@pytest.mark.parametrize("name", NAMES)
def test_a_store_that_is_away_is_our_failure(name: str):
    assert becomes(name, StoreUnavailable()) == "store_unavailable"


def test_cancelling_is_refused_whatever_is_asked():
    assert ROWS["backoffice.withdraw_cancel"].raises == (errors.CANCEL_NOT_IMPLEMENTED,)


async def orders(says: Says, method: PayoutMethod) -> Answer[object]:
    """Order a payout of a method."""
    bank, pix, _ = withdraw_acting_rows(Only(says))  # type: ignore[arg-type]
    by_bank = method is PayoutMethod.BANK_ACCOUNT
    row, payee = (bank, BANK) if by_bank else (pix, PIX)
    shown = await row.serve(OFFICE, posted({**BODY, "destination": payee}))
    assert isinstance(shown, Answer)
    return shown


@pytest.mark.parametrize("method", PayoutMethod)
async def test_the_path_names_the_method(method: PayoutMethod):
    """Ordered by the person, on the account."""
    says = Says(payout())

    shown = await orders(says, method)

    ((person, where, request),) = says.asked
    assert isinstance(request, PayoutRequest)
    assert (person, where, request.method) == (MARIA, OFFICE.account, method)
    assert (shown.status, shown.content["status"]) == (None, "processing")  # type: ignore[index]


async def test_a_payout_that_waits_is_answered_by_202():
    shown = await orders(Says(WAITING), PayoutMethod.PIX)

    assert (shown.status, shown.content["status"]) == (202, "waiting")  # type: ignore[index]


async def test_what_is_no_payout_is_a_mistake_of_ours():
    with pytest.raises(TypeError):
        await orders(Says(refund()), PayoutMethod.PIX)


def test_an_order_is_answered_by_the_payout_or_that_it_waits():
    done, waits = ordered_payout(payout(), OFFICE), ordered_payout(WAITING, OFFICE)

    assert (done.status, done.content["reference"]) == (None, payout().reference)
    assert (waits.status, waits.content["status"]) == (202, "waiting")


RETURN = PixReturn(id="D9999999920261122134011ABCDEFGHI", value=Money(400), at=NOON)


@pytest.mark.parametrize(
    ("state", "told"),
    [
        (PayoutState.ACCEPTED, "2026-11-20T12:00:00Z"),
        (PayoutState.PAID, ""),
        (PayoutState.FAILED, ""),
    ],
)
def test_users_are_told_until_when_the_bank_holds_a_payout(state: PayoutState, told: str):
    found = replace(payout(), state=state, held_until=NOON)

    shown = shown_payout(PayoutWithReturns(found, ()), OFFICE)

    assert (shown["held_until"], shown["returns"]) == (told, [])


def test_what_came_back_stands_beside_a_payout_that_stays_paid():
    found = replace(payout(), state=PayoutState.PAID)

    shown = shown_payout(PayoutWithReturns(found, [RETURN]), OFFICE)

    assert shown["status"] == "paid"
    assert dumps(shown["returns"]) == (
        b'[{"id":"D9999999920261122134011ABCDEFGHI","value":4.00,"at":"2026-11-20T12:00:00Z"}]'
    )


def test_partners_are_shown_neither():
    """Contract 2.6 lists the fields of a payout."""
    found = replace(payout(), state=PayoutState.ACCEPTED, held_until=NOON)

    shown = resources.payout(found, OFFICE)

    assert shown["status"] == "processing"
    assert not {"held_until", "returns"} & shown.keys()

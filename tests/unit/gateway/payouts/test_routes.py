"""The rows of payouts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gateway.banks.port.payout_orders import PayoutMethod
from gateway.core.permissions import client_of
from gateway.core.rights import Role
from gateway.http.route import Answer, Document
from gateway.payouts.holds import HoldDecisions
from gateway.payouts.model import Payout, PayoutRequest
from gateway.payouts.recipients import PaidRecipients
from gateway.payouts.routes import routes
from gateway.payouts.staff import PayoutActs, PayoutRecords
from tests.unit.gateway.http.ordering import Says
from tests.unit.gateway.http.surface import OFFICE, gate_of
from tests.world.people import posted, somebody
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
NAMES = [
    *("withdraw", "withdraws", "withdraw_dossier", "withdraw_probe"),
    *("withdraw_release", "withdraw_refuse"),
    *("withdraw_bank", "withdraw_pix", "withdraw_cancel"),
]


def test_only_changing_routes_require_an_active_account():
    asked = ["AccountState" in gate_of(name) for name in NAMES]

    assert asked == [False, False, False, False, False, False, True, True, True]


PAYER = replace(
    OFFICE,
    staff=replace(OFFICE.staff, person=somebody(Role.OPERATOR, has_factor=True, factor_at=NOON)),
)


async def orders(says: Says, method: PayoutMethod) -> Document | Answer[Any]:
    """Order a payout of a method."""
    others: Any = dict.fromkeys(("owners", "follow_up", "probes"))
    acts = PayoutActs(pay=says.order, payouts=Known(), **others)  # type: ignore[arg-type]
    records: Any = PayoutRecords
    holds: Any = HoldDecisions
    recipients: Any = PaidRecipients
    by_bank = method is PayoutMethod.BANK_ACCOUNT
    name, payee = ("withdraw_bank", BANK) if by_bank else ("withdraw_pix", PIX)
    rows = {row.name: row for row in routes(records, acts, holds, recipients).active}
    return await rows[f"backoffice.{name}"].serve(PAYER, posted({**BODY, "destination": payee}))


class Known:
    """Knows each reference already, as an order of the same person: nothing is looked up."""

    async def find(self, _account_id: str, _reference: str) -> Payout:
        return replace(payout(), client_id=client_of(somebody().user_id))


@pytest.mark.parametrize("method", PayoutMethod)
async def test_the_path_determines_the_method(method: PayoutMethod):
    """Ordered by the user, on the account."""
    says = Says(payout())

    shown = await orders(says, method)

    ((person, where, request),) = says.asked
    assert isinstance(request, PayoutRequest)
    assert (person, where, request.method) == (PAYER.staff.person, PAYER.account, method)
    assert shown["status"] == "processing"  # type: ignore[index]

"""The back office's operations put together."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from gateway.app.office import BackOfficeStored, backoffice_operations, backoffice_questions
from gateway.config.settings import Settings, Validation
from gateway.domain.accounts.accounts import Account
from gateway.domain.requests.calls import RawRequest
from tests.unit.people import ACCOUNT, account, call, somebody
from tests.unit.standing import Clock


class Named:
    """Stands for every part, and for the parts of it."""

    def __getattr__(self, _name: str) -> Named:
        return self


class Register:
    """Accounts of which one changes."""

    def __init__(self) -> None:
        self.found = account()

    async def find(self, _account_id: str) -> Account:
        return self.found


def stored(accounts: object = None) -> BackOfficeStored:
    parts: Any = Named()
    return BackOfficeStored(
        accounts=accounts or parts,  # type: ignore[arg-type]
        companies=parts,
        audit=parts,
        approvals=parts,
        seal=lambda _text, _row: b"",
        open=lambda _sealed, _row: "",
    )


async def test_an_account_is_read_from_the_store_each_time():
    """What an operator changed is seen by the next call, not when a cache forgets."""
    register = Register()
    parts: Any = Named()
    questions = backoffice_questions(Settings(), stored(register), parts, Clock().now)
    first, second = (
        call(RawRequest(path={"account_id": ACCOUNT}), person=somebody()) for _ in range(2)
    )

    await questions.account(first)
    register.found = account(active=False)
    await questions.account(second)

    assert (first.account, second.account) == (account(), account(active=False))


def test_what_partners_have_is_used_and_not_made_again():
    """The same stops, the same follow-up, the same guards."""
    does: Any = Named()

    made = backoffice_operations(Settings(), stored(), does, Clock().now, does)

    assert made.payouts is does.payouts
    assert made.approvals.money.payouts is does.payouts
    assert made.approvals.money.refunds is made.refunds
    assert made.refunds.terms.stops is does.payouts.guards.stops


@pytest.mark.parametrize("switched", [False, True])
def test_the_cnpj_with_letters_is_a_setting(switched: bool):
    validation = Validation(alphanumeric_cnpj=switched)
    settings = msgspec.structs.replace(Settings(), validation=validation)
    does: Any = Named()

    made = backoffice_operations(settings, stored(), does, Clock().now, does)

    assert made.alphanumeric_cnpj is switched

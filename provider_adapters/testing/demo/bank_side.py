"""The demo at the sandbox bank: accounts, keys, charges and a history."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from gateway.domain.accounts.accounts import BankCoordinates, Environment
from gateway.domain.bank.pix_keys import PixKey
from gateway.domain.bank.refunds import RefundOrder, refund_key
from gateway.domain.kernel.clocks import Now
from gateway.domain.kernel.money import Money
from provider_adapters.testing.demo import contents
from provider_adapters.testing.demo.contents import (
    DemoAccount,
    DemoCharge,
    DemoCompany,
    DemoIncome,
    DemoMovement,
)
from provider_adapters.testing.demo.document import Demo


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountOpening:
    """An account to be opened at the bank; ``token`` is what its customer will show."""

    id: str
    token: str = field(repr=False)
    name: str
    tax_number: str
    coordinates: BankCoordinates
    city: str
    zip_code: str
    opening: Money


class DemoBank(Protocol):
    """
    What the demo asks of a bank that can be told what happened.

    A thing that exists already is left as it is, so that all of this may be repeated.
    """

    async def open_account(self, account: AccountOpening) -> None:
        """Open an account."""
        ...

    async def add_key(self, account_id: str, key: PixKey) -> None:
        """Register a key under the id it brings along."""
        ...

    async def add_charge(self, account_id: str, reference: str, charge: DemoCharge) -> bool:
        """Make a charge in the state wanted; False when its reference exists."""
        ...

    async def receive(self, account_id: str, income: DemoIncome, at: datetime) -> str:
        """Let money come in at an instant of the past; not safe to repeat. Its end-to-end id."""
        ...

    async def book(self, account_id: str, movement: DemoMovement, at: datetime) -> None:
        """Book a movement that is not Pix at an instant of the past; not safe to repeat."""
        ...

    async def give_back(self, account_id: str, order: RefundOrder) -> None:
        """Give money back, as its owner would."""
        ...

    async def take_fee(self, account_id: str, value: Money) -> None:
        """Book a fee of now; not safe to repeat."""
        ...


def token(account_id: str) -> str:
    """
    Return the token of a demo account at the bank.

    Derived, so that a lost store or a lost bank can be made again to fit the
    other. It protects nothing: who reaches the sandbox bank reaches its
    control interface too, which asks for no credential.
    """
    return f"tok_{hashlib.sha256(f'demo {account_id}'.encode()).hexdigest()[:40]}"


async def ensure(bank: DemoBank, demo: Demo, now: Now) -> None:
    """Make what the bank lacks of the demo; safe to repeat."""
    companies = {company.role: company for company in contents.COMPANIES}
    for account in contents.ACCOUNTS:
        if account.provider:
            opening = _opening(account, companies[account.company], demo)
            await bank.open_account(opening)
    for role in demo["pix_keys"]:
        account_id = demo["accounts"][role]["id"]
        for key in contents.pix_keys(account_id):
            await bank.add_key(account_id, key)
    for charge in contents.CHARGES:
        account_id = demo["accounts"][charge.account]["id"]
        made = await bank.add_charge(account_id, demo["charges"][charge.role], charge)
        if made and charge.reusable:
            # Money that came in cannot be made twice by accident: the charge says it is there.
            await _history(bank, account_id, now)


async def _history(bank: DemoBank, account_id: str, now: Now) -> None:
    """Let the account have been used for some days."""
    payments = [
        await bank.receive(account_id, income, now() - income.ago) for income in contents.HISTORY
    ]
    for movement in contents.MOVEMENTS:
        await bank.book(account_id, movement, now() - movement.ago)
    await bank.take_fee(account_id, contents.FEE)
    await bank.give_back(account_id, _refund(account_id, payments))


def _refund(account_id: str, payments: Sequence[str]) -> RefundOrder:
    """Order the refund under the key that the gateway finds it by."""
    reference = contents.refund_reference(account_id)
    return RefundOrder(
        provider_key=refund_key(Environment.SANDBOX, account_id, reference),
        reference=reference,
        payment_e2e_id=payments[contents.REFUND.income],
        value=contents.REFUND.value,
        description=contents.REFUND.description,
    )


def _opening(account: DemoAccount, company: DemoCompany, demo: Demo) -> AccountOpening:
    account_id = demo["accounts"][account.role]["id"]
    return AccountOpening(
        id=account_id,
        token=token(account_id),
        name=company.name,
        tax_number=company.tax_number,
        coordinates=contents.coordinates(account_id),
        city=contents.CITY,
        zip_code=contents.ZIP_CODE,
        opening=account.opening,
    )

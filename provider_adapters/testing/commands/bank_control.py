"""The control interface of the sandbox bank, and the demo's part of it."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import datetime

from gateway.domain.bank.pix_keys import PixKey
from gateway.domain.bank.refunds import RefundOrder
from gateway.domain.kernel.money import Money
from gateway.operations.kernel.audit_context import RuleViolation
from provider_adapters.testing.bank.control.client import BankControl, ControlRefused
from provider_adapters.testing.demo.bank_side import AccountOpening
from provider_adapters.testing.demo.contents import DemoCharge, DemoIncome, DemoMovement

_EXISTS = frozenset({"KEY_IN_USE", "REFERENCE_IN_USE"})
_ABSENT = 404


@asynccontextmanager
async def controlling(url: str) -> AsyncIterator[BankControl]:
    """
    Open the control interface.

    Raises:
        RuleViolation: for whatever the bank refuses inside, or when it does not run.
    """
    try:
        async with BankControl(url) as control:
            yield control
    except ControlRefused as problem:
        raise RuleViolation(str(problem)) from problem


@dataclasses.dataclass(frozen=True, slots=True)
class ControlledBank:
    """``DemoBank`` over the control interface; what exists already is left alone."""

    control: BankControl

    async def open_account(self, account: AccountOpening) -> None:
        """Open an account, unless the bank has one of that id."""
        if await self._has_account(account.id):
            return
        body: dict[str, object] = {
            "id": account.id,
            "token": account.token,
            "name": account.name,
            "tax_number": account.tax_number,
            "branch": account.coordinates.branch,
            "account": account.coordinates.account,
            "city": account.city,
            "zip_code": account.zip_code,
        }
        if account.opening.centavos:
            body["balance"] = account.opening
        try:
            await self.control.post("accounts", body=body)
        except ControlRefused:  # by another process, since we asked
            if not await self._has_account(account.id):
                raise

    async def add_key(self, account_id: str, key: PixKey) -> None:
        """Register a key."""
        body = {"type": key.type.value, "key": key.key, "id": key.provider_id}
        await self._add("accounts", account_id, "keys", body=body)

    async def add_charge(self, account_id: str, reference: str, charge: DemoCharge) -> bool:
        """Make a charge."""
        body = {
            "reference": reference,
            "state": charge.state,
            "type": "Static" if charge.reusable else "Dynamic",
            "value": charge.value,
            "reusable": charge.reusable,
            "description": f"Demo: {charge.role}",
        }
        return await self._add("accounts", account_id, "charges", body=body)

    async def receive(self, account_id: str, income: DemoIncome, at: datetime) -> str:
        """Pay money into an account."""
        name, tax_number = income.payer
        body = {
            "value": income.value,
            "payer": {"name": name, "tax_number": tax_number},
            "description": income.description,
            "at": _instant(at),
        }
        made = await self.control.post("accounts", account_id, "incoming", body=body)
        return str(made["e2e_id"])

    async def book(self, account_id: str, movement: DemoMovement, at: datetime) -> None:
        """Book a movement that is not Pix."""
        name, tax_number = movement.other
        body = {
            "kind": movement.kind,
            "value": movement.value,
            "counterparty": {"name": name, "tax_number": tax_number},
            "description": movement.description,
            "at": _instant(at),
        }
        await self.control.post("accounts", account_id, "movements", body=body)

    async def give_back(self, account_id: str, order: RefundOrder) -> None:
        """Order a refund."""
        body = {
            "key": order.provider_key,
            "reference": order.reference,
            "e2e_id": order.payment_e2e_id,
            "value": order.value,
            "description": order.description,
        }
        await self.control.post("accounts", account_id, "refunds", body=body)

    async def take_fee(self, account_id: str, value: Money) -> None:
        """Book a fee."""
        await self.control.post("accounts", account_id, "fee", body={"value": value})

    async def _has_account(self, account_id: str) -> bool:
        try:
            await self.control.get("accounts", account_id)
        except ControlRefused as problem:
            if problem.status == _ABSENT:
                return False
            raise
        return True

    async def _add(self, *segments: str, body: Mapping[str, object]) -> bool:
        """Create a record; False when it exists."""
        try:
            await self.control.post(*segments, body=body)
        except ControlRefused as problem:
            if problem.code not in _EXISTS:
                raise
            return False
        return True


def _instant(at: datetime) -> str:
    """Write an instant as the control interface reads it."""
    return f"{at:%Y-%m-%dT%H:%M:%S}.000Z"

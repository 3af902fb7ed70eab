"""The demo at the sandbox bank: accounts, keys, charges and a history."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import timedelta
from typing import Final

from gateway.domain.accounts.accounts import Environment
from gateway.domain.bank.refunds import refund_key
from gateway.domain.kernel.clocks import Now
from provider_adapters.testing.bank.control.client import BankControl, ControlRefused
from provider_adapters.testing.demo import contents
from provider_adapters.testing.demo.contents import DemoAccount
from provider_adapters.testing.demo.document import Demo

_EXISTS: Final = frozenset({"KEY_IN_USE", "REFERENCE_IN_USE"})
_ABSENT: Final = 404


def token(account_id: str) -> str:
    """
    Return the token of a demo account at the bank.

    Derived, so that a lost store or a lost bank can be made again to fit the
    other. It protects nothing: who reaches the sandbox bank reaches its
    control interface too, which asks for no credential.
    """
    return f"tok_{hashlib.sha256(f'demo {account_id}'.encode()).hexdigest()[:40]}"


async def ensure(control: BankControl, demo: Demo, now: Now) -> None:
    """Make what the bank lacks of the demo; safe to repeat."""
    for account in contents.ACCOUNTS:
        if account.provider:
            await _open(control, account, demo["accounts"][account.role]["id"])
    for role in demo["pix_keys"]:
        account_id = demo["accounts"][role]["id"]
        for key in contents.pix_keys(account_id):
            body = {"type": key.type.value, "key": key.key, "id": key.provider_id}
            await _add(control, account_id, "keys", body)
    for charge in contents.CHARGES:
        account_id = demo["accounts"][charge.account]["id"]
        wanted = {
            "reference": demo["charges"][charge.role],
            "state": charge.state,
            "type": "Static" if charge.reusable else "Dynamic",
            "value": charge.value,
            "reusable": charge.reusable,
            "description": f"Demo: {charge.role}",
        }
        if await _add(control, account_id, "charges", wanted) and charge.reusable:
            # Money that came in cannot be made twice by accident: the charge says it is there.
            await _history(control, account_id, now)


async def _open(control: BankControl, account: DemoAccount, account_id: str) -> None:
    """Open an account, unless the bank has one of that id."""
    if await _has_account(control, account_id):
        return
    company = next(each for each in contents.COMPANIES if each.role == account.company)
    place = contents.coordinates(account_id)
    body: dict[str, object] = {
        "id": account_id,
        "token": token(account_id),
        "name": company.name,
        "tax_number": company.tax_number,
        "branch": place.branch,
        "account": place.account,
        "city": contents.CITY,
        "zip_code": contents.ZIP_CODE,
        **({"balance": account.opening} if account.opening.centavos else {}),
    }
    try:
        await control.post("accounts", body=body)
    except ControlRefused:  # by another process, since we asked
        if not await _has_account(control, account_id):
            raise


async def _has_account(control: BankControl, account_id: str) -> bool:
    try:
        await control.get("accounts", account_id)
    except ControlRefused as problem:
        if problem.status == _ABSENT:
            return False
        raise
    return True


async def _add(
    control: BankControl, account_id: str, what: str, body: Mapping[str, object]
) -> bool:
    """Create a record of an account; False when it exists."""
    try:
        await control.post("accounts", account_id, what, body=body)
    except ControlRefused as problem:
        if problem.code not in _EXISTS:
            raise
        return False
    return True


async def _history(control: BankControl, account_id: str, now: Now) -> None:
    """Let the account have been used for some days: one refund under the gateway's key for it."""

    def dated(ago: timedelta) -> str:
        return f"{now() - ago:%Y-%m-%dT%H:%M:%S}.000Z"

    payments = []
    for each in contents.HISTORY:
        name, tax_number = each.payer
        body = {
            "value": each.value,
            "payer": {"name": name, "tax_number": tax_number},
            "description": each.description,
            "at": dated(each.ago),
        }
        payments.append(await control.post("accounts", account_id, "incoming", body=body))
    for movement in contents.MOVEMENTS:
        name, tax_number = movement.other
        booked = {
            "kind": movement.kind,
            "value": movement.value,
            "counterparty": {"name": name, "tax_number": tax_number},
            "description": movement.description,
            "at": dated(movement.ago),
        }
        await control.post("accounts", account_id, "movements", body=booked)
    fee = {"kind": "fee", "value": contents.FEE}
    await control.post("accounts", account_id, "movements", body=fee)
    reference = contents.refund_reference(account_id)
    refund = {
        "key": refund_key(Environment.SANDBOX, account_id, reference),
        "reference": reference,
        "e2e_id": payments[contents.REFUND.income]["e2e_id"],
        "value": contents.REFUND.value,
        "description": contents.REFUND.description,
    }
    await control.post("accounts", account_id, "refunds", body=refund)

"""The demo at the sandbox bank: accounts, keys, charges and a history."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from gateway.banks.port.refunds import refund_key
from gateway.core.account import Environment
from gateway.core.audit_context import RuleViolation
from gateway.core.clocks import Now
from provider_adapters.testing.bank.control.client import BankControl, ControlRefused
from provider_adapters.testing.demo import contents
from provider_adapters.testing.demo.document import Demo


@asynccontextmanager
async def controlling(url: str) -> AsyncIterator[BankControl]:
    """Open a bank's control interface; RuleViolation if the bank is away or refuses a call."""
    try:
        async with BankControl(url) as control:
            yield control
    except ControlRefused as problem:
        raise RuleViolation(str(problem)) from problem


async def ensure(control: BankControl, demo: Demo, now: Now) -> None:
    """Make what the bank lacks of the demo; safe to repeat."""
    ids = {role: account["id"] for role, account in demo["accounts"].items()}
    for role, account in contents.ACCOUNTS.items():
        if account.provider:
            opened = {
                "id": ids[role],
                "token": contents.token(ids[role]),
                "account": contents.coordinates(ids[role]).account,
                "balance": account.opening,
            }
            holder = contents.COMPANIES[account.company]
            await _add(control, "accounts", body={**opened, **holder._asdict()})
    for role in contents.WITH_PIX_KEYS:
        for key in contents.pix_keys(ids[role]):
            body = {"type": key.type.value, "key": key.key, "id": key.provider_id}
            await _add(control, "accounts", ids[role], "keys", body=body)
    for role, charge in contents.CHARGES.items():
        account_id = ids[charge.account]
        wanted = {
            "reference": demo["charges"][role],
            "state": charge.state,
            "type": "Static" if charge.reusable else "Dynamic",
            "value": charge.value,
            "reusable": charge.reusable,
            "description": f"Demo: {role}",
        }
        made = await _add(control, "accounts", account_id, "charges", body=wanted)
        # No reference prevents a second history: the charge shows that there is one.
        if made and charge.reusable:
            await _history(control, account_id, now)


async def _add(control: BankControl, *segments: str, body: Mapping[str, object]) -> bool:
    """Create a record; False when it exists."""
    try:
        await control.post(*segments, body=body)
    except ControlRefused as problem:
        if problem.code not in {"ALREADY_EXISTS", "KEY_IN_USE", "REFERENCE_IN_USE"}:
            raise
        return False
    return True


async def _history(control: BankControl, account_id: str, now: Now) -> None:
    """Make the statement of some days, with a refund under the key that the gateway would use."""
    for each in contents.HISTORY:
        is_pix = each.kind == contents.PIX_IN
        booked = {
            "kind": each.kind,
            "value": each.value,
            "payer" if is_pix else "counterparty": each.other._asdict(),
            "description": each.description,
            "at": f"{now() - each.ago:%Y-%m-%dT%H:%M:%S}.000Z",
        }
        where = "incoming" if is_pix else "movements"
        made = await control.post("accounts", account_id, where, body=booked)
        if each.refunded is not None:
            reference = contents.reference("refund", account_id)
            refund = {
                "key": refund_key(Environment.SANDBOX, account_id, reference),
                "reference": reference,
                "e2e_id": made["e2e_id"],
                "value": each.refunded,
                "description": "Desconto esquecido",
            }
            await control.post("accounts", account_id, "refunds", body=refund)
    fee = {"kind": "fee", "value": contents.FEE}
    await control.post("accounts", account_id, "movements", body=fee)

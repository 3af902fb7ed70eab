"""The sandbox bank's control interface, and what it does at one account, whoever orders it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Protocol

from gateway.core.account import Account
from gateway.core.money import Money, Sum
from gateway.sandbox.model import Payment, ToppedUp

Reply = Mapping[str, Any]
ABSENT: Final = "not_found"
AWAY: Final = "unavailable"
"""Reasons of refusals: the bank has no such thing; it does not answer."""


class SandboxControl(Protocol):
    """The sandbox bank's control interface; each call raises ``RuleViolation`` when it refuses."""

    async def get(self, *segments: str) -> Reply:
        """Read something."""
        ...

    async def post(
        self, *segments: str, body: Mapping[str, object], query: Mapping[str, str] | None = None
    ) -> Reply:
        """Make something happen."""
        ...

    async def delete(self, *segments: str) -> Reply:
        """Delete something."""
        ...


async def pay(
    control: SandboxControl,
    account: Account,
    reference: str,
    value: Money | None,
    *,
    any_pix: bool = False,
) -> Payment:
    """
    Pay a charge as an outside payer would, its own amount where ``value`` is None.

    With ``any_pix`` a payment that names the charge and does not pay it arrives too.
    """
    body: dict[str, object] = {"any_pix": any_pix}
    if value is not None:
        body["value"] = value
    query = {"account": account.provider_account}
    said = await control.post("charges", reference, "pay", body=body, query=query)
    return Payment(e2e_id=said["e2e_id"], value=Money(said["centavos"]), pays=said["pays"])


async def top_up(control: SandboxControl, account: Account, value: Money) -> ToppedUp:
    """Pay money into an account."""
    said = await control.post("accounts", account.provider_account, "top-up", body={"value": value})
    return ToppedUp(balance=Sum(said["balance_centavos"]))

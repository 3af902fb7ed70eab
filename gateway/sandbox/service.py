"""Controls the sandbox bank: payments, faults and clock; absent in production."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from msgspec.structs import asdict

from gateway.accounts.store import StoredAccounts
from gateway.core.access import Staff, requires
from gateway.core.account import Account
from gateway.core.audit_context import RuleViolation
from gateway.core.permissions import Action
from gateway.core.rights import Area
from gateway.sandbox import control
from gateway.sandbox.control import SandboxControl
from gateway.sandbox.model import (
    ClockBody,
    Fault,
    FaultBody,
    Paid,
    PayBody,
    Sandbox,
    ToppedUp,
    TopUpBody,
)


@dataclass(slots=True, kw_only=True)
class SandboxTools:
    """
    The tools; each raises ``RuleViolation`` in the bank's words where it refuses.

    The bank's faults and its clock, which concern every company, are for people who see every
    company: others' calls meet them too.
    """

    control: SandboxControl
    accounts: StoredAccounts

    @requires(Area.QRCODE, Action.READ)
    async def state(self, who: Staff) -> Sandbox:
        """Read how the sandbox bank stands: its clock, the faults that wait for any account."""
        return await self._state()

    @requires(Area.QRCODE, Action.WRITE)
    async def pay(self, who: Staff, wanted: PayBody) -> Paid:
        """Pay a charge, as an outside payer would."""
        account = await self._account(who, wanted.account_id)
        paid = await control.pay(self.control, account, wanted.reference, wanted.value)
        return Paid(e2e_id=paid.e2e_id, value=paid.value)

    @requires(Area.QRCODE, Action.WRITE)
    async def top_up(self, who: Staff, wanted: TopUpBody) -> ToppedUp:
        """Pay money into an account."""
        account = await self._account(who, wanted.account_id)
        return await control.top_up(self.control, account, wanted.value)

    @requires(Area.STOP, Action.WRITE)
    async def inject(self, who: Staff, wanted: FaultBody) -> Sandbox:
        """Have the bank's next calls fail."""
        _refuse_limited(who)
        await self.control.post("faults", body=asdict(wanted))
        return await self._state()

    @requires(Area.STOP, Action.WRITE)
    async def clear(self, who: Staff) -> Sandbox:
        """Forget every fault."""
        _refuse_limited(who)
        await self.control.delete("faults")
        return await self._state()

    @requires(Area.STOP, Action.WRITE)
    async def move_clock(self, who: Staff, wanted: ClockBody) -> Sandbox:
        """Set how far the bank's clock is ahead."""
        _refuse_limited(who)
        await self.control.post("clock", body={"offset_s": wanted.offset_s})
        return await self._state()

    async def _state(self) -> Sandbox:
        clock, faults = await self.control.get("clock"), await self.control.get("faults")
        of_bank = [each for each in faults["data"] if not each["account"]]
        return Sandbox(offset_s=int(clock["offset_s"]), faults=[*map(_fault, of_bank)])

    async def _account(self, who: Staff, account_id: str) -> Account:
        found = await self.accounts.visible(account_id.lower(), who.scope)
        if found is None or not found.provider:
            message = f"there is no account {account_id}"
            raise RuleViolation(message, "account_unknown", field="account_id")
        return found


def _refuse_limited(who: Staff) -> None:
    if not who.scope.everything:
        message = "the sandbox bank as a whole is for people who see every company"
        raise RuleViolation(message, "company_unknown")


def _fault(found: Mapping[str, Any]) -> Fault:
    return Fault(
        operation=found["operation"],
        fault=found["fault"],
        status=found["status"],
        count=found["count"] or 0,
    )

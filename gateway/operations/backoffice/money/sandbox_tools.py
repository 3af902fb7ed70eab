"""What people make the sandbox bank do: pay, top up, fail, move its clock; never in production."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, Protocol, get_args

from gateway.domain.accounts.accounts import Account
from gateway.domain.backoffice.lists import ScopedRecords
from gateway.domain.kernel.company_scope import CompanyScope
from gateway.domain.kernel.money import Money
from gateway.operations.kernel.audit_context import RuleViolation

Reply = Mapping[str, Any]


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


BankOperation = Literal[
    "balance",
    "statement",
    "keys",
    "charge",
    "payment",
    "payout",
    "payout_read",
    "refund",
    "refund_read",
    "callbacks",
    "access",
    "*",
]
"""What can be made to fail; ``*`` is every call."""

FaultKind = Literal[
    "refuse",
    "reject",
    "hang",
    "hang_after",
    "reset_before",
    "reset_after",
    "drip",
    "status",
    "malformed",
    "wrong_types",
    "huge",
]
"""The ways to fail; the bank's own documentation describes each."""

OPERATIONS: Final[tuple[str, ...]] = get_args(BankOperation)
FAULTS: Final[tuple[str, ...]] = get_args(FaultKind)


@dataclass(frozen=True, slots=True, kw_only=True)
class PaidCharge:
    """A charge that was paid by nobody in particular."""

    e2e_id: str
    value: Money


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingFault:
    """A fault that waits for requests; it ends by itself after ``count`` more."""

    operation: str
    fault: str
    status: int
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxState:
    """How the sandbox bank stands; ``offset_s`` is how far its clock is ahead."""

    offset_s: int
    faults: tuple[WaitingFault, ...]


@dataclass(slots=True, kw_only=True)
class SandboxTools:
    """
    The tools, within a company scope.

    What concerns the bank as a whole, its faults and its clock, is for people who see every
    company: others' calls meet them too.
    """

    control: SandboxControl
    records: ScopedRecords

    async def state(self, _scope: CompanyScope, _taken: None) -> SandboxState:
        """Return how the bank stands."""
        clock, faults = await self.control.get("clock"), await self.control.get("faults")
        return SandboxState(
            offset_s=int(clock["offset_s"]), faults=tuple(map(_fault, faults["data"]))
        )

    async def pay(
        self, scope: CompanyScope, account_id: str, reference: str, value: Money | None
    ) -> PaidCharge:
        """Pay a charge; one of an open amount needs a value."""
        account = await self._account(scope, account_id)
        body = {} if value is None else {"value": value}
        query = {"account": account.provider_account}
        said = await self.control.post("charges", reference, "pay", body=body, query=query)
        return PaidCharge(e2e_id=said["e2e_id"], value=Money(said["centavos"]))

    async def top_up(self, scope: CompanyScope, account_id: str, value: Money) -> Money:
        """Pay money into an account; return its balance."""
        account = await self._account(scope, account_id)
        said = await self.control.post(
            "accounts", account.provider_account, "top-up", body={"value": value}
        )
        return Money(said["balance_centavos"])

    async def inject(self, scope: CompanyScope, fault: WaitingFault) -> SandboxState:
        """Have the next calls fail."""
        _refuse_limited(scope)
        body: dict[str, object] = {
            "operation": fault.operation,
            "fault": fault.fault,
            "status": fault.status,
            "count": fault.count,
        }
        await self.control.post("faults", body=body)
        return await self.state(scope, None)

    async def clear(self, scope: CompanyScope, _taken: None) -> SandboxState:
        """Forget every fault."""
        _refuse_limited(scope)
        await self.control.delete("faults")
        return await self.state(scope, None)

    async def move_clock(self, scope: CompanyScope, offset_s: int) -> SandboxState:
        """Set how far the bank's clock is ahead of ours."""
        _refuse_limited(scope)
        await self.control.post("clock", body={"offset_s": offset_s})
        return await self.state(scope, None)

    async def _account(self, scope: CompanyScope, account_id: str) -> Account:
        found = await self.records.account(account_id.lower(), scope)
        if found is None or not found.provider:
            message = f"there is no account {account_id}"
            raise RuleViolation(message, "account_unknown", field="account_id")
        return found


def _refuse_limited(scope: CompanyScope) -> None:
    """Refuse whoever sees some companies alone."""
    if not scope.everything:
        message = "the sandbox bank as a whole is for people who see every company"
        raise RuleViolation(message, "company_unknown")


def _fault(found: Mapping[str, Any]) -> WaitingFault:
    return WaitingFault(
        operation=found["operation"],
        fault=found["fault"],
        status=found["status"],
        count=found["count"] or 0,
    )

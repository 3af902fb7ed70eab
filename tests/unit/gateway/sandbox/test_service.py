"""The sandbox bank's tools: whose account, and who may touch the bank as a whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from gateway.core.access import Staff
from gateway.core.account import Account
from gateway.core.audit_context import RuleViolation
from gateway.core.company_scope import EVERY_COMPANY, CompanyScope
from gateway.core.money import Money, Sum
from gateway.sandbox.model import ClockBody, FaultBody, PayBody, TopUpBody
from gateway.sandbox.service import SandboxTools
from tests.unit.offering import acting
from tests.world.people import ACCOUNT, COMPANY, account

MINE = CompanyScope(frozenset({COMPANY}))
OTHERS = CompanyScope(frozenset({"other"}))
FAULT = FaultBody(operation="*", fault="hang", count=2)


@dataclass
class Control:
    """Answers like the bank, and records its requests."""

    told: list[tuple[str, ...]] = field(default_factory=list)

    async def get(self, *segments: str) -> Mapping[str, Any]:
        waiting = {"operation": "*", "fault": "hang", "status": 500, "count": None, "account": ""}
        of_one = waiting | {"account": "conta-1"}
        return {"clock": {"offset_s": 60}, "faults": {"data": [waiting, of_one]}}[segments[0]]

    async def post(
        self, *segments: str, body: Mapping[str, object], query: object = None
    ) -> Mapping[str, Any]:
        self.told.append(segments)
        return {"e2e_id": "E1", "centavos": 1050, "balance_centavos": 2, "pays": True}

    async def delete(self, *segments: str) -> Mapping[str, Any]:
        self.told.append(("delete", *segments))
        return {}


class Accounts:
    async def visible(self, account_id: str, scope: CompanyScope) -> Account | None:
        return account() if account_id == ACCOUNT and scope.includes(COMPANY) else None


def of(scope: CompanyScope) -> Staff:
    return Staff(acting(), scope)


def tools(control: Control) -> SandboxTools:
    return SandboxTools(control=control, accounts=Accounts())  # type: ignore[arg-type]


@pytest.mark.parametrize("scope", [EVERY_COMPANY, MINE])
async def test_an_account_in_scope_is_paid_and_topped_up(scope: CompanyScope):
    control = Control()

    paid = await tools(control).pay(of(scope), PayBody(ACCOUNT.upper(), "cob-1"))
    topped = await tools(control).top_up(of(scope), TopUpBody(ACCOUNT, Money(1)))

    assert (paid.e2e_id, paid.value, topped.balance) == ("E1", Money(1050), Sum(2))
    assert control.told == [("charges", "cob-1", "pay"), ("accounts", "conta-1", "top-up")]


async def test_an_account_out_of_scope_is_not_found():
    control = Control()

    for scope, account_id in ((OTHERS, ACCOUNT), (EVERY_COMPANY, "nobody")):
        with pytest.raises(RuleViolation):
            await tools(control).pay(of(scope), PayBody(account_id, "cob-1"))
        with pytest.raises(RuleViolation):
            await tools(control).top_up(of(scope), TopUpBody(account_id, Money(1)))

    assert control.told == []


async def test_the_bank_s_faults_and_clock_require_access_to_every_company():
    control = Control()

    for act in (
        lambda scope: tools(control).inject(of(scope), FAULT),
        lambda scope: tools(control).clear(of(scope)),
        lambda scope: tools(control).move_clock(of(scope), ClockBody(60)),
    ):
        with pytest.raises(RuleViolation):
            await act(MINE)
        state = await act(EVERY_COMPANY)
        assert (state.offset_s, len(state.faults)) == (60, 1)

    assert control.told == [("faults",), ("delete", "faults"), ("clock",)]

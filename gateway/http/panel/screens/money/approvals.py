"""Orders that wait for another person: read with everything they say, approved, rejected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Any, Final

from gateway.approvals.model import ApprovalState
from gateway.domain.accounts.credentials import Action
from gateway.domain.identity.errors import VALIDATION_FAILED
from gateway.domain.identity.rights import Area, Right
from gateway.domain.kernel.errors import ServiceError
from gateway.http.panel.pages.calls import RowCalls
from gateway.http.panel.pages.formats import moment, typed_money
from gateway.http.panel.pages.page import Page, Redirect, Result, Shown
from gateway.http.panel.pages.visit import HOME, Visit
from gateway.http.panel.screens.access.credentials import CredentialPages
from gateway.http.panel.screens.money.new_payout import bank_named

DECIDES: Final = Right(Area.APPROVAL, Action.WRITE)
READS: Final = Right(Area.APPROVAL, Action.READ)
COLLECTS: Final = Right(Area.CREDENTIAL, Action.WRITE)
STATES: Final = tuple(each.value for each in ApprovalState)
_MOST: Final = "100"
_FRESH: Final = timedelta(minutes=1)
"""A balance this young is not asked for again."""


@dataclass(frozen=True, slots=True)
class ApprovalPages:
    """The pages of orders."""

    rows: RowCalls

    async def list(self, visit: Visit) -> Result:
        """List orders of one state, newest first."""
        asked = visit.query("status") or ApprovalState.WAITING.value
        state = asked if asked in STATES else ""
        found = await self.rows.section(
            visit, "backoffice.approvals", status=state, page=visit.query("page")
        )
        data = {
            "found": found,
            "state": state,
            "states": STATES,
            "me": _me(visit),
            "now": self.rows.now(),
        }
        return Shown(template="approvals/approvals.html", part="approvals/_list.html", data=data)

    async def read(self, visit: Visit) -> Result:
        """Show one with everything it says, and what the person may do about it."""
        found = await self.rows.ask(visit, "backoffice.approval", path=_named(visit))
        accounts = await self.rows.section(visit, "backoffice.accounts", limit=_MOST)
        approval, order = found.data["approval"], found.data["order"]
        facts = await self._facts(visit, approval)
        is_own = approval["ordered_by"] == _me(visit)
        data = {
            "approval": approval,
            "facts": facts,
            "now": self.rows.now(),
            "order": order,
            "bank": await bank_named(self.rows, visit, _bank_number(order)),
            "names": {**_names(accounts.data), **await self._companies(visit, order)},
            "reach": _account(accounts.data, order.get("account_id")),
            "is_own": is_own,
            "may_decide": visit.may(DECIDES) and not is_own,
            "may_collect": visit.may(COLLECTS) and is_own and bool(approval["secret_until"]),
        }
        part = "approvals/_facts.html" if facts else ""
        return Shown(template="approvals/approval.html", part=part, data=data)

    async def _companies(self, visit: Visit, order: Mapping[str, Any]) -> Mapping[str, str]:
        """Return what the companies are called that an order about a person names."""
        named = [*order.get("companies", ()), *order.get("companies_before", ())]
        return await self.rows.names(visit, named) if named else {}

    async def _facts(self, visit: Visit, approval: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """Return what helps to decide on money that is not decided on yet; None for the rest."""
        if not approval["value"] or approval["status"] != ApprovalState.WAITING:
            return None
        found = await self.rows.section(visit, "backoffice.approval_facts", _named(visit))
        if found.data is None:
            return {"problem": found.problem}
        reading = found.data.get("reading", {})
        balance, read_at = reading.get("balance"), reading.get("read_at")
        return {
            "problem": None,
            **found.data,
            "sum": sum((each["value"] for each in found.data["to_recipient"]), Decimal(0)),
            "balance": balance,
            "left": None if balance is None else balance - approval["value"],
            "read_at": read_at,
            "is_asked": bool(reading) and not (read_at and self._is_fresh(read_at)),
        }

    def _is_fresh(self, read_at: str) -> bool:
        return self.rows.now() - moment(read_at) < _FRESH

    async def approve(self, visit: Visit) -> Result:
        """Agree; of money the amount was typed."""
        found = await self.rows.ask(visit, "backoffice.approval", path=_named(visit))
        value = found.data["approval"]["value"]
        if value and typed_money(visit.form["value"], "value").centavos != int(value * 100):
            raise ServiceError(VALIDATION_FAILED, "not_the_amount", field="value")
        await self.rows.ask(visit, "backoffice.approval_approve", path=_named(visit))
        return _back(visit)

    async def reject(self, visit: Visit) -> Result:
        """Refuse, with a reason."""
        if not visit.form["reason"]:
            raise ServiceError(VALIDATION_FAILED, "missing", field="reason")
        body = {"reason": visit.form["reason"]}
        await self.rows.ask(visit, "backoffice.approval_reject", path=_named(visit), body=body)
        return _back(visit)


def _named(visit: Visit) -> Mapping[str, str]:
    return {"approval_id": visit.parameter("approval_id")}


def _me(visit: Visit) -> str:
    """Name who looks as orders name whoever ordered them."""
    return "" if visit.person is None else visit.person.actor


def _bank_number(order: Mapping[str, Any]) -> str:
    """Return the number of the recipient's bank; empty for a key, and for other orders."""
    return str(order.get("destination", {}).get("bank_number", ""))


def _back(visit: Visit) -> Redirect:
    """Show what became of the order."""
    return Redirect(f"{HOME}/approvals/{visit.parameter('approval_id')}")


def _account(
    accounts: Mapping[str, Any] | None, account_id: str | None
) -> Mapping[str, Any] | None:
    """Return the account that a credential is ordered for; None for a whole company."""
    found = accounts["data"] if accounts else ()
    return next((each for each in found if each["id"] == account_id), None)


def _names(accounts: Mapping[str, Any] | None) -> Mapping[str, str]:
    """Return names of accounts and companies by id."""
    found = accounts["data"] if accounts else ()
    companies = {each["company"]["id"]: each["company"]["name"] for each in found}
    return companies | {each["id"]: each["name"] for each in found}


def pages(rows: RowCalls) -> Sequence[Page]:
    """Return the pages."""
    does, secrets = ApprovalPages(rows), CredentialPages(rows)
    one = "/approvals/{approval_id}"
    return (
        Page(
            path="/approvals",
            name="approvals",
            summary="List orders that wait, or waited, for another person.",
            needs=READS,
            shows=does.list,
        ),
        Page(
            path=one,
            name="approval",
            summary="Show an order with everything it says.",
            needs=READS,
            shows=does.read,
        ),
        Page(
            path=f"{one}/approve",
            name="approval_approve",
            summary="Approve an order; it is then carried out.",
            needs=DECIDES,
            shows=does.read,
            does=does.approve,
        ),
        Page(
            path=f"{one}/reject",
            name="approval_reject",
            summary="Reject an order.",
            needs=DECIDES,
            shows=does.read,
            does=does.reject,
        ),
        Page(
            path=f"{one}/secret",
            name="approval_secret",
            summary="Make and show the secret of an own order that was approved.",
            needs=COLLECTS,
            shows=does.read,
            does=secrets.collect,
        ),
    )

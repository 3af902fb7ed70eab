"""Payouts of every account: the list, its filters, and how many stand where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from gateway.domain.accounts.credentials import Action
from gateway.domain.bank.payout_orders import FailureCode
from gateway.domain.identity.rights import Area, Right
from gateway.domain.kernel.errors import ServiceError
from gateway.http.backoffice.files import CSV
from gateway.http.panel.pages.calls import RowCalls
from gateway.http.panel.pages.formats import day_of, typed_money
from gateway.http.panel.pages.page import Download, Page, Result, Shown
from gateway.http.panel.pages.visit import Visit

READS: Final = Right(Area.PAYOUT, Action.READ)
FINAL: Final = frozenset({"paid", "rejected", "failed"})
"""States that nothing follows."""
_DAYS: Final = ("1", "7", "30", "90")
_WRITES: Final = Right(Area.PAYOUT, Action.WRITE)
_WEEK: Final = 7
_WORDS: Final = ("provider", "account_id", "client_id", "method", "failure", "order")
_DATES: Final = ("init", "ends")
_AMOUNTS: Final = ("least", "most")
_CHIPS: Final = ("client_id", "method", "failure", "least", "most", "init", "ends")
_TABS: Final[Mapping[str, Mapping[str, object]]] = MappingProxyType(
    {
        "": {},
        "open": {"states": ["sending", "accepted"]},
        "unknown": {"states": ["unknown"]},
        "not_sent": {"certainty": "not_sent"},
        "paid": {"states": ["paid"], "returned": False},
        "returned": {"returned": True},
        "failed": {"certainty": "confirmed_rejected"},
    }
)
"""What each tab asks for; the first is all of them."""
_ACCOUNTS: Final = "100"
"""The choices of one field; who has more finds an account by search."""


@dataclass(frozen=True, slots=True)
class PayoutsPages:
    """The list of payouts."""

    rows: RowCalls

    async def list(self, visit: Visit) -> Result:
        """Show a page of what the filter finds; the filter stands in the address."""
        try:
            found = (await self.rows.ask(visit, "backoffice.payouts", body=asked(visit))).data
            problem = None
        except ServiceError as refusal:
            found, problem = _NOTHING, refusal
        accounts = await self.rows.section(visit, "backoffice.accounts", limit=_ACCOUNTS)
        providers = await self.rows.section(visit, "backoffice.providers")
        data = {
            "found": found,
            "problem": problem,
            "tabs": _counted(found["counts"]["by_state"]),
            "tab": _tab(visit),
            "chips": [(name, visit.query(name)) for name in _CHIPS if visit.query(name)],
            "accounts": accounts.data["data"] if accounts.data else [],
            "providers": providers.data["data"] if providers.data else [],
            "days": visit.query("days") or str(_WEEK),
            "all_days": _DAYS,
            "failures": list(FailureCode),
            "may_order": visit.may(_WRITES),
            "export": _export(visit),
            "is_open": is_open(found["data"]),
        }
        return Shown(template="money/payouts.html", part="money/_payouts.html", data=data)

    async def export(self, visit: Visit) -> Result:
        """Hand out all that the filter finds, as a table."""
        body = {name: each for name, each in asked(visit).items() if name != "after"}
        said = await self.rows.ask(visit, "backoffice.payouts_export", body=body)
        return Download(content=said.data, content_type=CSV, filename="payouts.csv", rest=said.rest)


_NOTHING: Final[Mapping[str, Any]] = MappingProxyType(
    {"data": (), "counts": {"by_state": (), "complete": True}, "next": ""}
)


def is_open(payouts: Sequence[Mapping[str, Any]]) -> bool:
    """Say whether something may still become of one of them."""
    return any(each["state"] not in FINAL for each in payouts)


def asked(visit: Visit) -> dict[str, object]:
    """
    Return what the address asks of the search.

    Raises:
        ServiceError: an amount is not written as amounts are.
    """
    body: dict[str, object] = {
        **_TABS[_tab(visit)],
        **{name: visit.query(name) for name in _WORDS if visit.query(name)},
        **{name: typed_money(visit.query(name), name) for name in _AMOUNTS if visit.query(name)},
    }
    dates: dict[str, object] = {n: _day(visit.query(n)) for n in _DATES if visit.query(n)}
    days = visit.query("days")
    body |= dates or {"days": int(days) if days in _DAYS else _WEEK}
    if visit.query("after"):
        body["after"] = visit.query("after")
    return body


def _day(text: str) -> str:
    """Write a day as the row takes it; what is none goes as it is, and the row refuses it."""
    day = day_of(text)
    return day.isoformat() if day else text


def _export(visit: Visit) -> str:
    """Write the address of the file of this filter."""
    path, _, query = visit.with_query(after="").partition("?")
    return f"{path}/export?{query}" if query else f"{path}/export"


def _tab(visit: Visit) -> str:
    tab = visit.query("tab")
    return tab if tab in _TABS else ""


def _counted(by_state: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """Count each tab of what was found."""
    return {
        tab: sum(each["count"] for each in by_state if _belongs(each, wanted))
        for tab, wanted in _TABS.items()
    }


def _belongs(counted: Mapping[str, Any], wanted: Mapping[str, object]) -> bool:
    if wanted.get("returned") not in {None, counted["returned"]}:
        return False
    states = wanted.get("states")
    if isinstance(states, list):
        return counted["state"] in states
    return wanted.get("certainty") in {None, counted["certainty"]}


def pages(rows: RowCalls) -> Sequence[Page]:
    """Return the list, and its file."""
    made = PayoutsPages(rows)
    return (
        Page(
            path="/payouts/export",
            name="payouts_export",
            summary="Download a search of payouts as a table.",
            needs=READS,
            shows=made.export,
            media=("text/csv",),
        ),
        Page(
            path="/payouts",
            name="payouts",
            summary="Search the payouts of every account.",
            needs=READS,
            shows=made.list,
        ),
    )

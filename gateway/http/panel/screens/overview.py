"""The first page after the sign-in: what needs a person, how money flows, how the banks are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from gateway.domain.accounts.credentials import Action
from gateway.domain.identity.rights import Area, Right
from gateway.http.panel.pages.calls import RowCalls, Section
from gateway.http.panel.pages.formats import moment
from gateway.http.panel.pages.page import Page, Result, Shown
from gateway.http.panel.pages.visit import Visit
from gateway.http.panel.screens.money.payouts import is_open
from gateway.http.panel.screens.operations.flow import chart_of, steps_of
from gateway.http.panel.screens.operations.sky import skies

PERIODS: Final = ("today", "7d", "30d")
_CERTAINTY: Final = {
    "paid": ("settled", "ok"),
    "returned": ("returned", "warn"),
    "accepted": ("accepted", "wait"),
    "sending": ("sending", "wait"),
    "unknown": ("unknown", "warn"),
    "not_sent": ("not_sent", "wait"),
    "rejected": ("rejected", "bad"),
    "failed": ("failed", "bad"),
}
"""By state, in the order of the list: the word of certainty, and the tone of its part."""
_LATEST: Final = 9
_COMMON: Final = 5
_WIDE: Final = 760
_SMALL: Final = 340
_PAYOUTS: Final = Right(Area.PAYOUT, Action.READ)
_BALANCES: Final = Right(Area.BALANCE, Action.READ)
_REQUESTS: Final = Right(Area.REQUEST_LOG, Action.READ)


@dataclass(frozen=True, slots=True)
class OverviewPages:
    """What needs a person, and what is going on."""

    rows: RowCalls

    async def overview(self, visit: Visit) -> Result:
        """Show what needs a person first; a part that cannot be read leaves the others."""
        period = visit.query("period")
        period = period if period in PERIODS else PERIODS[0]
        found = await self.rows.section(visit, "backoffice.overview", period=period)
        weather = await self.rows.section(visit, "backoffice.weather")
        providers = await self.rows.section(visit, "backoffice.providers")
        return Shown(
            template="overview/overview.html",
            data={
                "period": period,
                "found": found,
                "names": await self.rows.names(visit, _stopped(found)),
                **_figures(found),
                "sky": skies(providers.data, weather.data),
                "weather": weather,
                "reads_requests": visit.may(_REQUESTS),
                "reads_balances": visit.may(_BALANCES),
            },
        )

    async def latest(self, visit: Visit) -> Result:
        """Show the latest payouts; loaded after the page."""
        body = {"init": _day(visit, "since"), "ends": _day(visit, "until"), "limit": _LATEST}
        found = await self.rows.ask(visit, "backoffice.payouts", body=body)
        return Shown(
            template="overview/latest.html",
            part="overview/_latest.html",
            data={"payouts": found.data["data"], "is_open": is_open(found.data["data"])},
        )

    async def badges(self, visit: Visit) -> Result:
        """Show what the side column counts; a page that is looked at asks for it again."""
        visit.counts = (await self.rows.section(visit, "backoffice.counts")).data or {}
        return Shown(template="overview/badges.html", part="overview/_badges.html")

    async def balances(self, visit: Visit) -> Result:
        """Show what accounts held when their banks answered last; no page waits for one."""
        found = (await self.rows.ask(visit, "backoffice.readings")).data["data"]
        read = [each for each in found if each["read_at"]]
        return Shown(
            template="overview/balances.html",
            part="overview/_balances.html",
            data={
                "accounts": len(found),
                "read": len(read),
                "balance": sum((each["balance"] for each in read), Decimal(0)) if read else None,
                "read_at": min((each["read_at"] for each in read), default=""),
            },
        )

    async def refusals(self, visit: Visit) -> Result:
        """Show the most frequent refusals of a period; loaded after the page."""
        since = {"since": visit.query("since")}
        found = await self.rows.ask(visit, "backoffice.requests_summary", query=since)
        return Shown(
            template="overview/refusals.html",
            part="overview/_refusals.html",
            data={"refusals": _by_code(found.data["data"])[:_COMMON]},
        )


def _stopped(found: Section) -> list[str]:
    """Return the ids of what is stopped; the subject of a bank is its name."""
    needs = found.data["attention"] if found.data else ()
    return [each["subject"].partition(":")[2] for each in needs if each["need"] == "stop"]


def _day(visit: Visit, name: str) -> str:
    """Return the local day of an instant in the address; what is none, the row refuses."""
    try:
        return f"{moment(visit.query(name)):%Y-%m-%d}"
    except ValueError:
        return ""


def _figures(found: Section) -> Mapping[str, object]:
    """Return the chart and the shares of an overview; nothing where it cannot be read."""
    if found.problem is not None:
        return {}
    told = found.data
    steps = steps_of(told)
    return {
        "steps": [each for each in steps if each.settled_count or each.other_count],
        "chart": chart_of(steps, _WIDE),
        "small_chart": chart_of(steps, _SMALL),
        "shares": _shares(told),
        "paid": next((each for each in told["states"] if each["state"] == "paid"), None),
    }


def _shares(told: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return how the payouts stand, what is proven first, each with its part of 1000."""
    counts = {each["state"]: each["count"] for each in told["states"]}
    counts["returned"] = told["returned_count"]
    counts["paid"] = counts.get("paid", 0) - told["returned_count"]
    return [
        {
            "certainty": certainty,
            "tone": tone,
            "count": counts[state],
            "part": max(round(1000 * counts[state] / told["count"]), 1),
        }
        for state, (certainty, tone) in _CERTAINTY.items()
        if counts.get(state, 0) > 0
    ]


def _by_code(groups: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Add refusals up over credentials, the most frequent first."""
    added: dict[tuple[str, str], int] = {}
    for each in groups:
        key = each["code"], each["reason"]
        added[key] = added.get(key, 0) + each["count"]
    ordered = sorted(added.items(), key=lambda each: (-each[1], each[0]))
    return [{"code": code, "reason": reason, "count": n} for (code, reason), n in ordered]


def pages(rows: RowCalls) -> Sequence[Page]:
    """Return the overview, and its parts that are loaded after it."""
    shown = OverviewPages(rows)
    return (
        Page(
            path="",
            name="overview",
            summary="Show what needs a person, and what is going on.",
            shows=shown.overview,
        ),
        Page(
            path="/badges",
            name="badges",
            summary="Count what waits for somebody.",
            shows=shown.badges,
        ),
        Page(
            path="/overview/latest",
            name="overview_latest",
            summary="Show the latest payouts.",
            shows=shown.latest,
            needs=_PAYOUTS,
        ),
        Page(
            path="/overview/balances",
            name="overview_balances",
            summary="Show what accounts held when last read.",
            shows=shown.balances,
            needs=_BALANCES,
        ),
        Page(
            path="/overview/refusals",
            name="overview_refusals",
            summary="Show the most frequent refusals.",
            shows=shown.refusals,
            needs=_REQUESTS,
        ),
    )

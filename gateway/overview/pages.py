"""The first page after the sign-in: attention, figures and banks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from gateway.banks.model import WeatherWindow, statuses
from gateway.banks.readings import Readings
from gateway.banks.service import BankReports
from gateway.core.calls import RawRequest
from gateway.core.money import Sum, sum_of
from gateway.core.permissions import Action
from gateway.core.rights import Area, Right
from gateway.http.panel.pages.badges import counted
from gateway.http.panel.pages.formats import machine, moment
from gateway.http.panel.pages.kit import PageContext, Pages, part, typed
from gateway.http.panel.pages.page import Page, Result, Shown
from gateway.http.panel.pages.visit import Visit
from gateway.overview.chart import chart_of, steps_of
from gateway.overview.model import Attention, Need, Overview, Period
from gateway.overview.service import Overviews
from gateway.payouts.documents import is_open, track_word
from gateway.payouts.model import PayoutState
from gateway.payouts.search import PayoutsBody
from gateway.payouts.staff import PayoutRecords
from gateway.request_log.model import RefusalGroup, RequestSearch
from gateway.request_log.searches import SEARCH
from gateway.request_log.service import RequestLog
from policies.validation.bodies import body

_TONES: Final = {
    "settled": "ok",
    "returned": "warn",
    "accepted": "wait",
    "held": "wait",
    "sending": "wait",
    "unknown": "warn",
    "not_sent": "wait",
    "not_executed": "wait",
    "rejected": "bad",
    "failed": "bad",
    "decided_unpaid": "bad",
}
"""The words of the track, in the order of the list, and the tone of each one's part."""
_PAYOUTS: Final = body(PayoutsBody)
_LATEST: Final = 9
_COMMON: Final = 5
_WIDE: Final = 760
_SMALL: Final = 340
_BALANCES: Final = Right(Area.BALANCE, Action.READ)
_REQUESTS: Final = Right(Area.REQUEST_LOG, Action.READ)


def pages(  # noqa: PLR0913, PLR0917 - what its parts call
    overviews: Overviews,
    payouts: PayoutRecords,
    banks: BankReports,
    readings: Readings,
    requests: RequestLog,
    context: PageContext,
) -> Sequence[Page]:
    """Return the overview, and its parts that are loaded after it."""
    panel = Pages("", context)

    @panel.view("", "overview", None)
    async def overview(visit: Visit) -> Result:
        """Show the items that need attention, and the figures."""
        who, asked = panel.staff(visit), visit.query("period")
        period = Period(asked) if asked in set(Period) else Period.TODAY
        found = await part(overviews.read(who, period))
        weather = await part(banks.weather(who, WeatherWindow.QUARTER))
        providers = await part(banks.providers(who))
        needs = [*found.data.attention, *found.data.others] if found.data else []
        return Shown(
            template="overview/overview.html",
            data={
                "period": period,
                "found": found,
                "names": await panel.names(visit, _stopped(needs)),
                **(_figures(found.data) if found.data else {}),
                "sky": statuses(providers.data or (), weather.data or (), weather.data or ()),
                "weather": weather,
                "reads_requests": visit.may(_REQUESTS),
                "reads_balances": visit.may(_BALANCES),
            },
        )

    @panel.view("/badges", "badges", None)
    async def badges(visit: Visit) -> Result:
        """Count the waiting work beside the side column's entries."""
        visit.counts = await counted(payouts.open_work(panel.staff(visit)))
        return Shown(template="overview/badges.html", part="overview/_badges.html")

    @panel.view("/overview/latest", "overview_latest", overviews.read)
    async def latest(visit: Visit) -> Result:
        """Show the latest payouts."""
        who = panel.staff(visit)
        found = (await payouts.search(who, typed(_PAYOUTS, _days(visit)))).to_document(who).data
        return Shown(
            template="overview/latest.html",
            part="overview/_latest.html",
            data={"payouts": found, "is_open": is_open(found)},
        )

    @panel.view("/overview/balances", "overview_balances", readings.look)
    async def balances(visit: Visit) -> Result:
        """Show the accounts' last known balances."""
        found = await readings.look(panel.staff(visit))
        read = [each.balance for each in found if each.read_at and isinstance(each.balance, Sum)]
        return Shown(
            template="overview/balances.html",
            part="overview/_balances.html",
            data={
                "accounts": len(found),
                "read": len(read),
                "balance": sum_of(read) if read else None,
                "read_at": min((each.read_at for each in found if each.read_at), default=""),
            },
        )

    @panel.view("/overview/refusals", "overview_refusals", requests.summary)
    async def refusals(visit: Visit) -> Result:
        """Show the most frequent refusals."""
        found = await requests.summary(panel.staff(visit), _since(visit))
        return Shown(
            template="overview/refusals.html",
            part="overview/_refusals.html",
            data={"refusals": _by_code(found)[:_COMMON]},
        )

    return panel.pages


def _since(visit: Visit) -> RequestSearch:
    """Read the start of the period; VALIDATION_FAILED for an invalid instant."""
    since = [visit.query("since")]
    return SEARCH.read(RawRequest(path={}, query={"since": since} if any(since) else {}))


def _stopped(needs: Sequence[Attention]) -> list[str]:
    """Return the ids of stopped or debited subjects; a bank's subject is its name."""
    about = {Need.STOP, Need.FOREIGN_DEBIT}
    return [each.subject.partition(":")[2] for each in needs if each.need in about]


def _days(visit: Visit) -> Mapping[str, object]:
    return {"init": _day(visit, "since"), "ends": _day(visit, "until"), "limit": _LATEST}


def _day(visit: Visit, name: str) -> str:
    """Return the local day of an instant in the address; the search refuses an invalid one."""
    try:
        return moment(visit.query(name)).date().isoformat()
    except ValueError:
        return ""


def _figures(overview: Overview) -> Mapping[str, object]:
    steps = steps_of(overview)
    paid = next((each for each in overview.states if each.state is PayoutState.PAID), None)
    settled = paid.value.centavos if paid else 0
    return {
        "since": machine(overview.since),
        "until": machine(overview.until),
        "steps": [each for each in steps if each.settled_count or each.other_count],
        "chart": chart_of(steps, _WIDE),
        "small_chart": chart_of(steps, _SMALL),
        "shares": _shares(overview),
        "paid": paid.count if paid else 0,
        "kept": Sum(settled - overview.returned.centavos),
    }


def _shares(overview: Overview) -> list[Mapping[str, Any]]:
    """Return the shares by state, proven first, in parts of 1000."""
    counts = Counter({"returned": overview.returned_count, "settled": -overview.returned_count})
    for each in overview.proven:
        counts[track_word(each.state, each.certainty)] += each.count
    return [
        {
            "certainty": word,
            "tone": tone,
            "count": counts[word],
            "part": max(round(1000 * counts[word] / overview.count), 1),
        }
        for word, tone in _TONES.items()
        if counts[word] > 0
    ]


def _by_code(groups: Sequence[RefusalGroup]) -> list[Mapping[str, Any]]:
    """Sum refusals over credentials, the most frequent first."""
    added: dict[tuple[str, str], int] = {}
    for each in groups:
        key = each.code, each.reason
        added[key] = added.get(key, 0) + each.count
    ordered = sorted(added.items(), key=lambda each: (-each[1], each[0]))
    return [{"code": code, "reason": reason, "count": n} for (code, reason), n in ordered]

"""Pages of payouts: the list over all accounts, and one payout with its evidence."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from types import MappingProxyType
from typing import Any, Final

from gateway.banks.port.payout_orders import FailureCode
from gateway.banks.service import BankReports
from gateway.core.access import Staff
from gateway.core.errors import PAYOUT_NOT_FOUND, ServiceError
from gateway.core.money import Sum, sum_of
from gateway.core.permissions import Action, client_of
from gateway.core.priority import Priority
from gateway.core.rights import Area, Right
from gateway.core.schemas import instant
from gateway.core.windows import DEFAULT_LIMIT, LOCAL
from gateway.http.panel.pages.formats import day_of, typed_money
from gateway.http.panel.pages.kit import PageContext, Pages, page_asked, part, typed
from gateway.http.panel.pages.page import Download, Page, Redirect, Result, Shown
from gateway.http.panel.pages.visit import Visit, address, own_path
from gateway.http.rendering import pretty
from gateway.http.routing import CSV
from gateway.payouts.documents import (
    DossierDocument,
    PayoutCounts,
    PayoutDetail,
    PayoutsFoundDocument,
    StateCount,
    is_open,
    track_word,
)
from gateway.payouts.holds import HoldDecisions, RefusalBody
from gateway.payouts.model import FINAL_STATES, Certainty, CertaintySought, PayoutState
from gateway.payouts.search import PayoutFilterBody, PayoutsBody
from gateway.payouts.staff import PayoutActs, PayoutRecords
from policies.validation.bodies import body, of_form
from policies.validation.inputs import REFERENCE

Deliveries = Callable[[Staff, str, str], Awaitable[Sequence[Any]]]
"""Lists what endpoints were told of the payout of an account and a reference."""

_PATH: Final = "/accounts/{account_id}/payouts/{reference}"
_JUDGES: Final = Right(Area.REVIEW, Action.WRITE)
_APPROVALS: Final = Right(Area.APPROVAL, Action.READ)
_STOPS: Final = Right(Area.STOP, Action.WRITE)
_LINKED: Final = (Area.CREDENTIAL, Area.REQUEST_LOG, Area.USER)
"""What the page links to where the person may read it."""
_JSON: Final = "application/json; charset=utf-8"
_NOT_OF_A_NAME: Final = re.compile(r"[^A-Za-z0-9._-]+")
_NAME_CHARS: Final = 60
_YESTERDAY: Final = "yesterday"
_DAYS: Final = ("1", _YESTERDAY, "7", "30", "90")
_WEEK: Final = 7
_WORDS: Final = ("provider", "account_id", "client_id", "method", "failure", "order", "text")
_DATES: Final = ("init", "ends")
_AMOUNTS: Final = ("least", "most")
_CHIPS: Final = ("text", "client_id", "method", "failure", "least", "most", "init", "ends")
_TABS: Final[Mapping[str, Mapping[str, object]]] = MappingProxyType(
    {
        "": {},
        "held": {"states": ["held"]},
        "open": {"states": ["sending", "accepted"], "unresolved": False},
        "unknown": {"unresolved": True},
        "never_sent": {"certainty": "never_sent"},
        "not_executed": {"certainty": "not_executed"},
        "not_sent": {"certainty": "not_sent"},
        "paid": {"states": ["paid"], "returned": False},
        "returned": {"returned": True},
        "failed": {"certainty": "confirmed_rejected"},
    }
)
"""What each tab asks for; the first is all, ``not_sent`` the two before it as in old addresses."""
_NOTHING: Final = PayoutsFoundDocument([], PayoutCounts([], complete=True), "")
_SEARCH: Final = body(PayoutsBody)
_FILTER: Final = body(PayoutFilterBody)


@dataclass(frozen=True, slots=True)
class PayoutPages:
    """The list, and one payout; only the probe waits for a bank."""

    panel: Pages
    banks: BankReports
    records: PayoutRecords
    acts: PayoutActs
    holds: HoldDecisions
    deliveries: Deliveries

    async def export(self, visit: Visit) -> Result:
        """Download a search of payouts as a table."""
        who = self.panel.staff(visit)
        every = asked(visit, who.acting.now())
        wanted = {name: each for name, each in every.items() if name not in {"after", "page"}}
        found = await self.records.export(who, typed(_FILTER, wanted))
        return Download(
            content=found.first, content_type=CSV, filename="payouts.csv", rest=found.rest
        )

    async def listed(self, visit: Visit) -> Result:
        """Search the payouts of every account."""
        result = await part(self._found(visit))
        found = result.data or _NOTHING
        providers = await part(self.banks.providers(self.panel.staff(visit)))
        data = {
            "found": found,
            "problem": result.problem,
            "tabs": _counted(found.counts.by_state),
            "sums": _sums(found.counts.by_state, _TABS[_tab(visit)]),
            "page": page_asked(visit),
            "limit": DEFAULT_LIMIT,
            "tab": _tab(visit),
            "chips": [(name, visit.query(name)) for name in _CHIPS if visit.query(name)],
            "accounts": await self.panel.accounts(visit),
            "providers": providers.data or (),
            "days": "" if any(map(visit.query, _DATES)) else visit.query("days") or str(_WEEK),
            "all_days": _DAYS,
            "failures": list(FailureCode),
            "may_order": self.panel.may(visit, self.acts.order),
            "export": _export(visit) if self.panel.may(visit, self.records.export) else "",
            "is_open": is_open(found.data),
            "is_archived": self._is_archived(visit),
        }
        return Shown(template="money/payouts.html", part="money/_payouts.html", data=data)

    def _is_archived(self, visit: Visit) -> bool:
        """Return whether the list begins before the oldest month that is kept whole."""
        kept_from = self.records.kept_from(self.panel.staff(visit).acting.now())
        first = day_of(visit.query("init") or visit.query("ends"))
        return kept_from is not None and first is not None and first < kept_from

    async def _found(self, visit: Visit) -> PayoutsFoundDocument:
        who = self.panel.staff(visit)
        found = await self.records.search(who, typed(_SEARCH, asked(visit, who.acting.now())))
        return found.to_document(who)

    async def _detail(self, visit: Visit) -> PayoutDetail:
        account = await self.panel.account(visit)
        return await self.records.detail(
            self.panel.staff(visit), account, REFERENCE.read(visit.call.asked)
        )

    async def _known(self, visit: Visit) -> dict[str, Any]:
        found = await self._detail(visit)
        payout, dossier = found.payout, found.to_document(self.panel.staff(visit))
        back, moved = sum_of(each.value for each in found.returns), payout.moved_value
        word = track_word(dossier.state, dossier.certainty)
        events = list(collapse_repeats(timeline(found, dossier)))
        sent = [each["at"] for each in events if each["kind"] == "sent"]
        number = dossier.payout["destination"].get("bank_number", "")
        return {
            "dossier": dossier,
            "payout": dossier.payout,
            "account": dossier.account,
            "bank": await self.panel.bank(visit, number),
            "paying": found.account.coordinates,
            "people": found.people,
            "account_id": payout.account_id,
            "word": "returned" if back.centavos else word,
            "back": back if back.centavos else None,
            "moved": Sum(moved.centavos),
            "kept": Sum(moved.centavos - back.centavos),
            "is_final": payout.state in FINAL_STATES,
            "timeline": events,
            "sent_at": sent[-1] if sent else None,
            "by_people": any(
                each["kind"] == "decided" and "e2e_id" not in each["facts"] for each in events
            ),
            "may_probe": self.panel.may(visit, self.acts.probe),
            "may_decide": self.panel.may(visit, self.holds.release),
            "is_own": payout.client_id == client_of(_me(visit)),
            "barred": await self.holds.why_not(self.panel.staff(visit), payout)
            if payout.state is PayoutState.HELD
            else "",
            "may_judge": visit.may(_JUDGES),
            "may_stop": visit.may(_STOPS),
            "reads_approvals": visit.may(_APPROVALS),
            "reads": visit.reads(*_LINKED),
            "here": _address(visit),
        }

    async def payout(self, visit: Visit) -> Result:
        """Show a payout with its attempts and evidence."""
        data = await self._known(visit)
        data["deliveries"] = ()
        if data["is_final"]:  # endpoints are told of the end
            who, account_id = self.panel.staff(visit), data["account_id"]
            told = self.deliveries(who, account_id, data["payout"]["reference"])
            data["deliveries"] = (await part(told)).data or ()
        return Shown(template="money/payout.html", part="money/_payout.html", data=data)

    async def receipt(self, visit: Visit) -> Result:
        """
        Show the receipt to be printed.

        Raises:
            ServiceError: ``SVC.PIX.011`` (404) for a payout that is not settled.
        """
        data = await self._known(visit)
        if data["dossier"].state != PayoutState.PAID:
            raise ServiceError(PAYOUT_NOT_FOUND, "not_paid")
        return Shown(template="money/receipt.html", data=data)

    async def certainty(self, visit: Visit) -> Result:
        """Show the proofs in a payout's record, for the customer, to be printed."""
        data = await self._known(visit)
        events, dossier = data["timeline"], data["dossier"]
        proofs = [each for each in events if each.get("state") == dossier.state]
        ordered_at = data["people"].ordered_at if data["people"] else None
        is_proven = dossier.certainty != Certainty.SENT_UNKNOWN
        data |= {
            "now": self.panel.staff(visit).acting.now(),
            "proof": proofs[-1] if is_proven and proofs else None,
            "approved_at": data["payout"]["created_at"] if ordered_at else None,
            "ordered_at": ordered_at or data["payout"]["created_at"],
        }
        return Shown(template="money/certainty.html", data=data)

    async def dossier(self, visit: Visit) -> Result:
        """Download all details."""
        content = pretty((await self._detail(visit)).to_document(self.panel.staff(visit)))
        name = _NOT_OF_A_NAME.sub("-", visit.parameter("reference"))[:_NAME_CHARS]
        return Download(content=content, content_type=_JSON, filename=f"payout-{name}.json")

    async def probe(self, visit: Visit) -> Result:
        """Query the bank about a payout now."""
        account = await self.panel.account(visit)
        await self.acts.probe(self.panel.staff(visit), account, REFERENCE.read(visit.call.asked))
        back = visit.form["back"]
        return Redirect(own_path(back) if back else f"{_address(visit)}?probed=1")

    async def release(self, visit: Visit) -> Result:
        """Let a held payout go."""
        account = await self.panel.account(visit)
        reference = REFERENCE.read(visit.call.asked)
        await self.holds.release(self.panel.staff(visit), account, reference)
        return Redirect(_address(visit))

    async def refuse(self, visit: Visit) -> Result:
        """Refuse a held payout, with a reason."""
        account = await self.panel.account(visit)
        reference = REFERENCE.read(visit.call.asked)
        why = of_form(visit.form, RefusalBody)
        await self.holds.refuse(self.panel.staff(visit), account, reference, why)
        return Redirect(_address(visit))


def pages(  # noqa: PLR0913, PLR0917 - what a payout's page shows
    records: PayoutRecords,
    acts: PayoutActs,
    holds: HoldDecisions,
    banks: BankReports,
    deliveries: Deliveries,
    context: PageContext,
) -> Sequence[Page]:
    """Return the pages."""
    panel, read = Pages("", context), records.detail
    does = PayoutPages(panel, banks, records, acts, holds, deliveries)
    csv, json = ("text/csv",), ("application/json",)
    panel.view(
        "/payouts/export", "payouts_export", records.export, media=csv, priority=Priority.HEAVY
    )(does.export)
    panel.view("/payouts", "payouts", records.search)(does.listed)
    payout = panel.view(_PATH, "payout", read)(does.payout)
    panel.view(f"{_PATH}/receipt", "payout_receipt", read)(does.receipt)
    panel.view(f"{_PATH}/certainty", "payout_certainty", read)(does.certainty)
    panel.view(f"{_PATH}/dossier", "payout_dossier", read, media=json)(does.dossier)
    panel.form(f"{_PATH}/probe", "payout_probe", acts.probe, shows=payout)(does.probe)
    panel.form(f"{_PATH}/release", "payout_release", holds.release, shows=payout)(does.release)
    panel.form(f"{_PATH}/refuse", "payout_refuse", holds.refuse, shows=payout)(does.refuse)
    return panel.pages


def timeline(found: PayoutDetail, dossier: DossierDocument) -> Sequence[Mapping[str, Any]]:
    """Return the timeline, each entry with its kind and instant, in order."""
    tries = {each.number: each for each in dossier.attempts}
    reasons = {(each.by, instant(each.at)): each.reason for each in dossier.opinions}
    settled = [{"kind": "settled", "at": found.payout.settled_at}] * bool(found.payout.settled_at)
    returned = [{"kind": "returned", "at": each.at, "returned": each} for each in found.returns]
    events = [*_happenings(dossier, tries, reasons), *settled, *returned]
    return sorted(events, key=lambda each: instant(each["at"]))


def _happenings(
    dossier: DossierDocument,
    tries: Mapping[int, object],
    reasons: Mapping[tuple[str, str], str],
) -> Iterator[Mapping[str, Any]]:
    word = ""
    for each in dossier.timeline:
        # Tries of an archived payout are in its file; its events may be kept for longer.
        archived = {"number": each.attempt, "provider": dossier.provider}
        before, word = word, _track(each.state, each.certainty_after, word)
        yield {
            "kind": each.kind,
            "at": each.at,
            "state": each.state,
            "facts": each.facts,
            "attempt": tries.get(each.attempt, archived),
            "before": before,
            "after": word,
            "reason": reasons.get((each.facts.get("by", ""), instant(each.at)), ""),
        }


def collapse_repeats(events: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """Return entries in order; repeated queries with one result become the last of them."""
    for found, run in groupby(events, _found_nothing_new):
        same = list(run)
        if not found:
            yield from same
        else:
            yield {**same[-1], "times": len(same), "first_at": same[0]["at"]}


def _found_nothing_new(event: Mapping[str, Any]) -> tuple[object, ...]:
    """Return the result of a query without effect; empty for every other event."""
    if event["kind"] != "probed" or event["state"]:
        return ()
    facts = event["facts"]
    return ("probed", facts.get("found"), "review" in facts)


def _track(state: str, certainty: str, before: str) -> str:
    """Return the track's word after an event; unchanged if the event moved nothing."""
    return track_word(state, certainty) if state else before


def _me(visit: Visit) -> str:
    return "" if visit.person is None else visit.person.user_id


def _address(visit: Visit) -> str:
    path = {name: visit.parameter(name) for name in ("account_id", "reference")}
    return address(f"/panel{_PATH}", **path)


def asked(visit: Visit, now: datetime) -> dict[str, object]:
    """
    Return the search of the address.

    Raises:
        ServiceError: an amount is not written as amounts are.
    """
    body: dict[str, object] = {
        **_TABS[_tab(visit)],
        **{name: visit.query(name) for name in _WORDS if visit.query(name)},
        **{name: typed_money(visit.query(name), name) for name in _AMOUNTS if visit.query(name)},
    }
    dates: dict[str, object] = {n: _day(visit.query(n)) for n in _DATES if visit.query(n)}
    body |= dates or _period(visit.query("days"), now)
    if visit.query("after"):
        body["after"] = visit.query("after")
    return body | ({"page": page_asked(visit)} if visit.query("page") else {})


def _period(days: str, now: datetime) -> Mapping[str, object]:
    """Return the window of an offered period; a week for any other."""
    if days == _YESTERDAY:
        day = (now.astimezone(LOCAL).date() - timedelta(days=1)).isoformat()
        return {"init": day, "ends": day}
    return {"days": int(days) if days in _DAYS else _WEEK}


def _day(text: str) -> str:
    """Format a day for the route; an invalid one is passed on, and the route refuses it."""
    day = day_of(text)
    return day.isoformat() if day else text


def _export(visit: Visit) -> str:
    path, _, query = visit.with_query(after="", page="").partition("?")
    return f"{path}/export?{query}" if query else f"{path}/export"


def _tab(visit: Visit) -> str:
    tab = visit.query("tab")
    return tab if tab in _TABS else ""


def _counted(by_state: Sequence[StateCount]) -> dict[str, int]:
    """Return the number of payouts on each tab."""
    return {
        tab: sum(each.count for each in by_state if _belongs(each, wanted))
        for tab, wanted in _TABS.items()
    }


def _sums(by_state: Sequence[StateCount], wanted: Mapping[str, object]) -> Mapping[str, Sum]:
    """Return the totals of a tab: ordered, paid, and returned."""
    chosen = [each for each in by_state if _belongs(each, wanted)]
    paid = [each for each in chosen if each.state is PayoutState.PAID]
    return {
        "ordered": sum_of(each.value for each in chosen),
        "paid": sum_of(each.moved for each in paid),
        "returned": sum_of(each.returned_value for each in paid),
    }


def _belongs(counted: StateCount, wanted: Mapping[str, object]) -> bool:
    if wanted.get("returned") not in {None, counted.returned}:
        return False
    is_unresolved = counted.review or counted.state == PayoutState.UNKNOWN
    if wanted.get("unresolved") not in {None, is_unresolved}:
        return False
    states = wanted.get("states")
    if isinstance(states, list):
        return counted.state in states
    sought = wanted.get("certainty")
    return sought is None or counted.certainty in CertaintySought(str(sought)).words

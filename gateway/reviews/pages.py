"""Pages of payouts without a proven outcome, oldest first, with two users' opinions."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from urllib.parse import urlencode

from gateway.core.errors import ServiceError
from gateway.core.money import sum_of
from gateway.core.rights import Area
from gateway.core.structs import struct_of
from gateway.core.user_errors import VALIDATION_FAILED
from gateway.core.windows import LARGEST_LIMIT, Paging
from gateway.http.panel.pages.formats import typed_money
from gateway.http.panel.pages.kit import PageContext, Pages, part, typed
from gateway.http.panel.pages.page import Page, Redirect, Result, Shown
from gateway.http.panel.pages.visit import Visit
from gateway.payouts.documents import AttemptDocument, PayoutDetail
from gateway.payouts.staff import PayoutRecords
from gateway.reviews.model import JudgementBody, Progress, UnresolvedDocument, WithdrawalBody
from gateway.reviews.probes import UnresolvedProbes
from gateway.reviews.service import Reviews
from policies.validation.bodies import body
from policies.validation.forms import Form

_LINKED: Final = (Area.CREDENTIAL, Area.REQUEST_LOG, Area.USER)
"""What the page links to where the person may read it."""
_JUDGEMENT: Final = body(JudgementBody)
_WITHDRAWAL: Final = body(WithdrawalBody)
_OLDEST: Final = Paging(1, LARGEST_LIMIT)
"""The oldest; who has more empties these first."""
_ON_PAGE: Final = 30
"""Each takes 1.4 KB, and a page at most 60."""
_PAGES: Final = frozenset(str(number) for number in range(1, -(-LARGEST_LIMIT // _ON_PAGE) + 1))
_REASON_CHARS: Final = 10
"""A source and a number; less says nothing to whoever reads the audit log."""
_OF_ALL: Final = "/panel/unresolved/probe"
_DECIDED: Final = "/panel/unresolved?said=decided"
_COUNTS: Final = ("asked", "proven", "just_asked", "ended", "no_time")
_COUNTED: Final = re.compile(r"\d{1,9}", re.ASCII)
_OLD_S: Final = 15 * 60
"""As old as the alert on the oldest one."""


class _Row(UnresolvedDocument, frozen=True, kw_only=True):
    """A payout with its age, its latest try and its next look."""

    latest: AttemptDocument | None
    next_look: datetime | None
    age_s: int
    is_old: bool

    @classmethod
    def of(cls, found: UnresolvedDocument, created_at: datetime, now: datetime) -> _Row:
        latest = found.attempts[-1] if found.attempts else None
        age_s = int((now - created_at).total_seconds())
        return struct_of(
            cls,
            found,
            latest=latest,
            next_look=latest.next_probe_at if latest else None,
            age_s=max(0, age_s),
            is_old=age_s > _OLD_S,
        )


@dataclass(frozen=True, slots=True)
class ReviewPages:
    """The list, and the opinion on one payout."""

    panel: Pages
    reviews: Reviews
    probes: UnresolvedProbes
    records: PayoutRecords

    async def listed(self, visit: Visit) -> Result:
        """List unproven payouts, oldest first."""
        who = self.panel.staff(visit)
        at, found = who.acting.now(), await part(self.reviews.unresolved(who, _OLDEST))
        items = [
            _Row.of(each.to_document(who), each.found.payout.created_at, at)
            for each in (found.data.items if found.data else ())
        ]
        waiting = [each for each in items if each.review]
        rows = waiting if visit.query("only") == "people" else items
        chosen = _chosen(visit, rows)
        data = {
            "found": found,
            "total": found.data.total if found.data else 0,
            **_paged(visit, rows),
            "waiting": waiting,
            "sum": sum_of(each.value for each in items),
            "oldest": items[0] if items else None,
            "next_look": min((each.next_look for each in items if each.next_look), default=""),
            "chosen": chosen,
            "shows": await self.shows(visit, chosen),
            "here": _again(visit, chosen),
            "is_own": await self.is_own(visit, chosen),
            "may_judge": self.panel.may(visit, self.reviews.judge),
            "may_probe": self.panel.may(visit, self.probes.probe_all),
            "reads": visit.reads(*_LINKED),
            "read_at": at,
            "probed": _probed(visit),
            "is_of_all": visit.act == _OF_ALL,
        }
        return Shown(template="money/unresolved.html", part="money/_unresolved.html", data=data)

    async def shows(self, visit: Visit, chosen: _Row | None) -> object:
        """Return the amount moved of a payout in review, where it differs from the order."""
        if chosen is None or not chosen.review:
            return None
        read = await part(self._detail(visit, chosen.account_id, chosen.reference))
        return read.data.to_document(self.panel.staff(visit)).bank_shows if read.data else None

    async def is_own(self, visit: Visit, chosen: _Row | None) -> bool:
        """Return whether the user ordered or approved the payout in review."""
        if chosen is None or not chosen.review:
            return False
        account = await self.panel.account(visit, chosen.account_id)
        return await self.reviews.is_own(self.panel.staff(visit), account, chosen.reference)

    async def _detail(self, visit: Visit, account_id: str, reference: str) -> PayoutDetail:
        account = await self.panel.account(visit, account_id)
        return await self.records.detail(self.panel.staff(visit), account, reference)

    async def probe(self, visit: Visit) -> Result:
        """Query banks about all unproven payouts."""
        found = await self.probes.probe_all(self.panel.staff(visit))
        counts = {name: str(getattr(found, name)) for name in _COUNTS}
        return Redirect(f"/panel/unresolved?{urlencode(counts)}")

    async def judge(self, visit: Visit) -> Result:
        """
        Record how a payout ended, and the user's reason.

        The typed amount is the amount that the bank moved, if it paid.

        Raises:
            ServiceError: as ``judge``; ``VALIDATION_FAILED`` for an invalid amount, or a reason
                too short to be checked.
        """
        form = visit.form
        value = typed_money(form["value"], "value")
        if len(form["reason"]) < _REASON_CHARS:
            raise ServiceError(VALIDATION_FAILED, "length", field="reason")
        names = ("account_id", "reference", "verdict", "reason")
        said = {"value": value, **{name: form[name] for name in names}}
        state = await self.reviews.judge(self.panel.staff(visit), typed(_JUDGEMENT, said))
        if state.progress is Progress.DECIDED:
            return Redirect(_DECIDED)
        return _kept(form, state.progress)

    async def withdraw(self, visit: Visit) -> Result:
        """Withdraw the caller's own opinion."""
        said = {name: visit.form[name] for name in ("account_id", "reference")}
        await self.reviews.withdraw(self.panel.staff(visit), typed(_WITHDRAWAL, said))
        return _kept(visit.form, "withdrawn")


def pages(
    reviews: Reviews, probes: UnresolvedProbes, records: PayoutRecords, context: PageContext
) -> Sequence[Page]:
    """Return the list, and the forms on it."""
    panel = Pages("/unresolved", context)
    does = ReviewPages(panel, reviews, probes, records)
    listed = panel.view("", "unresolved", reviews.unresolved)(does.listed)
    panel.form("/probe", "unresolved_probe", probes.probe_all, shows=listed)(does.probe)
    panel.form("", "unresolved_judge", reviews.judge, shows=listed)(does.judge)
    panel.form("/withdraw", "unresolved_withdraw", reviews.withdraw, shows=listed)(does.withdraw)
    return panel.pages


def _kept(form: Form, said: str) -> Redirect:
    """Redirect to the payout if it is still open, with the form's result."""
    query = {"account": form["account_id"], "reference": form["reference"], "said": said}
    return Redirect(f"/panel/unresolved?{urlencode(query)}")


def _paged(visit: Visit, rows: Sequence[_Row]) -> dict[str, Any]:
    """Cut the requested page, with the addresses of its neighbours."""
    asked, last = visit.query("page"), max(-(-len(rows) // _ON_PAGE), 1)
    page = min(int(asked), last) if asked in _PAGES else 1
    return {
        "items": rows[(page - 1) * _ON_PAGE : page * _ON_PAGE],
        "newer": visit.with_query(page=str(page - 1)) if page > 1 else "",
        "older": visit.with_query(page=str(page + 1)) if page < last else "",
    }


def _probed(visit: Visit) -> Mapping[str, int] | None:
    """Return the result of probing all payouts, from the address; None without a probe."""
    said = {name: visit.query(name) for name in _COUNTS}
    if not all(_COUNTED.fullmatch(each) for each in said.values()):
        return None
    return {name: int(each) for name, each in said.items()}


def _again(visit: Visit, chosen: _Row | None) -> str:
    """Return the address of the list as shown, without the last action's result."""
    names = dict.fromkeys(("said", *_COUNTS), "")
    account, reference = (chosen.account_id, chosen.reference) if chosen else ("", "")
    return visit.with_query(**names, account=account, reference=reference)


def _chosen(visit: Visit, items: Sequence[_Row]) -> _Row | None:
    """
    Return the payout that the address or form names, else the oldest in review.

    If the named payout is no longer listed, no other payout is shown in its place.
    """
    asked = (visit.form["account_id"], visit.form["reference"])
    if not any(asked):
        asked = (visit.query("account"), visit.query("reference"))
    named = [each for each in items if (each.account_id, each.reference) == asked]
    if any(asked):
        return next(iter(named), None)
    return next(iter([*(each for each in items if each.review), *items]), None)

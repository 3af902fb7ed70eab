"""Payouts without a proven outcome: oldest first, with what two people say of each."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, Final
from urllib.parse import urlencode

from gateway.domain.accounts.credentials import Action
from gateway.domain.identity.errors import VALIDATION_FAILED
from gateway.domain.identity.rights import Area, Right
from gateway.domain.kernel.errors import ServiceError
from gateway.http.panel.pages.calls import RowCalls, Section
from gateway.http.panel.pages.formats import moment, typed_money
from gateway.http.panel.pages.page import Page, Redirect, Result, Shown
from gateway.http.panel.pages.visit import Visit
from gateway.http.panel.screens.money.payout import PROBES, links
from policies.validation.forms import Form

_READS: Final = Right(Area.REVIEW, Action.READ)
_JUDGES: Final = Right(Area.REVIEW, Action.WRITE)
_SHOWN: Final = "100"
"""The oldest; who has more empties these first."""
_ON_PAGE: Final = 30
"""Each takes 1.4 KB, and a page at most 60."""
_PAGES: Final = frozenset(str(number) for number in range(1, -(-int(_SHOWN) // _ON_PAGE) + 1))
_REASON_CHARS: Final = 10
"""A source and a number; less says nothing to whoever reads the audit log."""
_OF_ALL: Final = "/panel/unresolved/probe"
_DECIDED: Final = "/panel/unresolved?said=decided"
_COUNTS: Final = ("asked", "proven", "just_asked", "ended", "no_time")
_COUNTED: Final = re.compile(r"\d{1,9}", re.ASCII)
_OLD_S: Final = 15 * 60
"""As old as the alert on the oldest one."""


@dataclass(frozen=True, slots=True)
class UnresolvedPages:
    """The list, and the opinion on one of them."""

    rows: RowCalls
    now: Callable[[], datetime]

    async def list(self, visit: Visit) -> Result:
        """Show a page of them, and the one that was chosen."""
        found = await self.rows.section(visit, "backoffice.unresolved", limit=_SHOWN)
        items = [self._item(each) for each in found.data["data"]] if found.data else []
        waiting = [each for each in items if each["review"]]
        shown = waiting if visit.query("only") == "people" else items
        chosen = _chosen(visit, shown)
        data = {
            "found": found,
            "total": _total(found),
            **_paged(visit, shown),
            "waiting": waiting,
            "sum": sum((each["value"] for each in items), Decimal(0)),
            "oldest": items[0] if items else None,
            "next_look": min(
                (each["next_look"] for each in items if each["next_look"]), default=""
            ),
            "chosen": chosen,
            "shows": await self._shows(visit, chosen),
            "here": _again(visit, chosen),
            "may_judge": visit.may(_JUDGES),
            "may_probe": visit.may(PROBES),
            "reads": links(visit),
            "read_at": self.now(),
            "probed": _probed(visit),
            "is_of_all": visit.act == _OF_ALL,
        }
        return Shown(template="money/unresolved.html", part="money/_unresolved.html", data=data)

    async def probe(self, visit: Visit) -> Result:
        """Ask banks about all of them, and show what came of it."""
        said = await self.rows.ask(visit, "backoffice.unresolved_probe")
        counts = {name: str(said.data[name]) for name in _COUNTS}
        return Redirect(f"/panel/unresolved?{urlencode(counts)}")

    async def judge(self, visit: Visit) -> Result:
        """
        Keep an opinion; two that agree end the payout.

        The amount that is typed is what the bank moved, if it paid.

        Raises:
            ServiceError: what the row refuses with; ``VALIDATION_FAILED`` for what is no
                amount, or a reason too short to be checked.
        """
        form = visit.form
        value = typed_money(form["value"], "value")
        if len(form["reason"]) < _REASON_CHARS:
            raise ServiceError(VALIDATION_FAILED, "length", field="reason")
        names = ("account_id", "reference", "verdict", "reason")
        said = await self.rows.ask(
            visit,
            "backoffice.review_judge",
            body={"value": value, **{name: form[name] for name in names}},
        )
        progress = said.data["progress"]
        return _kept(form, progress) if progress != "decided" else Redirect(_DECIDED)

    async def withdraw(self, visit: Visit) -> Result:
        """Withdraw one's opinion; one may give another."""
        names = ("account_id", "reference")
        body = {name: visit.form[name] for name in names}
        await self.rows.ask(visit, "backoffice.review_withdraw", body=body)
        return _kept(visit.form, "withdrawn")

    async def _shows(
        self, visit: Visit, chosen: Mapping[str, Any] | None
    ) -> Mapping[str, Any] | None:
        """Return what the bank moved of one in review, where that is not what was ordered."""
        if chosen is None or not chosen["review"]:
            return None
        path = {name: chosen[name] for name in ("account_id", "reference")}
        found = await self.rows.section(visit, "backoffice.withdraw_dossier", path)
        return found.data.get("bank_shows") if found.data else None

    def _item(self, each: Mapping[str, Any]) -> dict[str, Any]:
        """Return one with its age, its latest try and its next look."""
        latest = each["attempts"][-1] if each["attempts"] else None
        age_s = int((self.now() - moment(each["created_at"])).total_seconds())
        return {
            **each,
            "latest": latest,
            "next_look": latest["next_probe_at"] if latest else "",
            "age_s": max(0, age_s),
            "is_old": age_s > _OLD_S,
        }


def _kept(form: Form, said: str) -> Redirect:
    """Lead back to the payout that is still open, and say there what came of the form."""
    query = {"account": form["account_id"], "reference": form["reference"], "said": said}
    return Redirect(f"/panel/unresolved?{urlencode(query)}")


def _paged(visit: Visit, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Cut the page that is asked for, with the addresses of those beside it."""
    asked, last = visit.query("page"), max(-(-len(rows) // _ON_PAGE), 1)
    page = min(int(asked), last) if asked in _PAGES else 1
    return {
        "items": rows[(page - 1) * _ON_PAGE : page * _ON_PAGE],
        "newer": visit.with_query(page=str(page - 1)) if page > 1 else "",
        "older": visit.with_query(page=str(page + 1)) if page < last else "",
    }


def _probed(visit: Visit) -> Mapping[str, int] | None:
    """Return what came of asking about all, as the address says; None where nobody has."""
    said = {name: visit.query(name) for name in _COUNTS}
    if not all(_COUNTED.fullmatch(each) for each in said.values()):
        return None
    return {name: int(each) for name, each in said.items()}


def _total(found: Section) -> int:
    return int(found.data["meta"]["total"]) if found.data else 0


def _again(visit: Visit, chosen: Mapping[str, Any] | None) -> str:
    """Return the address of the list as it is shown; what has just been done is not in it."""
    names = dict.fromkeys(("said", *_COUNTS), "")
    asked = chosen or {"account_id": "", "reference": ""}
    return visit.with_query(**names, account=asked["account_id"], reference=asked["reference"])


def _chosen(visit: Visit, items: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """
    Return the one that the address or the form names, else the oldest that waits for people.

    Where the one that is named is not here any more, no other stands in its place: what was
    typed, or read, was about that one.
    """
    asked = (visit.form["account_id"], visit.form["reference"])
    if not any(asked):
        asked = (visit.query("account"), visit.query("reference"))
    named = [each for each in items if (each["account_id"], each["reference"]) == asked]
    if any(asked):
        return next(iter(named), None)
    return next(iter([*(each for each in items if each["review"]), *items]), None)


def pages(rows: RowCalls) -> Sequence[Page]:
    """Return the list and the forms on it."""
    shows = UnresolvedPages(rows, rows.now)
    return (
        Page(
            path="/unresolved/probe",
            name="unresolved_probe",
            summary="Ask banks about everything that is not proven.",
            needs=PROBES,
            shows=shows.list,
            does=shows.probe,
        ),
        Page(
            path="/unresolved",
            name="unresolved",
            summary="List what is not proven, oldest first.",
            needs=_READS,
            shows=shows.list,
        ),
        Page(
            path="/unresolved",
            name="unresolved_judge",
            summary="Say how a payout ended, and how one knows.",
            needs=_JUDGES,
            shows=shows.list,
            does=shows.judge,
        ),
        Page(
            path="/unresolved/withdraw",
            name="unresolved_withdraw",
            summary="Withdraw one's opinion on how a payout ended.",
            needs=_JUDGES,
            shows=shows.list,
            does=shows.withdraw,
        ),
    )

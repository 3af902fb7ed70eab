"""One payout: why it stands where it stands, and what proves it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import groupby
from typing import Any, Final

from gateway.domain.accounts.credentials import Action
from gateway.domain.identity.rights import Area, Right
from gateway.domain.kernel.errors import PAYOUT_NOT_FOUND, ServiceError
from gateway.http.panel.pages.calls import RowCalls
from gateway.http.panel.pages.page import Download, Page, Redirect, Result, Shown, Shows
from gateway.http.panel.pages.visit import Visit, address, own_path
from gateway.http.panel.screens.money.payouts import FINAL, READS
from gateway.http.rendering import pretty

PROBES: Final = Right(Area.PROBE, Action.WRITE)
PATH: Final = "/accounts/{account_id}/payouts/{reference}"
_JUDGES: Final = Right(Area.REVIEW, Action.WRITE)
_STOPS: Final = Right(Area.STOP, Action.WRITE)
_LINKED: Final = (Area.CREDENTIAL, Area.REQUEST_LOG, Area.USER)
"""What the page links to where the person may read it."""
_JSON: Final = "application/json; charset=utf-8"
_NOT_OF_A_NAME: Final = re.compile(r"[^A-Za-z0-9._-]+")
_NAME_CHARS: Final = 60


@dataclass(frozen=True, slots=True)
class PayoutPages:
    """A payout in full, its receipt, its dossier as a file, and the probe."""

    rows: RowCalls

    async def payout(self, visit: Visit) -> Result:
        """Show what is known; the page reads the store and never waits for a bank."""
        data = await self._known(visit)
        return Shown(template="money/payout.html", part="money/_payout.html", data=data)

    async def receipt(self, visit: Visit) -> Result:
        """
        Show what is printed of a payout that is settled.

        Raises:
            ServiceError: ``SVC.PIX.011`` (404) for one that is not.
        """
        data = await self._known(visit)
        if data["dossier"]["state"] != "paid":
            raise ServiceError(PAYOUT_NOT_FOUND, "not_paid")
        return Shown(template="money/receipt.html", data=data)

    async def dossier(self, visit: Visit) -> Result:
        """Return everything that is known as a file."""
        found = await self.rows.ask(visit, "backoffice.withdraw_dossier", path=_path(visit))
        content = pretty(found.data)
        name = _NOT_OF_A_NAME.sub("-", visit.parameter("reference"))[:_NAME_CHARS]
        return Download(content=content, content_type=_JSON, filename=f"payout-{name}.json")

    async def probe(self, visit: Visit) -> Result:
        """Ask the bank now, and show the payout as it stands then."""
        await self.rows.ask(visit, "backoffice.withdraw_probe", path=_path(visit))
        back = visit.form["back"]
        return Redirect(own_path(back) if back else f"{_address(visit)}?probed=1")

    async def _known(self, visit: Visit) -> dict[str, Any]:
        path = _path(visit)
        dossier = (await self.rows.ask(visit, "backoffice.withdraw_dossier", path=path)).data
        told = sorted(timeline(dossier), key=lambda each: str(each["at"]))
        payout = dossier["payout"]
        back = sum((each["value"] for each in payout["returns"]), Decimal(0))
        moved = payout.get("moved", payout["value"])
        return {
            "dossier": dossier,
            "payout": dossier["payout"],
            "account": dossier["account"],
            "account_id": path["account_id"],
            "word": "returned" if back else certainty_word(dossier["state"], dossier["certainty"]),
            "back": back,
            "moved": moved,
            "is_final": dossier["state"] in FINAL,
            "timeline": list(folded(told)),
            "may_probe": visit.may(PROBES),
            "may_judge": visit.may(_JUDGES),
            "may_stop": visit.may(_STOPS),
            "reads": links(visit),
            "here": _address(visit),
        }


def links(visit: Visit) -> frozenset[str]:
    """Return what pages of a payout may link to, by its area."""
    return frozenset(each.value for each in _LINKED if visit.may(Right(each, Action.READ)))


def certainty_word(state: str, certainty: str) -> str:
    """Return the word of the certainty track for a state."""
    if certainty == "not_sent":
        return "not_sent"
    return "settled" if state == "paid" else state


def timeline(dossier: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Return what happened, each with its kind and instant; the caller puts them in order."""
    payout = dossier["payout"]
    tries = {each["number"]: each for each in dossier["attempts"]}
    reasons = {(each["by"], each["at"]): each["reason"] for each in dossier["opinions"]}
    word = ""
    for each in dossier["timeline"]:
        before, word = word, _track(each["state"], each["certainty_after"], word)
        yield {
            **each,
            "attempt": tries.get(each["attempt"], {"number": each["attempt"]}),
            "before": before,
            "after": word,
            "reason": reasons.get((each["facts"].get("by", ""), each["at"]), ""),
        }
    if payout["settled_at"]:
        yield {"kind": "settled", "at": payout["settled_at"]}
    for each in payout["returns"]:
        yield {"kind": "returned", "at": each["at"], "returned": each}


def folded(events: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """Return events in their order; looks in a row that found the same become one, the last."""
    for found, run in groupby(events, _found_nothing_new):
        same = list(run)
        if not found:
            yield from same
        else:
            yield {**same[-1], "times": len(same), "first_at": same[0]["at"]}


def _found_nothing_new(event: Mapping[str, Any]) -> tuple[object, ...]:
    """Return what a look that moved nothing found; empty for every other event."""
    if event["kind"] != "probed" or event["state"]:
        return ()
    facts = event["facts"]
    return ("probed", facts.get("found"), "review" in facts)


def _track(state: str, certainty: str, before: str) -> str:
    """Return the track's word after an event; one that moved nothing leaves it as it was."""
    return certainty_word(state, certainty) if state else before


def _path(visit: Visit) -> dict[str, str]:
    return {name: visit.parameter(name) for name in ("account_id", "reference")}


def _address(visit: Visit) -> str:
    return address(f"/panel{PATH}", **_path(visit))


def pages(rows: RowCalls) -> Sequence[Page]:
    """Return the pages of one payout."""
    shows = PayoutPages(rows)
    return (
        _page("payout", "", "Show a payout, its tries and what proves it.", shows.payout),
        _page("payout_receipt", "/receipt", "Show the receipt to be printed.", shows.receipt),
        _page("payout_dossier", "/dossier", "Download all that is known.", shows.dossier),
        Page(
            path=f"{PATH}/probe",
            name="payout_probe",
            summary="Ask the bank about a payout now.",
            needs=PROBES,
            shows=shows.payout,
            does=shows.probe,
        ),
    )


def _page(name: str, path: str, summary: str, shows: Shows) -> Page:
    """Declare a page below the payout's own; the dossier alone is a file."""
    media = ("application/json",) if name == "payout_dossier" else ("text/html",)
    return Page(
        path=f"{PATH}{path}", name=name, summary=summary, needs=READS, shows=shows, media=media
    )

"""One field that finds everything: one hit opens itself, several are listed."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

from gateway.domain.kernel.errors import ServiceError
from gateway.http.panel.pages.kit import PageContext, Pages, part, typed
from gateway.http.panel.pages.page import Page, Redirect, Result, Shown
from gateway.http.panel.pages.visit import Visit, address
from gateway.payouts.model import FoundDocument
from gateway.payouts.service import PayoutRecords, SearchBody
from gateway.traces.service import Trace, Traces
from policies.validation.backoffice.inputs import word_of_path
from policies.validation.bodies import body

_UUID: Final = re.compile(
    r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", re.ASCII | re.IGNORECASE
)
_E2E: Final = re.compile(r"\b[ED][0-9A-Z]{8}[0-9]{12}[0-9A-Z]{11}\b", re.ASCII | re.IGNORECASE)
_PAGE: Final = re.compile(r"https?://[^/\s]+(/panel/[^\s?#]+)[^\s]*", re.ASCII)
_NAMING: Final = re.compile(
    r"(?<![\w-])\d{3}\.?\d{3}\.?\d{3}[-. ]?\d{2}(?![\w-])"  # a CPF, or as many digits
    r"|(?<![\w-])\d{2}\.?\d{3}\.?\d{3}[/ ]?\d{4}[-. ]?\d{2}(?![\w-])"  # a CNPJ
    r"|\+\d|@|gws_",
    re.ASCII,
)
_TEXT: Final = body(SearchBody)
_TRACE: Final = word_of_path("trace_id")
_QUOTES: Final = " \t\"'`,;"
"""What stands around an id that was copied out of a log or a table."""


@dataclass(frozen=True, slots=True)
class SearchPages:
    """The search; what names somebody is sent by the form and stands in no address."""

    panel: Pages
    records: PayoutRecords
    traces: Traces

    async def page(self, visit: Visit) -> Result:
        """Find a payout, an account or a credential."""
        text = visit.form["q"] or visit.query("q")
        is_kept = bool(visit.query("q")) and _names_somebody(text)
        if not text or is_kept or visit.problem is not None:
            return _field(visit, text, is_kept=is_kept)
        try:
            return await self._find(visit, text)
        except ServiceError as problem:
            visit.problem = problem
            return _field(visit, text)

    async def find(self, visit: Visit) -> Result:
        """Find what was typed."""
        text = visit.form["q"]
        if _names_somebody(text):
            return await self._find(visit, text)
        # two dots are a step up in the addresses that we lead to
        asked = quote(text, safe="").replace(".", "%2E")
        return Redirect(f"/panel/search?q={asked}" if asked else "/panel/search")

    async def _find(self, visit: Visit, given: str) -> Result:
        text, who = _bare(given), self.panel.staff(visit)
        own_page = _PAGE.fullmatch(text)
        if own_page:
            return Redirect(own_page[1])
        for meant in _meanings(text) or (given,):
            found = (await self.records.named(who, typed(_TEXT, {"text": meant}))).to_document(who)
            hits = _addresses(found)
            if len(hits) == 1:
                return Redirect(hits[0])
            if hits:
                break
            # a refused request has no payout
            told = await part(self._trace(visit, meant))
            if told.problem is None:
                return Redirect(address("/panel/trace/{trace_id}", trace_id=meant))
        return Shown(
            template="money/search.html", data={"text": given, "found": found, "is_kept": False}
        )

    async def _trace(self, visit: Visit, meant: str) -> Trace:
        trace_id = typed(_TRACE, {}, {"trace_id": meant})
        return await self.traces.read(self.panel.staff(visit), trace_id)


def pages(records: PayoutRecords, traces: Traces, context: PageContext) -> Sequence[Page]:
    """Return the page and its form."""
    panel = Pages("/search", context)
    does = SearchPages(panel, records, traces)
    page = panel.view("", "search", records.named)(does.page)
    panel.form("", "search_find", records.named, shows=page)(does.find)
    return panel.pages


def _field(visit: Visit, text: str, *, is_kept: bool = False) -> Shown:
    """Show the field with what was typed; ``is_kept`` says that it was not looked for yet."""
    data = {"text": text, "found": None, "is_kept": is_kept}
    status = visit.problem.error.status if visit.problem else 200
    return Shown(template="money/search.html", data=data, status=status)


def _names_somebody(text: str) -> bool:
    """Say whether something in a text looks like a tax number, a telephone, mail, or a secret."""
    return bool(_NAMING.search(text))


def _bare(typed: str) -> str:
    """Return a text without what cannot be seen and what surrounds it."""
    return "".join(each for each in typed if unicodedata.category(each) != "Cf").strip(_QUOTES)


def _meanings(text: str) -> Sequence[str]:
    """Return what a text may name: itself, then the only id in it, as ids are written."""
    ids = {each.lower() for each in _UUID.findall(text)}
    ids |= {each.upper() if each.islower() else each for each in _E2E.findall(text)}
    within = ids if len(ids) == 1 else set[str]()
    return [each for each in (text, *(within - {text})) if each]


def _addresses(found: FoundDocument) -> Sequence[str]:
    """Return where each hit is."""
    payout = "/panel/accounts/{account_id}/payouts/{reference}"
    return [
        *(
            address(payout, account_id=each.account_id, reference=each.reference)
            for each in found.payouts
        ),
        *(address("/panel/accounts/{id}", id=each.id) for each in found.accounts),
        *(address("/panel/credentials/{id}", id=each.id) for each in found.credentials),
    ]

"""Pages of the search: a single hit is opened, several are listed."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final
from urllib.parse import quote, urlencode

from gateway.core.errors import ServiceError
from gateway.core.priority import Priority
from gateway.core.terms import search_term
from gateway.http.panel.pages.formats import local
from gateway.http.panel.pages.kit import PageContext, Pages, Part, page_asked, part, typed
from gateway.http.panel.pages.page import Page, Redirect, Result, Shown
from gateway.http.panel.pages.visit import Visit, address
from gateway.search.model import Found, FoundAtBanks, FoundDocument, SearchBody, TextQuery
from gateway.search.service import BankSearches, Searches
from gateway.statements.model import local_day
from gateway.store.tables.texts import COMPARED_AT_MOST
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
    r"|\(\d{2}\) ?9?\d{4}[- ]?\d{4}(?!\d)|(?<![\w-])\d{2} 9\d{4}[- ]?\d{4}(?!\d)"  # a telephone
    r"|\+\d|@|gws_|whsec_",
    re.ASCII,
)
_TEXT: Final = body(SearchBody)
_TRACE: Final = word_of_path("trace_id")
_QUOTES: Final = " \t\"'`,;"
"""What stands around an id that was copied out of a log or a table."""


@dataclass(frozen=True, slots=True)
class SearchPages:
    """The search; personal data is sent by the form and never in an address."""

    panel: Pages
    searches: Searches
    banks: BankSearches
    traces: Traces

    async def page(self, visit: Visit) -> Result:
        """Search anything; banks are queried after the page."""
        text = visit.form["q"] or visit.query("q")
        is_kept = bool(visit.query("q")) and _names_somebody(text)
        if not text or is_kept or visit.problem is not None:
            return await self._field(visit, text, is_kept=is_kept)
        try:
            return await self._find(visit, text)
        except ServiceError as problem:
            visit.problem = problem
            return await self._field(visit, text)

    async def find(self, visit: Visit) -> Result:
        """Search for the typed text."""
        text = visit.form["q"]
        if _names_somebody(text):
            return await self._find(visit, text)
        # two dots are a step up in the addresses that we lead to
        asked = quote(text, safe="").replace(".", "%2E")
        return Redirect(f"/panel/search?q={asked}" if asked else "/panel/search")

    async def _find(self, visit: Visit, given: str) -> Result:
        text, who, found = _bare(given), self.panel.staff(visit), Found()
        page = _page(visit)
        own_page = _PAGE.fullmatch(text)
        if own_page:
            return Redirect(own_page[1])
        for meant in () if visit.is_partial else _meanings(text) or (given,):
            found = await self.searches.find(who, typed(_TEXT, {"text": meant, "page": page}))
            hits = _addresses(found.to_document(who))
            if found.is_exact and len(hits) == 1 and page == 1 and not found.more:
                return Redirect(hits[0])
            if hits or page > 1:
                break
            # a refused request has no payout
            result = await part(self._trace(visit, meant))
            if result.problem is None:
                return Redirect(address("/panel/trace/{trace_id}", trace_id=meant))
        at_banks = None
        if visit.reads_bank:
            at_banks = await part(self.banks.find(who, typed(_TEXT, {"text": text or given})))
        return await self._shown(visit, given, found=found, at_banks=at_banks)

    async def _trace(self, visit: Visit, meant: str) -> Trace:
        trace_id = typed(_TRACE, {}, {"trace_id": meant})
        return await self.traces.read(self.panel.staff(visit), trace_id)

    async def _shown(  # noqa: PLR0913
        self,
        visit: Visit,
        text: str,
        *,
        found: Found | None = None,
        at_banks: Part[FoundAtBanks] | None = None,
        is_kept: bool = False,
        status: int = 200,
    ) -> Shown:
        who = self.panel.staff(visit)
        today = local_day(who.acting.now())
        asked = TextQuery.of(_bare(text), today)
        days = {"init": local(asked.since(today), "day"), "ends": local(who.acting.now(), "day")}
        if asked.day is not None:
            days["ends"] = days["init"]
        shown = None if found is None else found.to_document(who)
        ids = [each.account_id for each in shown.charges] if shown else []
        ids += [each.account_id for each in shown.refunds] if shown else []
        by_form, page = _names_somebody(text), _page(visit)
        data = {
            "text": text,
            "by_form": by_form,
            "page": page,
            "of_page": partial(_of_page, text),
            "found": shown,
            "is_exact": bool(found and found.is_exact),
            "is_kept": is_kept,
            "asked": asked,
            "by_name": asked.day is None and search_term(asked.text).centavos is None,
            "days": days,
            "most": COMPARED_AT_MOST,
            "names": await self.panel.names(visit, ids),
            "at_banks": at_banks,
            "asks_banks": self.panel.may(visit, self.banks.find) and not by_form and page == 1,
            "list_of": lambda path: _list(path, asked, days),
        }
        template, swapped = "money/search.html", "money/_search_banks.html"
        return Shown(template=template, part=swapped, data=data, status=status)

    async def _field(self, visit: Visit, text: str, *, is_kept: bool = False) -> Shown:
        """Show the field with its text; ``is_kept`` if the search has not run yet."""
        status = visit.problem.error.status if visit.problem else 200
        return await self._shown(visit, text, is_kept=is_kept, status=status)


def pages(
    searches: Searches, banks: BankSearches, traces: Traces, context: PageContext
) -> Sequence[Page]:
    """Return the page and its form."""
    panel = Pages("/search", context, priority=Priority.HEAVY)
    does = SearchPages(panel, searches, banks, traces)
    page = panel.view("", "search", searches.find)(does.page)
    panel.form("", "search_find", searches.find, shows=page)(does.find)
    return panel.pages


def _list(path: str, asked: TextQuery, days: Mapping[str, str]) -> str:
    """Return the address of a list filtered by the search."""
    return f"{path}?{urlencode({'text': asked.text, **days})}"


def _page(visit: Visit) -> int:
    """Read the page of hits, from the form or the address."""
    text = visit.form["page"]
    return int(text) if re.fullmatch(r"[1-9][0-9]{0,3}", text) else min(page_asked(visit), 9999)


def _of_page(text: str, page: int) -> str:
    """Return the address of a page of hits; none for personal data."""
    return f"/panel/search?{urlencode({'q': text, 'page': page})}"


def _names_somebody(text: str) -> bool:
    """Return whether a text resembles a tax number, a telephone, mail, or a secret."""
    return bool(_NAMING.search(text))


def _bare(typed: str) -> str:
    """Return a text without invisible characters and surrounding marks."""
    return "".join(each for each in typed if unicodedata.category(each) != "Cf").strip(_QUOTES)


def _meanings(text: str) -> Sequence[str]:
    """Return possible meanings of a text: itself, then the only id in it, normalised."""
    ids = {each.lower() for each in _UUID.findall(text)}
    ids |= {each.upper() if each.islower() else each for each in _E2E.findall(text)}
    within = ids if len(ids) == 1 else set[str]()
    return [each for each in (text, *(within - {text})) if each]


def _addresses(found: FoundDocument) -> Sequence[str]:
    account = "/panel/accounts/{account_id}"
    payout, charge = f"{account}/payouts/{{reference}}", f"{account}/charges/{{reference}}"
    return [
        *(
            address(where, account_id=each.account_id, reference=each.reference)
            for where, hits in ((payout, found.payouts), (charge, found.charges))
            for each in hits
        ),
        *(address("/panel/approvals/{id}", id=each.approval_id) for each in found.refunds),
        *(address("/panel/companies/{id}", id=each.id) for each in found.companies),
        *(address("/panel/accounts/{id}", id=each.id) for each in found.accounts),
        *(address("/panel/credentials/{id}", id=each.id) for each in found.credentials),
        *(address("/panel/people/{id}", id=each.id) for each in found.people),
    ]

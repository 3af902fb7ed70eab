"""Mistakes about lists and amounts, as tired people make them."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final

import msgspec

from gateway.banks.port.providers import NotFound, Page, ProviderAccount, Reason
from gateway.banks.port.statements import Entry
from gateway.core.windows import Window
from provider_adapters.kit.answers import ProviderAnswer
from provider_adapters.kit.requests import ProviderRequest
from provider_adapters.sandbox.adapter import SandboxAdapter
from tests.contract.verify.mistaken import (
    Hear,
    Wrong,
    asking,
    being,
    document_of,
    hearing,
    saying,
)

SETTLED: Final = "bank.settled"
DAY: Final = timedelta(days=1)
EVERYTHING: Final = 500


def last_page(request: ProviderRequest, answer: ProviderAnswer) -> ProviderAnswer:
    said = document_of(answer.body)
    return saying(answer, {**said, "proximo_cursor": None}) if "lancamentos" in said else answer


class Short(SandboxAdapter):
    """Takes a page that is not full for the last one."""

    async def list_statement(
        self, account: ProviderAccount, window: Window, cursor: str | None, limit: int
    ) -> Page[Entry]:
        page = await super().list_statement(account, window, cursor, limit)
        return page if len(page.items) == limit else dataclasses.replace(page, next_cursor=None)


class Whole(SandboxAdapter):
    async def list_statement(
        self, account: ProviderAccount, window: Window, cursor: str | None, limit: int
    ) -> Page[Entry]:
        page = await super().list_statement(account, window, None, EVERYTHING)
        return self.cut(page.items, cursor, limit)

    def cut(self, entries: Sequence[Entry], cursor: str | None, limit: int) -> Page[Entry]:
        raise NotImplementedError


class Skipping(Whole):
    """Counts how many it has shown."""

    def cut(self, entries: Sequence[Entry], cursor: str | None, limit: int) -> Page[Entry]:
        place = int(cursor or 0)
        after = place + limit
        following = str(after) if after < len(entries) else None
        return Page(items=entries[place:after], next_cursor=following)


class Before(Whole):
    """Goes on before the last instant that it has shown."""

    def cut(self, entries: Sequence[Entry], cursor: str | None, limit: int) -> Page[Entry]:
        until = datetime.fromisoformat(cursor) if cursor else None
        rest = [each for each in entries if until is None or each.created_at < until]
        following = rest[:limit][-1].created_at.isoformat() if len(rest) > limit else None
        return Page(items=rest[:limit], next_cursor=following)


class Lossy(Whole):
    """Drops the last entry of every page but the last."""

    def cut(self, entries: Sequence[Entry], cursor: str | None, limit: int) -> Page[Entry]:
        place = int(cursor or 0)
        after = place + limit
        if after >= len(entries):
            return Page(items=entries[place:after], next_cursor=None)
        return Page(items=entries[place : after - 1], next_cursor=str(after))


class OldestFirst(Whole):
    """Shows what is old first."""

    def cut(self, entries: Sequence[Entry], cursor: str | None, limit: int) -> Page[Entry]:
        place = int(cursor or 0)
        after = place + limit
        following = str(after) if after < len(entries) else None
        return Page(items=entries[::-1][place:after], next_cursor=following)


class Reaching(SandboxAdapter):
    async def list_statement(
        self, account: ProviderAccount, window: Window, cursor: str | None, limit: int
    ) -> Page[Entry]:
        wider = Window(window.init, window.ends + DAY)
        return await super().list_statement(account, wider, cursor, limit)


class Month(SandboxAdapter):
    """Asks for as much as its bank allows, and forgets the rest."""

    async def list_statement(
        self, account: ProviderAccount, window: Window, cursor: str | None, limit: int
    ) -> Page[Entry]:
        latest = max(window.init, window.ends - 30 * DAY)
        return await super().list_statement(account, Window(latest, window.ends), cursor, limit)


class Startled(SandboxAdapter):
    async def list_statement(
        self, account: ProviderAccount, window: Window, cursor: str | None, limit: int
    ) -> Page[Entry]:
        page = await super().list_statement(account, window, cursor, limit)
        if not page.items:
            raise NotFound(Reason.NOT_FOUND)
        return page


def local_time(_: ProviderRequest, answer: ProviderAnswer) -> ProviderAnswer:
    """Take the bank's instants for those of another zone."""
    body = re.sub(rb'("criado_em":"[^"]*?)Z"', rb'\1-03:00"', answer.body.replace(b": ", b":"))
    return msgspec.structs.replace(answer, body=body)


def amounts(read: Any) -> Hear:
    """Read every amount in a way of one's own."""

    def hear(_: ProviderRequest, answer: ProviderAnswer) -> ProviderAnswer:
        said = document_of(answer.body)
        return saying(answer, _walked(said, read)) if said else answer

    return hear


def _walked(value: Any, read: Any) -> Any:
    if isinstance(value, list):
        return [_walked(each, read) for each in value]
    if not isinstance(value, dict):
        return value
    return {
        name: read(each) if name.endswith("_centavos") else _walked(each, read)
        for name, each in value.items()
    }


def rounded(amount: Any) -> Any:
    return round(amount) if isinstance(amount, float) else amount


def truncated(amount: Any) -> Any:
    return int(amount) if isinstance(amount, float) else amount


def unsigned(amount: Any) -> Any:
    return abs(amount) if isinstance(amount, int) else amount


def lenient(amount: Any) -> Any:
    return int(amount) * 100 if isinstance(amount, str) and amount.isdigit() else amount


def strictly(_: ProviderRequest, answer: ProviderAnswer) -> ProviderAnswer:
    """Read every answer as one that decides about money."""
    return msgspec.structs.replace(answer, request=None)


def reais(amount: Any) -> Any:
    return amount // 100 * 100 if isinstance(amount, int) else amount


def anything(amount: Any) -> Any:
    return amount if type(amount) in {int, type(None)} else 0


def upwards(request: ProviderRequest) -> ProviderRequest:
    """Ask for pages that the bank does not have: the cursor of the call before is lost."""
    path, _, query = request.path.partition("?")
    kept = [each for each in query.split("&") if not each.startswith("cursor=")]
    return msgspec.structs.replace(request, path=f"{path}?{'&'.join(kept)}") if query else request


WRONG: Final[tuple[Wrong, ...]] = (
    hearing("the first page is all there is", "reads.page_borders", last_page, sane=SETTLED),
    asking("cursors are dropped", "reads.equal_instants", upwards, sane=SETTLED),
    being("a short page is the last", "reads.smaller_cap", Short),
    being("entries are skipped by count", "reads.added_during_walk", Skipping),
    being("instants are skipped at once", "reads.equal_instants", Before),
    being("each page loses one", "reads.page_borders", Lossy),
    being("the oldest come first", "reads.page_borders", OldestFirst),
    being("a window ends a day late", "reads.window_edges", Reaching),
    being("three months are one", "reads.ninety_days", Month),
    being("nothing is a failure", "reads.empty", Startled, sane=SETTLED),
    hearing("instants are in another zone", "reads.window_edges", local_time, sane=SETTLED),
    hearing("centavos are rounded", "reads.amount", amounts(rounded)),
    hearing("floats are cut", "reads.amount", amounts(truncated)),
    hearing("signs are dropped", "reads.amount", amounts(unsigned)),
    hearing("texts are reais", "reads.amount", amounts(lenient)),
    hearing("another form is refused", "reads.odd_form", strictly),
    hearing("one row takes the list away", "reads.odd_row", strictly),
    hearing("a 404 needs the bank's own word", "reads.absent_in_any_form", strictly),
    hearing("what is no amount is nothing", "reads.amount", amounts(anything)),
    hearing("centavos are left out", "reads.amount", amounts(reais)),
)

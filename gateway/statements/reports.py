"""Reports of an account: the whole window, Pix or not, as a file (contract 4.3)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from typing import Final

from gateway.banks.connections import bank_of, offered
from gateway.banks.lists import walked
from gateway.banks.port.capabilities import PortCall
from gateway.banks.port.charges import Party
from gateway.banks.port.providers import Banks
from gateway.banks.port.statements import Balance, Entry
from gateway.core.account import Account, Environment
from gateway.core.audit_context import RuleViolation
from gateway.core.clocks import Now
from gateway.core.money import Sum
from gateway.core.windows import Window
from gateway.reports.document import Document, change
from gateway.reports.formats import FORMATS, Format, Write
from gateway.reports.pdf import WriterMissing
from gateway.reports.texts import Locale
from gateway.statements.model import Report, ReportRequest, without_number
from gateway.statements.packed_movements import PackedMovements
from gateway.statements.reads import balance_of

_GROUP: Final = 100
"""Movements that are written at once: some milliseconds in which nobody else has a turn."""
_HEAD_AND_GROUP: Final = 2
"""The first pieces of every writer."""


MOST = 20_000
"""Movements of a report that is made whole; more belong into several windows."""
MOST_PACKED = 200_000
"""Movements of one that is written piece by piece: some 16 MB until its last one."""
_MOST_PAGES: Final = 10_000
"""As many in pages of twenty, the smallest that a bank may reasonably have."""


Pages = Callable[[Account, Window, int], AsyncGenerator[Sequence[Entry], None]]


async def movement_pages(
    banks: Banks, account: Account, window: Window, most: int
) -> AsyncGenerator[Sequence[Entry], None]:
    """
    Return the movements of a window as the bank lists them (contract 4.3).

    Raises:
        RuleViolation: there are more than ``most``.
        ServiceError: ``SVC.ACC.005`` (422) when no provider is configured.
        ProviderError: the bank gave no usable answer.
    """
    bank = bank_of(banks, account)
    size = bank.adapter.capabilities.largest_page
    calls = offered(bank, PortCall.LIST_STATEMENT)
    counted = 0
    async for page in walked(
        lambda cursor: calls.list_statement(bank.account, window, cursor, size), _MOST_PAGES
    ):
        counted += len(page.items)
        if counted > most:
            message = f"more than {most} movements: ask for fewer days"
            raise RuleViolation(message, "too_many_movements")
        yield page.items


@dataclass(frozen=True, slots=True, kw_only=True)
class Reports:
    """
    Makes reports; safe to repeat, nothing is stored.

    Attributes:
        pages: Reads the movements of UTC days, as ``movement_pages`` does.
        one_at_a_time: Writers hold the interpreter: a second one would only
            slow down the first one and every other request.
    """

    banks: Banks
    pages: Pages
    environment: Environment
    now: Now
    one_at_a_time: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def make(self, account: Account, asked: ReportRequest) -> Report:
        """
        Collect the window and write it, piece by piece where possible.

        Raises:
            RuleViolation: the format is unknown or cannot be written here, or
                the window has more than 20,000 movements (200,000 piece by piece).
            ServiceError: ``SVC.ACC.005`` (422) as for any read.
            ProviderError: the bank gave no usable answer, also about the balance.
        """
        form = _format(asked.format)
        if form.write is None:
            return await self._in_pieces(account, asked, form)
        document = await self.gather(account, asked.window)
        if asked.hides_people:
            document = replace(document, entries=tuple(map(without_number, document.entries)))
        try:
            content = await self._written(form.write, document)
        except WriterMissing as problem:
            message = f"this installation cannot write {form.name}: {problem}"
            raise RuleViolation(message, "format_missing") from problem
        name = form.file_name(document)
        return Report(
            file_name=name,
            media_type=form.media_type,
            content=content,
            rows=len(document.entries),
        )

    async def _in_pieces(self, account: Account, asked: ReportRequest, form: Format) -> Report:
        """Pack the window, and write the first piece; the rest follows."""
        offered(bank_of(self.banks, account), PortCall.GET_BALANCE)
        packed = PackedMovements()
        async for page in self._inside(account, asked.window, MOST_PACKED):
            packed.add(page)
        balance = await balance_of(self.banks, account)
        document = self._document(account, asked.window, balance)
        groups: Iterator[Sequence[Entry]] = packed.oldest_first(_GROUP)
        if asked.hides_people:
            groups = (list(map(without_number, group)) for group in groups)
        pieces = form.pieces[asked.locale](document, groups)
        is_short = len(packed) <= _GROUP
        return Report(
            file_name=form.file_name(document),
            media_type=form.media_type,
            content=b"".join(pieces if is_short else islice(pieces, _HEAD_AND_GROUP)),
            rows=len(packed),
            rest=None if is_short else _one_by_one(pieces),
        )

    async def gather(self, account: Account, window: Window) -> Document:
        """
        Read all data of a report; raises as ``make`` does.

        The closing balance is known while the window is still open: it is the
        balance now. The opening one is calculated from it, and only if the
        balance stood still while the movements were read.
        """
        before, moved = await balance_of(self.banks, account), list[Entry]()
        async for page in self._inside(account, window, MOST):
            moved += page
        found = _bounded(moved)
        is_open = window.start <= self.now() < window.end
        after = await balance_of(self.banks, account) if is_open else before
        document = self._document(account, window, after)
        closing = after.balance if is_open and document.generated_at < window.end else None
        stood_still = before.balance == after.balance
        return replace(
            document,
            entries=found,
            opening=_opening(closing, found) if stood_still else None,
            closing=closing,
        )

    def _document(self, account: Account, window: Window, balance: Balance) -> Document:
        """Build a report's data without movements, and the balances that follow from them."""
        return Document(
            account_id=account.id,
            holder=Party(name=account.name, tax_number=account.tax_number),
            coordinates=account.coordinates,
            environment=self.environment,
            window=window,
            entries=(),
            balance=balance,
            opening=None,
            closing=None,
            generated_at=self.now(),
        )

    async def _inside(
        self, account: Account, window: Window, most: int
    ) -> AsyncGenerator[Sequence[Entry], None]:
        """Read the whole window in UTC days, and drop movements outside."""
        begins, ends = window.start, window.end
        for days in window.utc_days():
            async with aclosing(self.pages(account, days, most)) as pages:
                async for page in pages:
                    yield [each for each in page if begins <= each.created_at < ends]

    async def write(self, name: str, document: Document) -> tuple[str, bytes]:
        """
        Write a gathered document whole, in a thread; return the name of its file and its bytes.

        Raises:
            RuleViolation: the format is unknown.
        """
        form = _format(name)
        content = await self._written(form.write or partial(_whole, form), document)
        return form.file_name(document), content

    async def _written(self, write: Write, document: Document) -> bytes:
        """Write in a thread; a cancelled caller leaves the turn to the thread until it is done."""
        await self.one_at_a_time.acquire()
        writing = asyncio.get_running_loop().run_in_executor(None, write, document)
        writing.add_done_callback(self._done)
        return await asyncio.shield(writing)

    def _done(self, writing: asyncio.Future[bytes]) -> None:
        """Release the next report, and retrieve an exception that no caller may be left to see."""
        self.one_at_a_time.release()
        if not writing.cancelled():
            writing.exception()


def _format(name: str) -> Format:
    form = FORMATS.get(name)
    if form is None:
        message = f"a report is one of {', '.join(FORMATS)}"
        raise RuleViolation(message)
    return form


def _whole(form: Format, document: Document) -> bytes:
    """Write a document whose format is written piece by piece, for readers in Brazil."""
    return b"".join(form.pieces[Locale.PT_BR](document, [document.entries]))


def _bounded(found: Sequence[Entry]) -> tuple[Entry, ...]:
    """Put the movements oldest first; refuse too many."""
    if len(found) > MOST:
        message = f"the window has more than {MOST} movements: ask for fewer days"
        raise RuleViolation(message, "too_many_movements")
    newest_first = sorted(found, key=lambda entry: entry.created_at, reverse=True)
    return tuple(reversed(newest_first))


async def _one_by_one(pieces: Iterator[bytes]) -> AsyncGenerator[bytes, None]:
    """Write the following pieces, on demand."""
    for piece in pieces:
        yield piece


def _opening(closing: Sum | None, found: Sequence[Entry]) -> Sum | None:
    """Calculate back from the closing balance."""
    if closing is None:
        return None
    opening = closing.centavos - sum(change(entry).centavos for entry in found)
    return Sum(opening)

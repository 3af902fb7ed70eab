"""Reports of an account: the whole window, Pix or not, as a file (contract 4.3)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from gateway.domain.accounts.accounts import Account, Environment
from gateway.domain.bank.capabilities import PortCall
from gateway.domain.bank.charges import Party
from gateway.domain.bank.providers import BadReply, Banks
from gateway.domain.bank.statements import Entry
from gateway.domain.kernel.clocks import Now
from gateway.domain.kernel.money import MAX_CENTAVOS, Money
from gateway.domain.kernel.windows import Window
from gateway.operations.bank.connections import bank_of, offered
from gateway.operations.bank.reads import MOST
from gateway.operations.kernel.audit_context import RuleViolation
from gateway.reports.document import Document, change
from gateway.reports.formats import FORMATS, Format, Locale, Write
from gateway.reports.paper import WriterMissing


class Movements(Protocol):
    """Reads what moved on an account."""

    async def movements(self, account: Account, window: Window) -> Sequence[Entry]:
        """
        Read every movement of the window, Pix or not, newest first.

        May stop once it has more than ``MOST``: they are refused.

        Raises:
            ServiceError: ``SVC.ACC.005`` (422) when no provider is configured
                or the provider does not offer it.
            ProviderError: the bank gave no usable answer.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportRequest:
    """What is asked for; ``format`` is a name of ``FORMATS``."""

    window: Window
    format: str
    locale: Locale = Locale.PLAIN


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A finished file."""

    file_name: str
    media_type: str
    content: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Reports:
    """
    Makes reports; safe to repeat, nothing is stored.

    Attributes:
        one_at_a_time: Writers hold the interpreter: a second one would only
            slow down the first one and every other request.
    """

    banks: Banks
    movements: Movements
    environment: Environment
    now: Now
    one_at_a_time: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def make(self, account: Account, asked: ReportRequest) -> Report:
        """
        Gather the window and write it.

        Raises:
            RuleViolation: the format is unknown or cannot be written here, or
                the window has more than 20,000 movements.
            ServiceError: ``SVC.ACC.005`` (422) as for any read.
            ProviderError: the bank gave no usable answer, also about the balance.
        """
        form = _format(asked.format)
        document = await self.gather(account, asked.window)
        try:
            content = await self._written(form.writer(asked.locale), document)
        except WriterMissing as problem:
            message = f"this installation cannot write {form.name}: {problem}"
            raise RuleViolation(message, "format_missing") from problem
        name = form.file_name(document)
        return Report(file_name=name, media_type=form.media_type, content=content)

    async def gather(self, account: Account, window: Window) -> Document:
        """
        Read all that a report tells; raises as ``make`` does.

        The closing balance is known while the window is still open: it is the
        balance now. The opening one is calculated from it, and only if the
        balance stood still while the movements were read.
        """
        bank = bank_of(self.banks, account)
        calls = offered(bank, PortCall.GET_BALANCE)
        before = await calls.get_balance(bank.account)
        found = _bounded(await self.movements.movements(account, window))
        is_open = window.start <= self.now() < window.end
        after = await calls.get_balance(bank.account) if is_open else before
        at = self.now()
        closing = after.balance if is_open and at < window.end else None
        stood_still = before.balance == after.balance
        return Document(
            account_id=account.id,
            holder=Party(name=account.name, tax_number=account.tax_number),
            coordinates=account.coordinates,
            environment=self.environment,
            window=window,
            entries=found,
            balance=after,
            opening=_opening(closing, found) if stood_still else None,
            closing=closing,
            generated_at=at,
        )

    async def _written(self, write: Write, document: Document) -> bytes:
        """Write in a thread; a caller that goes away leaves the turn to it until it is done."""
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
    """Find a format by its name."""
    form = FORMATS.get(name)
    if form is None:
        message = f"a report is one of {', '.join(FORMATS)}"
        raise RuleViolation(message)
    return form


def _bounded(found: Sequence[Entry]) -> tuple[Entry, ...]:
    """Put the movements oldest first; refuse too many, and sums that are no amounts."""
    if len(found) > MOST:
        message = f"the window has more than {MOST} movements: ask for fewer days"
        raise RuleViolation(message, "too_many_movements")
    if sum(entry.value.centavos for entry in found) > MAX_CENTAVOS:
        problem = "movements_out_of_range"
        raise BadReply(problem)
    newest_first = sorted(found, key=lambda entry: entry.created_at, reverse=True)
    return tuple(reversed(newest_first))


def _opening(closing: Money | None, found: Sequence[Entry]) -> Money | None:
    """Calculate back from the closing balance; None where that leads beyond an amount."""
    if closing is None:
        return None
    opening = closing.centavos - sum(change(entry).centavos for entry in found)
    return Money(opening) if abs(opening) <= MAX_CENTAVOS else None

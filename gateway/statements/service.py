"""Balances, statements and reports of accounts, for users; nothing is changed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from typing import Final

from gateway.banks.connections import bank_of, offered
from gateway.banks.lists import received_within, refunds_within
from gateway.banks.port.capabilities import PortCall
from gateway.banks.port.providers import NotSupported, ProviderError
from gateway.banks.port.refunds import IncomingPayment, Refund
from gateway.banks.port.statements import Balance, Block, Direction, Entry, MovementKind
from gateway.banks.readings import Readings
from gateway.charges.store import StoredCharges
from gateway.core.access import Staff, requires
from gateway.core.account import Account
from gateway.core.exports import ExportKind, Exports
from gateway.core.money import Sum
from gateway.core.permissions import Action
from gateway.core.rights import Area
from gateway.core.terms import search_term
from gateway.core.windows import (
    LONGEST_DAYS,
    LocalWindow,
    Search,
    Window,
    day_before,
    local_end,
    local_start,
)
from gateway.payouts.matching import NamedPayouts, is_return_id
from gateway.payouts.store import StoredPayouts
from gateway.reports.files import held
from gateway.statements.model import (
    Bounds,
    LinkedEntry,
    LinkedStatement,
    Report,
    ReportRequest,
    Statement,
    StatementSearch,
    Sums,
    local_day,
)
from gateway.statements.reads import StatementReads, balance_of
from gateway.statements.reports import Reports

# Blocks whose beginning is not told stand first.
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)

_IN_A_QUERY: Final = 500
"""A database takes some thousands of parameters, and a movement has three names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statements:
    """
    Balances and statements of accounts, mostly live from the banks.

    Every method raises ``ServiceError`` ``SVC.ACC.005`` (422) when no provider is configured,
    ``NotSupported`` where the bank does not offer it, and ``ProviderError`` for no usable answer.

    Attributes:
        readings: Keeps balances that are read.
        payouts, charges: Find the records behind a movement.
        exports: What people take away as files and lists.
    """

    reads: StatementReads
    readings: Readings
    reports: Reports
    payouts: StoredPayouts
    charges: StoredCharges
    exports: Exports

    @requires(Area.BALANCE, Action.READ)
    async def balance(self, who: Staff, account: Account) -> Balance:
        """Read the account's balance, live; it is kept for pages that show the last known one."""
        return await self.readings.live(account)

    @requires(Area.BALANCE, Action.READ)
    async def balance_beside(self, who: Staff, account: Account) -> Balance:
        """Read the balance repeatedly, for calculations with movements; it is not cached."""
        return await balance_of(self.reads.banks, account)

    @requires(Area.BALANCE, Action.READ)
    async def blocks(self, who: Staff, account: Account) -> Sequence[Block]:
        """
        Read the blocked parts of the account's balance with their reasons, live.

        Returns:
            Every block, oldest first.
        """
        bank = bank_of(self.reads.banks, account)
        found = await offered(bank, PortCall.LIST_BLOCKS).list_blocks(bank.account)
        return sorted(found, key=lambda each: each.since or _EPOCH)

    @requires(Area.TRANSACTION, Action.READ)
    async def read(self, who: Staff, account: Account, wanted: Search) -> Statement:
        """
        Read the account's statement for a window of days.

        Raises:
            ServiceError: ``SVC.GTW.005`` (429) as ``Exports.show``.
        """
        found = await self.reads.read(account, wanted)
        await self.exports.show(who, len(found.entries))
        return found

    @requires(Area.REPORT, Action.READ, also=Area.TRANSACTION)
    async def report(self, who: Staff, account: Account, wanted: ReportRequest) -> Report:
        """
        Read every movement of a window, Pix or not, as a file.

        Raises:
            RuleViolation: there are too many movements, or this format cannot be written here.
            ServiceError: ``SVC.GTW.005`` (429) as ``Exports.begin`` and ``Export.take``.
        """
        export = await self.exports.begin(who, ExportKind.STATEMENT)
        made = await self.reports.make(account, wanted)
        await export.take(made.rows)
        return made if made.rest is None else replace(made, rest=held(export, made.rest))

    @requires(Area.TRANSACTION, Action.READ)
    async def linked(
        self, who: Staff, account: Account, wanted: StatementSearch
    ) -> LinkedStatement:
        """
        Read the statement by local days, with sums, tied to payouts and charges.

        The first page of all movements is read from the bank. Later pages, and pages of a filter,
        are from its answer of the last minute, where that was kept.

        Raises:
            ServiceError: ``SVC.ACC.005`` (422) when no provider is configured; ``SVC.GTW.005``
                (429) as ``Exports.show``.
            NotSupported: the bank does not tell movements.
            ProviderError: the bank gave no usable answer.
            StoreUnavailable: the records behind the movements cannot be read.
        """
        paging, now = wanted.search.paging, who.acting.now()
        asks = not (paging.offset or wanted.direction or wanted.text or wanted.untied)
        entries = await self._local(account, wanted.search.window, fresh=asks)
        sums, _ = _summed(entries)
        directed = [each for each in entries if wanted.direction in {None, each.direction}]
        page, found = await self._chosen(account, directed, wanted)
        await self.exports.show(who, len(page))
        chosen, days = _summed(found)
        shown = {each.day for each in page}
        return LinkedStatement(
            entries=page,
            paging=paging,
            total=len(found),
            sums=sums,
            chosen=chosen,
            days={day: known for day, known in days.items() if day in shown},
            read_at=now if asks else None,
        )

    @requires(Area.BALANCE, Action.READ)
    async def bounds(
        self,
        who: Staff,
        account: Account,
        days: Window,
        statement: LinkedStatement,
        before: Balance,
    ) -> Bounds | None:
        """
        Calculate an account's balances before and after local days; raises as above.

        Args:
            who: The caller.
            account: The account.
            days: The days.
            statement: Their statement, just read from the bank.
            before: The balance as it was read before the statement.

        Returns:
            None where the balance has moved meanwhile, or the days ended over 90 days ago.
        """
        today, since = local_day(who.acting.now()), Sums()
        if days.ends < today - timedelta(days=LONGEST_DAYS):
            return None
        if days.ends < today:
            later = LocalWindow(days.ends + timedelta(days=1), today)
            since, _ = _summed(await self._local(account, later, fresh=True))
        after = await balance_of(self.reads.banks, account)
        if after.balance != before.balance:
            return None
        closing = after.balance.centavos - since.came_in + since.went_out
        opening = closing - statement.sums.came_in + statement.sums.went_out
        return Bounds(opening=Sum(opening), closing=Sum(closing))

    @requires(Area.TRANSACTION, Action.READ)
    async def movements(self, _who: Staff, account: Account, days: Window) -> Sequence[Entry]:
        """Read every movement of some local days from the bank, newest first; raises as above."""
        return await self._local(account, days, fresh=True)

    @requires(Area.TRANSACTION, Action.READ)
    async def tied(
        self, _who: Staff, account: Account, entries: Sequence[Entry]
    ) -> Sequence[LinkedEntry]:
        """Link movements of an account to payouts and charges, in order."""
        return await self._linked(account.id, entries)

    async def _local(self, account: Account, days: Window, *, fresh: bool) -> Sequence[Entry]:
        """Read the UTC days that the local days touch, newest first, and drop movements outside."""
        local, found = LocalWindow(days.init, days.ends), list[Entry]()
        for window in local.utc_days():
            found += await self.reads.window(account, window, fresh=fresh)
        begins, ends = local.start, local.end
        return [each for each in found if begins <= each.created_at < ends]

    async def _chosen(
        self, account: Account, entries: Sequence[Entry], wanted: StatementSearch
    ) -> tuple[Sequence[LinkedEntry], Sequence[Entry]]:
        """Return a page of the matching movements, linked, and all of them."""
        paging, terms = wanted.search.paging, search_term(wanted.text)
        cut = slice(paging.offset, paging.offset + paging.limit)
        if not wanted.untied and (not terms.text or terms.centavos is not None):
            chosen = [each for each in entries if terms.fits([each.value], *_words(each))]
            page = await self._linked(account.id, chosen[cut])
            return await self._named(account, page, ProviderError), chosen
        tied = await self._linked(account.id, entries)
        if wanted.untied:
            named = await self._named(account, tied, NotSupported)
            tied = [each for each in named if not each.is_tied]
        found = [each for each in tied if terms.fits([each.entry.value], *_words_of(each))]
        page = (
            found[cut] if wanted.untied else await self._named(account, found[cut], ProviderError)
        )
        return page, [each.entry for each in found]

    async def _named(
        self, account: Account, tied: Sequence[LinkedEntry], lacks: type[ProviderError]
    ) -> Sequence[LinkedEntry]:
        """
        Link unrecorded movements to payments received and refunds in the bank's lists.

        Where the bank ``lacks`` a list, nothing is linked to it.
        """
        came_in = [each.day for each in tied if _may_be_received(each)]
        given_back = [each.day for each in tied if _may_be_refund(each)]
        received: dict[str, IncomingPayment] = {}
        refunds: dict[str, Refund] = {}
        bank = bank_of(self.reads.banks, account)
        with suppress(lacks):
            if came_in:
                days = LocalWindow(min(came_in), max(came_in))
                received = {each.e2e_id: each for each in await received_within(bank, days)}
        with suppress(lacks):
            if given_back:
                # a refund is ordered before it moves
                days = LocalWindow(day_before(min(given_back)), max(given_back))
                for refund in await refunds_within(bank, days):
                    refunds |= {name: refund for name in _names(refund) if name}
        return [
            replace(
                each,
                received=received.get(each.entry.e2e_id) if _may_be_received(each) else None,
                refund=_refund_of(each.entry, refunds) if _may_be_refund(each) else None,
            )
            for each in tied
        ]

    async def _linked(self, account_id: str, entries: Sequence[Entry]) -> Sequence[LinkedEntry]:
        """Link movements to payouts and charges, by two queries for some hundreds of them."""
        tied: list[LinkedEntry] = []
        for start in range(0, len(entries), _IN_A_QUERY):
            tied += await self._page(account_id, entries[start : start + _IN_A_QUERY])
        return tied

    async def _page(self, account_id: str, page: Sequence[Entry]) -> Sequence[LinkedEntry]:
        keys = {each.provider_key for each in page}
        out = {each.e2e_id for each in page if each.direction is Direction.DEBIT}
        came_in = {each.e2e_id for each in page if each.direction is Direction.CREDIT}
        payouts = NamedPayouts(await self.payouts.behind(account_id, out, keys))
        charges = {each.e2e_id: each for each in await self.charges.paid_by(account_id, came_in)}
        return [
            LinkedEntry(
                entry=each,
                payout=payouts.of(each),
                charge=charges.get(each.e2e_id) if each.direction is Direction.CREDIT else None,
            )
            for each in page
        ]


def _summed(entries: Iterable[Entry]) -> tuple[Sums, Mapping[date, Sums]]:
    days: dict[date, Sums] = {}
    for day, each in _with_days(entries):
        known = days.get(day)
        if known is None:
            known = days[day] = Sums()
        known.add(each)
    sums = Sums()
    for of_day in days.values():
        sums.add_all(of_day)
    return sums, days


def _with_days(entries: Iterable[Entry]) -> Iterator[tuple[date, Entry]]:
    """Add the local day to each; consecutive equal days are computed once."""
    day = begins = ends = None
    for each in entries:
        at = each.created_at
        if day is None or begins is None or ends is None or not begins <= at < ends:
            day = local_day(at)
            begins, ends = local_start(day), local_end(day)
        yield day, each


def _words(entry: Entry) -> Sequence[str]:
    """Return the searchable texts of a movement."""
    return entry.description, entry.counterparty.name, entry.e2e_id


def _words_of(tied: LinkedEntry) -> Sequence[str]:
    """Return a movement's own texts, and the references of the linked records."""
    behind = (tied.payout, tied.charge, tied.received, tied.refund)
    return *_words(tied.entry), *(each.reference for each in behind if each is not None)


def _may_be_received(tied: LinkedEntry) -> bool:
    """Return whether an unlinked payment came in by Pix."""
    entry = tied.entry
    is_known = tied.payout is not None or tied.charge is not None
    return entry.is_pix and entry.direction is Direction.CREDIT and not is_known


def _may_be_refund(tied: LinkedEntry) -> bool:
    entry = tied.entry
    is_return = entry.kind is MovementKind.PIX_RETURN or is_return_id(entry.e2e_id)
    return is_return and entry.direction is Direction.DEBIT and tied.payout is None


def _names(refund: Refund) -> Sequence[str]:
    return refund.return_id, refund.provider_key


def _refund_of(entry: Entry, refunds: Mapping[str, Refund]) -> Refund | None:
    return refunds.get(entry.provider_key) or refunds.get(entry.e2e_id)

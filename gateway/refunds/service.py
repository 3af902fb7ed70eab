"""Payments received, and refunds: read at the bank, ordered by users."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from gateway.banks.connections import bank_of, offered
from gateway.banks.lists import listed, received_within, refunds_within
from gateway.banks.port.capabilities import PortCall
from gateway.banks.port.providers import Banks
from gateway.banks.port.refunds import IncomingPayment, Refund, RefundStatus, refund_key
from gateway.charges.records import KeptCharges
from gateway.core.access import Staff, requires
from gateway.core.account import Account, Environment
from gateway.core.approvals import Approval
from gateway.core.exports import ExportKind, Exports
from gateway.core.money import ZERO, Sum, sum_of
from gateway.core.permissions import Action
from gateway.core.rights import Area
from gateway.core.terms import search_term
from gateway.core.windows import Listed
from gateway.payouts.model import Payout
from gateway.refunds import report_file as received
from gateway.refunds.orders import RefundRequest
from gateway.refunds.refunding import Tell
from gateway.refunds.searches import IncomingSearch, RefundSearch
from gateway.reports.files import ROWS_A_PAGE, DownloadFile, held


@dataclass(frozen=True, slots=True)
class Totals:
    """
    Totals of a search over all its pages.

    Attributes:
        value: Total received; for refunds, the total given back, without failed refunds.
        refunded: Refunded part of it, refunds under way included.
    """

    value: Sum
    refunded: Sum = ZERO

    @property
    def net(self) -> Sum:
        """The unrefunded rest."""
        return Sum(self.value.centavos - self.refunded.centavos)


@dataclass(frozen=True, slots=True, kw_only=True)
class Refunds:
    """
    Payments received and refunds of accounts, for users (contract 4.3).

    Every method raises ``ServiceError`` ``SVC.ACC.005`` (422) when no provider is configured,
    ``NotSupported`` where the bank does not offer it, and ``ProviderError`` for no usable answer;
    lists ``SVC.GTW.005`` (429) as ``Exports.show``.

    Attributes:
        kept: Updates the charges that payments name and may have paid.
        place: Places a user's order, which may wait for another user.
        tell: Tells the partner of a refund; raises nothing.
        exports: What people take away as files and lists.
    """

    banks: Banks
    kept: KeptCharges
    environment: Environment
    place: Callable[[Staff, Account, RefundRequest], Awaitable[Refund | Payout | Approval]]
    tell: Tell
    exports: Exports

    @requires(Area.TRANSACTION, Action.READ)
    async def received(
        self, who: Staff, account: Account, wanted: IncomingSearch
    ) -> Listed[IncomingPayment]:
        """
        Search payments received by Pix.

        Newest first; the window is read whole from the bank.
        """
        return (await self.received_totals(who, account, wanted))[0]

    @requires(Area.TRANSACTION, Action.READ)
    async def received_totals(
        self, who: Staff, account: Account, wanted: IncomingSearch
    ) -> tuple[Listed[IncomingPayment], Totals]:
        """Search as ``received``, and add up all that was found."""
        chosen = await self._received(account, wanted)
        value, refunded = (each.value for each in chosen), (each.refunded for each in chosen)
        page = listed(chosen, wanted.search.paging)
        await self.exports.show(who, len(page.items))
        return page, Totals(sum_of(value), sum_of(refunded))

    @requires(Area.REPORT, Action.READ, also=Area.TRANSACTION)
    async def export(self, who: Staff, account: Account, wanted: IncomingSearch) -> DownloadFile:
        """
        Read every payment received of a search as a table.

        Raises:
            ServiceError: as ``received``; ``SVC.GTW.005`` (429) as ``Exports.begin`` and
                ``Export.take``.
        """
        export = await self.exports.begin(who, ExportKind.RECEIVED)
        chosen = await self._received(account, wanted)
        await export.take(len(chosen))

        async def rest() -> AsyncGenerator[bytes, None]:
            for start in range(0, len(chosen), ROWS_A_PAGE):
                yield received.lines(chosen[start : start + ROWS_A_PAGE])
                await asyncio.sleep(0)  # requests of others go on meanwhile

        return DownloadFile(first=received.HEAD, rest=held(export, rest()))

    async def _received(
        self, account: Account, wanted: IncomingSearch
    ) -> Sequence[IncomingPayment]:
        """Return every payment of a search, newest first."""
        asked_at = self.kept.now()
        payments = await received_within(bank_of(self.banks, account), wanted.search.window)
        self.kept.received(account, payments, asked_at)
        terms = search_term(wanted.text)
        return [
            each
            for each in payments
            if wanted.status in {None, each.status}
            and terms.fits(
                [amount for amount in (each.value, each.refunded, each.kept) if amount.centavos],
                *(each.e2e_id, each.reference, each.payer.name if each.payer else ""),
            )
        ]

    @requires(Area.REFUND, Action.READ)
    async def search(self, who: Staff, account: Account, wanted: RefundSearch) -> Listed[Refund]:
        """
        Search refunds.

        Newest first, those ordered elsewhere too.
        """
        return (await self.refund_totals(who, account, wanted))[0]

    @requires(Area.REFUND, Action.READ)
    async def refund_totals(
        self, who: Staff, account: Account, wanted: RefundSearch
    ) -> tuple[Listed[Refund], Totals]:
        """Search as ``search``, and add up all that was found."""
        refunds = await refunds_within(bank_of(self.banks, account), wanted.search.window)
        terms = search_term(wanted.text)
        chosen = [
            each
            for each in refunds
            if wanted.status in {None, each.status}
            and terms.fits(
                [each.value],
                *(each.reference, each.description, each.return_id),
                *(each.payment_e2e_id, each.payment_reference),
            )
        ]
        moved = (each.value for each in chosen if each.status is not RefundStatus.FAILED)
        page = listed(chosen, wanted.search.paging)
        await self.exports.show(who, len(page.items))
        return page, Totals(sum_of(moved))

    @requires(Area.REFUND, Action.READ)
    async def get(self, who: Staff, account: Account, reference: str) -> Refund:
        """
        Read a refund by its own reference.

        Raises:
            NotFound: the bank has none; while an order is under way that is no
                proof that none comes.
        """
        bank = bank_of(self.banks, account)
        calls = offered(bank, PortCall.FIND_REFUND)
        key = refund_key(self.environment, account.id, reference)
        found = await calls.find_refund(bank.account, key)
        await self.tell(account, found)
        return replace(found, reference=reference)

    @requires(Area.REFUND, Action.WRITE, active=True)
    async def order(self, who: Staff, account: Account, wanted: RefundRequest) -> Refund | Approval:
        """
        Refund a payment, wholly or in part; the order may wait for another user.

        Raises:
            ServiceError: as ``RefundExecution.create``; ``SVC.GTW.009`` when an order of this
                reference waits already.
        """
        found = await self.place(who, account, wanted)
        if isinstance(found, Payout):
            raise TypeError(found)
        return found

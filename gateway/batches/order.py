"""The order of a file of payouts: what its approver sees, and how it is carried out."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Final

import msgspec
from msgspec import Struct

from gateway.batches.model import Batch, BatchState, OddCount, Oddity, counted
from gateway.core.account import Account
from gateway.core.approvals import (
    Approval,
    BatchOrderDocument,
    LargestDocument,
    OddDocument,
    OrderDocument,
    Outcome,
    VoidReason,
)
from gateway.core.audit_context import AuditContext
from gateway.core.clocks import Now
from gateway.core.money import Sum
from gateway.core.strict import hidden_tax_number
from gateway.payouts.model import PayoutRequest

_LARGEST: Final = 10
"""Shown to the approver; every row is on the page of the file."""


class LargestRow(Struct, frozen=True, kw_only=True):
    """One of the largest rows of an ordered file."""

    number: int
    reference: str
    centavos: int
    name: str
    tax_number: str
    odd: list[Oddity]


class OrderedBatch(Struct, frozen=True, kw_only=True):
    """The order as it is kept, encrypted: the file and what its approver is shown."""

    id: str
    name: str
    payouts: int
    odd: list[OddCount]
    largest: list[LargestRow]

    @classmethod
    def of(
        cls,
        batch: Batch,
        orders: Mapping[int, PayoutRequest],
        odd: Mapping[int, tuple[Oddity, ...]],
    ) -> OrderedBatch:
        """Return the order of a file's rows."""
        words = [(found, orders[number].value.centavos) for number, found in odd.items()]
        largest = sorted(orders.items(), key=lambda each: (-each[1].value.centavos, each[0]))
        return cls(
            id=batch.id,
            name=batch.name,
            payouts=batch.payouts,
            odd=counted(words),
            largest=[
                LargestRow(
                    number=number,
                    reference=order.reference,
                    centavos=order.value.centavos,
                    name=order.destination.name,
                    tax_number=order.destination.tax_number,
                    odd=list(odd.get(number, ())),
                )
                for number, order in largest[:_LARGEST]
            ],
        )

    def text(self) -> str:
        """Serialise the order."""
        return msgspec.json.encode(self).decode()

    def document(self) -> BatchOrderDocument:
        """Return the order as its reader sees it, tax numbers of people hidden in part."""
        return BatchOrderDocument(
            id=self.id,
            name=self.name,
            payouts=self.payouts,
            odd=[
                OddDocument(odd=each.odd.value, payouts=each.payouts, value=each.value)
                for each in self.odd
            ],
            largest=[
                LargestDocument(
                    number=each.number,
                    reference=each.reference,
                    value=Sum(each.centavos),
                    name=each.name,
                    tax_number=hidden_tax_number(each.tax_number),
                    odd=[word.value for word in each.odd],
                )
                for each in self.largest
            ],
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchOrders:
    """
    Executes approved orders of files: their payouts are made by the worker, one after another.

    Attributes:
        find: Returns a file; None where there is none.
        paying_account: Refuses a file whose account cannot pay now.
        begin: Lets a draft be carried out.
    """

    find: Callable[[str], Awaitable[Batch | None]]
    paying_account: Callable[[Batch], Awaitable[Account]]
    begin: Callable[[AuditContext, Batch], Awaitable[None]]
    now: Now

    async def check_again(self, approval: Approval, text: str) -> VoidReason:
        """Refuse an order that is impossible by now; a file that has ended makes it void."""
        batch = await self._batch(text)
        if batch is None or batch.state is BatchState.CANCELLED:
            return VoidReason.BATCH_ENDED
        await self.paying_account(batch)
        return VoidReason.NONE

    async def carry_out(self, approval: Approval, text: str) -> Outcome:
        """Let the worker begin; a file that it has begun with is as it was."""
        batch = await self._batch(text)
        if batch is not None and batch.began_at is None:
            await self.begin(AuditContext(approval.decider, self.now), batch)
        return Outcome.DONE

    def order_document(self, text: str) -> OrderDocument:
        """Return the order as a document."""
        return {"batch": _read(text).document()}

    async def _batch(self, text: str) -> Batch | None:
        return await self.find(_read(text).id)


def _read(text: str) -> OrderedBatch:
    return msgspec.json.decode(text, type=OrderedBatch)

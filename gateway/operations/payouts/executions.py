"""What a bank really executed, from its statement or its own books."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from gateway.domain.bank.providers import Bank
from gateway.domain.bank.statements import Direction, Entry, MovementKind
from gateway.domain.kernel.money import Money
from gateway.domain.kernel.windows import Window
from gateway.domain.payouts.payouts import Payout

_PAGE = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    """
    Money that left.

    Attributes:
        key: The provider key it was ordered under; empty when the bank does
            not repeat it, or when it was ordered elsewhere.
        value: Above zero.
        returned: It came back under the same key.
    """

    key: str
    e2e_id: str
    value: Money
    at: datetime
    returned: bool = False


async def statement_executions(
    bank: Bank, window: Window, rows: Sequence[Payout]
) -> list[Execution]:
    """
    Read the Pix that left an account in a window, newest first.

    Args:
        bank: The account's.
        window: Of settlement.
        rows: Payouts whose end-to-end ids name the key of an entry without one.

    Raises:
        ProviderError: the bank gave no usable answer.
    """
    entries = [entry async for entry in _entries(bank, window)]
    keys = {row.e2e_id: row.provider_key for row in rows if row.e2e_id}
    back = set(_came_back(entries))
    return [
        Execution(
            key=entry.provider_key or keys.get(entry.e2e_id, ""),
            e2e_id=entry.e2e_id,
            value=entry.value,
            at=entry.created_at,
            returned=(entry.provider_key, entry.value) in back,
        )
        for entry in _paid_out(entries)
    ]


def _came_back(entries: Sequence[Entry]) -> Iterator[tuple[str, Money]]:
    for entry in entries:
        if entry.provider_key and entry.direction is Direction.CREDIT:
            yield entry.provider_key, entry.value


def _paid_out(entries: Sequence[Entry]) -> Iterator[Entry]:
    """Choose what may be a payout; money given back is none."""
    for entry in entries:
        is_ours = entry.is_pix and entry.kind is not MovementKind.PIX_RETURN
        if is_ours and entry.direction is Direction.DEBIT:
            yield entry


async def _entries(bank: Bank, window: Window) -> AsyncIterator[Entry]:
    """Walk every page; each call has the adapter's own deadline."""
    cursor: str | None = None
    while True:
        page = await bank.adapter.list_statement(bank.account, window, cursor, _PAGE)
        for entry in page.items:
            yield entry
        cursor = page.next_cursor
        if cursor is None:
            return

"""Blocks: why and since when a customer's money is not available."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Final

from provider_adapters.testing.bank.kernel import accounts, ledger
from provider_adapters.testing.bank.kernel.books import Books
from provider_adapters.testing.bank.kernel.refusals import Code, Refusal

KINDS: Final = ("med", "court", "bank", "contract")
"""Central bank's special return mechanism, court order, the bank's own decision, contract."""

_UNDER_WAY = (
    "SELECT min(created_at) AS since FROM (SELECT created_at FROM payouts"
    " WHERE account_id = ? AND state = 'processing' UNION ALL SELECT created_at FROM refunds"
    " WHERE account_id = ? AND state = 'processing')"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """
    Money that is blocked.

    Attributes:
        kind: One of ``KINDS``.
        centavos: Above zero.
        reference: Of whoever ordered it, such as the number of a lawsuit.
        since: Microseconds since 1970.
    """

    kind: str
    centavos: int
    reference: str
    since: int


def block(books: Books, account_id: str, wanted: Block) -> None:
    """
    Block available money, in one transaction.

    Raises:
        Refusal: ``INSUFFICIENT_FUNDS`` above the available balance.
    """
    own, blocked = ledger.customer(account_id), ledger.blocked(account_id)
    with books.database.transaction():
        _move(books, own, blocked, wanted.centavos)
        books.database.insert("blocks", account_id=account_id, **asdict(wanted))


def unblock(books: Books, account_id: str, centavos: int) -> None:
    """
    Make blocked money available again, the oldest block first, in one transaction.

    Raises:
        Refusal: ``INSUFFICIENT_FUNDS`` when less is blocked.
    """
    own, blocked = ledger.customer(account_id), ledger.blocked(account_id)
    sql = "SELECT seq, centavos FROM blocks WHERE account_id = ? ORDER BY seq"
    with books.database.transaction():
        _move(books, blocked, own, centavos)
        for row in books.database.all(sql, (account_id,)):
            released = min(centavos, row["centavos"])
            centavos -= released
            _shrink(books, row["seq"], row["centavos"] - released)


def listed(books: Books, account_id: str) -> Sequence[Block]:
    """
    Return the blocks, oldest first; together they are what the balance calls blocked.

    Money held for payouts and refunds under way is one block of the bank's.
    """
    sql = "SELECT * FROM blocks WHERE account_id = ? ORDER BY seq"
    named = books.database.records(Block, sql, (account_id,))
    others = accounts.balance(books, account_id).blocked - sum(each.centavos for each in named)
    if not others:
        return named
    oldest = books.database.one(_UNDER_WAY, (account_id, account_id)) or {}
    since = oldest.get("since") or accounts.get(books, account_id).created_at
    return [*named, Block(kind="bank", centavos=others, reference="", since=since)]


def total(books: Books, account_id: str, kind: str) -> int:
    """Return what is blocked for one reason, in centavos."""
    return sum(each.centavos for each in listed(books, account_id) if each.kind == kind)


def _shrink(books: Books, seq: int, left: int) -> None:
    if left:
        books.database.run("UPDATE blocks SET centavos = ? WHERE seq = ?", (left, seq))
    else:
        books.database.run("DELETE FROM blocks WHERE seq = ?", (seq,))


def _move(books: Books, debit: str, credit: str, centavos: int) -> None:
    if ledger.balance(books.database, debit) < centavos:
        raise Refusal(Code.INSUFFICIENT_FUNDS, "there is not that much")
    movement = ledger.Movement(debit, credit, centavos, "block", books.clock.micros())
    ledger.move(books.database, movement)

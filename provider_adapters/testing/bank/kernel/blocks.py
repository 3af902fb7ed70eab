"""Blocks: why and since when a customer's money is not available."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from provider_adapters.testing.bank.kernel import accounts
from provider_adapters.testing.bank.kernel.books import Books
from provider_adapters.testing.bank.kernel.refusals import Code, Refusal

KINDS: Final = ("med", "court", "bank", "contract")
"""Central bank's special return mechanism, court order, the bank's own decision, contract."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """Money that is blocked; the reference is such as the number of a lawsuit."""

    kind: str
    centavos: int
    reference: str
    since: int


def block(books: Books, account_id: str, wanted: Block) -> None:
    """Block available money; raises ``INSUFFICIENT_FUNDS`` above the available balance."""
    accounts.require_available(books, account_id, wanted.centavos)
    books.database.insert("blocks", wanted, account_id=account_id)


def unblock(books: Books, account_id: str, centavos: int) -> None:
    """
    Make blocked money available again, the oldest block first, in one transaction.

    Raises:
        Refusal: ``INSUFFICIENT_FUNDS`` when less is blocked.
    """
    sql = "SELECT seq, centavos FROM blocks WHERE account_id = ? ORDER BY seq"
    with books.database.transaction():
        for row in books.database.all(sql, (account_id,)):
            left = max(row["centavos"] - centavos, 0)
            centavos -= row["centavos"] - left
            if left:
                books.database.update("blocks", row["seq"], centavos=left)
            else:
                books.database.run("DELETE FROM blocks WHERE seq = ?", (row["seq"],))
        if centavos:
            raise Refusal(Code.INSUFFICIENT_FUNDS, "there is not that much")


def listed(books: Books, account_id: str) -> Sequence[Block]:
    """
    Return the blocks, oldest first; together they are what the balance calls blocked.

    Payouts and refunds under way are one block of the bank's.
    """
    sql = "SELECT * FROM blocked WHERE account_id = ? ORDER BY seq"
    return books.database.records(Block, sql, (account_id,))


def total(books: Books, account_id: str, kind: str) -> int:
    """Return what is blocked for one reason, in centavos."""
    return sum(each.centavos for each in listed(books, account_id) if each.kind == kind)

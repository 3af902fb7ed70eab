"""Returns: settled payouts that came back, wholly or in part."""

from __future__ import annotations

from dataclasses import dataclass

from provider_adapters.testing.bank.kernel import ledger, refusals, statement
from provider_adapters.testing.bank.kernel.books import Books
from provider_adapters.testing.bank.kernel.database import Value
from provider_adapters.testing.bank.kernel.refusals import Code, Refusal
from provider_adapters.testing.bank.pix.payouts import Payout


@dataclass(frozen=True, slots=True, kw_only=True)
class Return:
    """
    Money of a payout that came back.

    Attributes:
        id: The return's own end-to-end id: ``D``, ISPB, UTC minute, 11 characters.
        centavos: Above zero.
        at: Microseconds since 1970.
    """

    id: str
    payout_seq: int
    centavos: int
    at: int


def give_back(books: Books, payout: Payout, centavos: int, at: int) -> Return:
    """Book money that another bank sends back; call only inside a transaction."""
    made = Return(id=f"D{books.e2e_id(at)[1:]}", payout_seq=payout.seq, centavos=centavos, at=at)
    movement = ledger.Movement(
        debit=ledger.SETTLEMENT,
        credit=ledger.customer(payout.account_id),
        centavos=centavos,
        memo=f"returned {payout.e2e_id}",
        at=at,
    )
    ledger.move(books.database, movement)
    statement.write(books, _line(payout, made))
    keep(books, made)
    return made


def order_back(books: Books, payout: Payout, centavos: int | None) -> Return:
    """
    Let a settled payout come back, all that is left of it unless an amount is said.

    Raises:
        Refusal: ``INVALID_REQUEST`` for one that has not settled or stayed in
            this bank, whose receiver refunds it; ``ABOVE_PAYMENT`` above what is left.
    """
    if payout.state != "settled" or payout.credit_to is not None:
        problem = "the payout has not settled at another bank"
        raise refusals.invalid(problem)
    left = (payout.settled_centavos or 0) - _came_back(books, payout.seq)
    if not 0 < (centavos or left) <= left:
        raise Refusal(Code.ABOVE_PAYMENT, "less than that is left of the payout")
    with books.database.transaction():
        return give_back(books, payout, centavos or left, books.clock.micros())


def keep(books: Books, made: Return) -> None:
    """Keep a return beside its payout; one that is back wholly is ``returned``."""
    values: tuple[Value, ...] = (made.id, made.payout_seq, made.centavos, made.at)
    books.database.run(
        "INSERT INTO returns (id, payout_seq, centavos, at) VALUES (?, ?, ?, ?)", values
    )
    books.database.run(
        "UPDATE payouts SET state = 'returned', returned_at = ?, step = NULL, due_at = NULL"
        " WHERE seq = ? AND settled_centavos <= ?",
        (made.at, made.payout_seq, _came_back(books, made.payout_seq)),
    )


def listed(books: Books, key: str | None) -> list[tuple[str | None, Return]]:
    """Return all returns with the keys of their payouts, of one key or all, oldest first."""
    rows = books.database.all(
        "SELECT idempotency_key, returns.* FROM returns JOIN payouts ON seq = payout_seq"
        " WHERE ? IS NULL OR idempotency_key = ? ORDER BY at, returns.id",
        (key, key),
    )
    return [(row.pop("idempotency_key"), Return(**row)) for row in rows]


def _came_back(books: Books, payout_seq: int) -> int:
    sql = "SELECT coalesce(sum(centavos), 0) AS centavos FROM returns WHERE payout_seq = ?"
    found = books.database.one(sql, (payout_seq,)) or {}
    return int(found["centavos"])


def _line(payout: Payout, made: Return) -> statement.Entry:
    to = payout.to
    return statement.Entry(
        account_id=payout.account_id,
        kind="pix_returned",
        centavos=made.centavos,
        at=made.at,
        e2e_id=made.id,
        payout_id=payout.id,
        name=to.name,
        tax_number=to.tax_number,
        description=payout.description,
    )

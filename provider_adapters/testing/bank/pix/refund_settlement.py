"""Settlement of refunds: executes the next step of accepted ones when it is due."""

from __future__ import annotations

from provider_adapters.testing.bank.kernel import accounts, ledger, statement
from provider_adapters.testing.bank.kernel.books import Books
from provider_adapters.testing.bank.pix import received_payments, returns
from provider_adapters.testing.bank.pix.refunds import Refund, RefundStep
from provider_adapters.testing.bank.pix.returns import Return

_DUE = (
    "SELECT refunds.*, payments.e2e_id AS payment_e2e_id, payments.reference AS payment_reference"
    " FROM refunds JOIN payments ON payments.seq = payment_seq"
    " WHERE due_at <= ? ORDER BY due_at, refunds.seq LIMIT 1"
)
# A payment from another customer of this bank is also that customer's payout.
_SENDER = "SELECT seq, id, account_id FROM payouts WHERE e2e_id = ? AND credit_to = ?"


def settle_due(books: Books) -> int:
    """Execute every step that is due, each in one transaction; return how many."""
    done = 0
    now = books.clock.micros()
    while row := books.database.one(_DUE, (now,)):
        with books.database.transaction():
            _STEPS[RefundStep(row["step"])](books, Refund(**row))
        done += 1
    return done


def _settle(books: Books, refund: Refund) -> None:
    """Move the held money back to the payer; both statements show it."""
    at = refund.due_at or refund.created_at
    sender = books.database.one(_SENDER, (refund.payment_e2e_id, refund.account_id))
    credit = ledger.customer(sender["account_id"]) if sender else ledger.SETTLEMENT
    _move(books, refund, credit, f"refund {refund.return_id}")
    statement.write(books, _line(books, refund, at))
    if sender:
        giver = accounts.get(books, refund.account_id)
        line = statement.Entry(
            account_id=sender["account_id"],
            kind="pix_returned",
            centavos=refund.centavos,
            at=at,
            e2e_id=refund.return_id,
            payout_id=sender["id"],
            name=giver.name,
            tax_number=giver.tax_number,
            description=refund.description,
        )
        statement.write(books, line)
        returns.keep(
            books,
            Return(id=refund.return_id, payout_seq=sender["seq"], centavos=refund.centavos, at=at),
        )
    _finish(books, refund, "settled", None, at)


def _fail(books: Books, refund: Refund) -> None:
    _move(books, refund, ledger.customer(refund.account_id), f"released {refund.return_id}")
    _finish(books, refund, "failed", "REJECTED", None)


_STEPS = {RefundStep.SETTLE: _settle, RefundStep.FAIL: _fail}


def _move(books: Books, refund: Refund, credit: str, memo: str) -> None:
    movement = ledger.Movement(
        debit=ledger.held(refund.account_id),
        credit=credit,
        centavos=refund.centavos,
        memo=memo,
        at=refund.due_at or refund.created_at,
    )
    ledger.move(books.database, movement)


def _finish(books: Books, refund: Refund, state: str, failure: str | None, at: int | None) -> None:
    books.database.run(
        "UPDATE refunds SET state = ?, failure = ?, settled_at = ?, step = NULL, due_at = NULL"
        " WHERE seq = ?",
        (state, failure, at, refund.seq),
    )


def _line(books: Books, refund: Refund, at: int) -> statement.Entry:
    """Build the refunding customer's line; the counterparty is the payer."""
    payer = received_payments.by_e2e_id(books, refund.account_id, refund.payment_e2e_id).payer
    return statement.Entry(
        account_id=refund.account_id,
        kind="pix_refund",
        centavos=-refund.centavos,
        at=at,
        e2e_id=refund.return_id,
        payout_id=refund.id,
        name=payer.name if payer else "",
        tax_number=payer.tax_number if payer else "",
        description=refund.description,
    )

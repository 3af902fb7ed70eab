"""Settlement: executes the next step of accepted payouts and refunds when it is due."""

from __future__ import annotations

from provider_adapters.testing.bank.kernel import accounts, ledger, statement
from provider_adapters.testing.bank.kernel.books import Books
from provider_adapters.testing.bank.pix import (
    magic_values,
    received_payments,
    refund_settlement,
    returns,
)
from provider_adapters.testing.bank.pix.payouts import Payout, Step
from provider_adapters.testing.bank.pix.received_payments import Payer, Payment

_DUE = "SELECT * FROM payouts WHERE due_at <= ? ORDER BY due_at, seq LIMIT 1"
_OTHERWISE_BY = 1


def settle_due(books: Books) -> int:
    """
    Execute every step that is due, each in one transaction; return how many.

    Called before every request, so that none sees a step late. The background
    task only settles while there are no requests.
    """
    done = 0
    now = books.clock.micros()
    while row := books.database.one(_DUE, (now,)):
        with books.database.transaction():
            _STEPS[Step(row["step"])](books, Payout(**row))
        done += 1
    return done + refund_settlement.settle_due(books)


def _settle(books: Books, payout: Payout) -> None:
    at = _due(payout)
    otherwise = payout.centavos == magic_values.SETTLES_OTHERWISE
    centavos = payout.centavos - (_OTHERWISE_BY if otherwise else 0)
    if otherwise:
        _release(books, payout, _OTHERWISE_BY)
    _pay(books, payout, centavos, at)
    comes_back = payout.centavos == magic_values.COMES_BACK
    books.database.run(
        "UPDATE payouts SET state = 'settled', settled_centavos = ?, settled_at = ?,"
        " step = ?, due_at = ? WHERE seq = ?",
        (
            *(centavos, at),
            *((Step.RETURN, at + books.settle_after) if comes_back else (None, None)),
            payout.seq,
        ),
    )


def _fail(books: Books, payout: Payout) -> None:
    _release(books, payout, payout.centavos)
    books.database.run(
        "UPDATE payouts SET state = 'failed', failure = 'REJECTED', step = NULL, due_at = NULL"
        " WHERE seq = ?",
        (payout.seq,),
    )


def _return(books: Books, payout: Payout) -> None:
    returns.give_back(books, payout, payout.centavos, _due(payout))


_STEPS = {Step.SETTLE: _settle, Step.FAIL: _fail, Step.RETURN: _return}


def _pay(books: Books, payout: Payout, centavos: int, at: int) -> None:
    """Pay the held money to another bank or customer; the payer's statement shows it."""
    statement.write(books, _line(payout, -centavos, at))
    held = ledger.held(payout.account_id)
    if payout.credit_to is not None:
        received_payments.receive(books, _incoming(books, payout, centavos, at), debit=held)
        return
    movement = ledger.Movement(
        debit=held,
        credit=ledger.SETTLEMENT,
        centavos=centavos,
        memo=f"pix out {payout.e2e_id}",
        at=at,
    )
    ledger.move(books.database, movement)


def _incoming(books: Books, payout: Payout, centavos: int, at: int) -> Payment:
    sender = accounts.get(books, payout.account_id)
    return Payment(
        account_id=payout.credit_to or "",
        centavos=centavos,
        at=at,
        e2e_id=payout.e2e_id,
        payer=Payer(name=sender.name, tax_number=sender.tax_number, message=payout.description),
    )


def _release(books: Books, payout: Payout, centavos: int) -> None:
    movement = ledger.Movement(
        debit=ledger.held(payout.account_id),
        credit=ledger.customer(payout.account_id),
        centavos=centavos,
        memo=f"released {payout.e2e_id}",
        at=_due(payout),
    )
    ledger.move(books.database, movement)


def _line(payout: Payout, centavos: int, at: int) -> statement.Entry:
    to = payout.to
    return statement.Entry(
        account_id=payout.account_id,
        kind="pix_out",
        centavos=centavos,
        at=at,
        e2e_id=payout.e2e_id,
        payout_id=payout.id,
        name=to.name,
        tax_number=to.tax_number,
        description=payout.description,
    )


def _due(payout: Payout) -> int:
    return payout.due_at or payout.created_at

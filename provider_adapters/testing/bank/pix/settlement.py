"""Settlement: the next step of accepted payouts and refunds, and money that comes back."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from provider_adapters.testing.bank.kernel import accounts, ledger, statement
from provider_adapters.testing.bank.kernel.books import Books
from provider_adapters.testing.bank.kernel.refusals import Code, Refusal, require
from provider_adapters.testing.bank.kernel.statement import Entry
from provider_adapters.testing.bank.pix import magic_values, received_payments, refunds
from provider_adapters.testing.bank.pix.payouts import Payout, Step
from provider_adapters.testing.bank.pix.received_payments import Payer, Payment
from provider_adapters.testing.bank.pix.refunds import Refund

_OTHERWISE_BY = 1
_DUE = "SELECT * FROM payouts WHERE due_at <= ? ORDER BY due_at, seq LIMIT 1"
_REFUND_DUE = f"{refunds.SELECT} WHERE due_at <= ? ORDER BY due_at, refunds.seq LIMIT 1"
# A payment from another customer of this bank is also that customer's payout.
_SENDER = "SELECT * FROM payouts WHERE e2e_id = ? AND credit_to = ?"


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


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedReturn(Return):
    """A return, with the idempotency key of its payout."""

    key: str | None


def settle_due(books: Books) -> int:
    """
    Execute every step that is due, each in one transaction; return how many.

    Called before every request, so that none sees a step late. The background
    task only settles while there are no requests.
    """
    done, now, database = 0, (books.clock.micros(),), books.database
    while payout := database.record(Payout, _DUE, now):
        with database.transaction():
            _STEPS[payout.step or Step.SETTLE](books, payout, payout.due_at or payout.created_at)
        done += 1
    while refund := database.record(Refund, _REFUND_DUE, now):
        with database.transaction():
            _settle_refund(books, refund, refund.due_at or refund.created_at)
        done += 1
    return done


def order_back(books: Books, payout: Payout, centavos: int | None) -> Return:
    """
    Let a settled payout come back, all that is left of it unless an amount is said.

    Raises:
        Refusal: ``INVALID_REQUEST`` for one that has not settled or stayed in
            this bank, whose receiver refunds it; ``ABOVE_PAYMENT`` above what is left.
    """
    is_away = payout.state == "settled" and payout.credit_to is None
    require(is_away, "the payout has not settled at another bank")
    left = (payout.settled_centavos or 0) - _came_back(books, payout.seq)
    if not 0 < (centavos or left) <= left:
        raise Refusal(Code.ABOVE_PAYMENT, "less than that is left of the payout")
    with books.database.transaction():
        return _give_back(books, payout, centavos or left, books.clock.micros())


def list_returns(books: Books, key: str | None) -> list[ListedReturn]:
    """Return all returns, of one idempotency key or all, oldest first."""
    sql = (
        "SELECT idempotency_key AS key, returns.* FROM returns JOIN payouts ON seq = payout_seq"
        " WHERE ? IS NULL OR idempotency_key = ? ORDER BY at, returns.id"
    )
    return books.database.records(ListedReturn, sql, (key, key))


def _settle(books: Books, payout: Payout, at: int) -> None:
    """Pay the held money to another bank or customer; the payer's statement shows it."""
    centavos = payout.centavos
    if centavos == magic_values.SETTLES_OTHERWISE:
        centavos -= _OTHERWISE_BY
        _release(books, payout, _OTHERWISE_BY, f"released {payout.e2e_id}")
    statement.write(books, _line(payout, "pix_out", payout.e2e_id, -centavos, at))
    held = ledger.held(payout.account_id)
    if payout.credit_to is not None:
        sender = accounts.get(books, payout.account_id)
        payer = Payer(name=sender.name, tax_number=sender.tax_number, message=payout.description)
        payment = Payment(
            account_id=payout.credit_to,
            centavos=centavos,
            at=at,
            e2e_id=payout.e2e_id,
            payer=payer,
        )
        received_payments.receive(books, payment, debit=held)
    else:
        memo = f"pix out {payout.e2e_id}"
        ledger.move(books.database, ledger.Movement(held, ledger.SETTLEMENT, centavos, memo, at))
    comes_back = payout.centavos == magic_values.COMES_BACK
    following = (Step.RETURN, at + books.settle_after) if comes_back else (None, None)
    books.database.run(
        "UPDATE payouts SET state = 'settled', settled_centavos = ?, settled_at = ?,"
        " step = ?, due_at = ? WHERE seq = ?",
        (centavos, at, *following, payout.seq),
    )


def _fail(books: Books, payout: Payout, _at: int) -> None:
    _release(books, payout, payout.centavos, f"released {payout.e2e_id}")
    books.database.run(
        "UPDATE payouts SET state = 'failed', failure = 'REJECTED', step = NULL, due_at = NULL"
        " WHERE seq = ?",
        (payout.seq,),
    )


def _return(books: Books, payout: Payout, at: int) -> None:
    _give_back(books, payout, payout.centavos, at)


_STEPS = {Step.SETTLE: _settle, Step.FAIL: _fail, Step.RETURN: _return}


def _release(books: Books, record: Payout | Refund, centavos: int, memo: str) -> None:
    held, free = ledger.held(record.account_id), ledger.customer(record.account_id)
    at = record.due_at or record.created_at
    ledger.move(books.database, ledger.Movement(held, free, centavos, memo, at))


def _settle_refund(books: Books, refund: Refund, at: int) -> None:
    """Move the held money back to the payer, or release it; both statements show it."""
    fails = refund.step is Step.FAIL
    if fails:
        _release(books, refund, refund.centavos, f"released {refund.return_id}")
    else:
        _pay_refund(books, refund, at)
    books.database.run(
        "UPDATE refunds SET state = ?, failure = ?, settled_at = ?, step = NULL, due_at = NULL"
        " WHERE seq = ?",
        (*(("failed", "REJECTED", None) if fails else ("settled", None, at)), refund.seq),
    )


def _pay_refund(books: Books, refund: Refund, at: int) -> None:
    sender = books.database.record(Payout, _SENDER, (refund.payment_e2e_id, refund.account_id))
    held = ledger.held(refund.account_id)
    credit = ledger.customer(sender.account_id) if sender else ledger.SETTLEMENT
    memo = f"refund {refund.return_id}"
    ledger.move(books.database, ledger.Movement(held, credit, refund.centavos, memo, at))
    payer = received_payments.by_e2e_id(books, refund.account_id, refund.payment_e2e_id).payer
    line = Entry(
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
    statement.write(books, line)
    if sender:
        giver = accounts.get(books, refund.account_id)
        line = Entry(
            account_id=sender.account_id,
            kind="pix_returned",
            centavos=refund.centavos,
            at=at,
            e2e_id=refund.return_id,
            payout_id=sender.id,
            name=giver.name,
            tax_number=giver.tax_number,
            description=refund.description,
        )
        statement.write(books, line)
        came = Return(id=refund.return_id, payout_seq=sender.seq, centavos=refund.centavos, at=at)
        _keep(books, came)


def _give_back(books: Books, payout: Payout, centavos: int, at: int) -> Return:
    """Book money that another bank sends back."""
    made = Return(id=f"D{books.e2e_id(at)[1:]}", payout_seq=payout.seq, centavos=centavos, at=at)
    credit, memo = ledger.customer(payout.account_id), f"returned {payout.e2e_id}"
    ledger.move(books.database, ledger.Movement(ledger.SETTLEMENT, credit, centavos, memo, at))
    statement.write(books, _line(payout, "pix_returned", made.id, centavos, at))
    _keep(books, made)
    return made


def _keep(books: Books, made: Return) -> None:
    """Keep a return beside its payout; one that is back wholly is ``returned``."""
    books.database.insert("returns", **asdict(made))
    books.database.run(
        "UPDATE payouts SET state = 'returned', returned_at = ?, step = NULL, due_at = NULL"
        " WHERE seq = ? AND settled_centavos <= ?",
        (made.at, made.payout_seq, _came_back(books, made.payout_seq)),
    )


def _came_back(books: Books, payout_seq: int) -> int:
    sql = "SELECT coalesce(sum(centavos), 0) AS centavos FROM returns WHERE payout_seq = ?"
    found = books.database.one(sql, (payout_seq,)) or {}
    return int(found["centavos"])


def _line(payout: Payout, kind: str, e2e_id: str, centavos: int, at: int) -> Entry:
    to = payout.to
    return Entry(
        account_id=payout.account_id,
        kind=kind,
        centavos=centavos,
        at=at,
        e2e_id=e2e_id,
        payout_id=payout.id,
        name=to.name,
        tax_number=to.tax_number,
        description=payout.description,
    )

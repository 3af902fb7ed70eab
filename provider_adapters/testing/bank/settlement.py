"""Settlement: the next step of accepted payouts and refunds, and money that comes back."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TypeAlias

from provider_adapters.testing.bank import accounts, magic_values, received_payments, refunds
from provider_adapters.testing.bank.accounts import Account, Entry
from provider_adapters.testing.bank.books import Books
from provider_adapters.testing.bank.keys import Destination
from provider_adapters.testing.bank.messages import Code, Refusal, require
from provider_adapters.testing.bank.payouts import Payout, Step
from provider_adapters.testing.bank.received_payments import Payer, Payment
from provider_adapters.testing.bank.refunds import Refund

_OTHERWISE_BY = 1
_DUE = "SELECT * FROM payouts WHERE due_at <= ? ORDER BY due_at, seq LIMIT 1"
_REFUND_DUE = f"{refunds.SELECT} WHERE due_at <= ? ORDER BY due_at, refunds.seq LIMIT 1"
# A payment from another customer of this bank is also that customer's payout.
_SENDER = "SELECT * FROM payouts WHERE e2e_id = ? AND credit_to = ?"
Return: TypeAlias = tuple[str, int, int]
"""What came back of a payout: its own end-to-end id (``D...``), centavos, instant."""


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


def order_back(books: Books, payout: Payout, centavos: int | None) -> None:
    """
    Let a settled payout come back, all that is left of it unless an amount is said.

    Raises:
        Refusal: ``INVALID_REQUEST`` for one that has not settled or stayed in
            this bank, whose receiver refunds it; ``ABOVE_PAYMENT`` above the rest.
    """
    is_away = payout.state == "settled" and payout.credit_to is None
    require(is_away, "the payout has not settled at another bank")
    left = payout.paid - payout.came_back
    if not 0 < (centavos or left) <= left:
        raise Refusal(Code.ABOVE_PAYMENT, "less than that is left of the payout")
    with books.database.transaction():
        _give_back(books, payout, centavos or left, books.clock.micros())


def _settle(books: Books, payout: Payout, at: int) -> None:
    """Pay another bank or customer; the payer's statement shows it."""
    centavos = payout.centavos
    if centavos == magic_values.SETTLES_OTHERWISE:
        centavos -= _OTHERWISE_BY
    accounts.write_line(books, _line(payout, payout.to, -centavos, at))
    if payout.credit_to is not None:
        sender = accounts.get(books, payout.account_id)
        payment = Payment(
            account_id=payout.credit_to,
            centavos=centavos,
            at=at,
            e2e_id=payout.e2e_id,
            payer=Payer(name=sender.name, tax_number=sender.tax_number, message=payout.description),
        )
        received_payments.receive(books, payment)
    comes_back = payout.centavos == magic_values.COMES_BACK
    books.database.update(
        "payouts",
        payout.seq,
        state="settled",
        settled_centavos=centavos,
        settled_at=at,
        step=Step.RETURN if comes_back else None,
        due_at=at + books.settle_after if comes_back else None,
    )


def _fail(books: Books, payout: Payout, _at: int) -> None:
    books.database.update(
        "payouts", payout.seq, state="failed", failure="REJECTED", step=None, due_at=None
    )


def _return(books: Books, payout: Payout, at: int) -> None:
    _give_back(books, payout, payout.centavos, at)


_STEPS = {Step.SETTLE: _settle, Step.FAIL: _fail, Step.RETURN: _return}


def _settle_refund(books: Books, refund: Refund, at: int) -> None:
    """Pay the payer back, or fail."""
    fails = refund.step is Step.FAIL
    if not fails:
        _pay_refund(books, refund, at)
    books.database.update(
        "refunds",
        refund.seq,
        state="failed" if fails else "settled",
        failure="REJECTED" if fails else None,
        settled_at=None if fails else at,
        step=None,
        due_at=None,
    )


def _pay_refund(books: Books, refund: Refund, at: int) -> None:
    """Book a refund on the statement, and on that of a payer who is a customer of this bank."""
    paid = received_payments.by_e2e_id(books, refund.account_id, refund.payment_e2e_id)
    other = paid.payer or Payer(name="", tax_number="")
    accounts.write_line(books, _line(refund, other, -refund.centavos, at))
    sender = books.database.record(Payout, _SENDER, (refund.payment_e2e_id, refund.account_id))
    if sender:
        made = (refund.return_id, refund.centavos, at)
        giver = accounts.get(books, refund.account_id)
        _book_back(books, replace(sender, description=refund.description), giver, made)


def _give_back(books: Books, payout: Payout, centavos: int, at: int) -> None:
    """Book money that another bank sends back."""
    _book_back(books, payout, payout.to, (f"D{books.e2e_id(at)[1:]}", centavos, at))


def _book_back(books: Books, payout: Payout, giver: Account | Destination, made: Return) -> None:
    """Keep a return beside its payout; one that is back wholly is ``returned``."""
    return_id, centavos, at = made
    line = _line(payout, giver, centavos, at)
    accounts.write_line(books, replace(line, kind="pix_returned", e2e_id=return_id))
    returns = json.dumps([*json.loads(payout.returns), made])
    books.database.update("payouts", payout.seq, returns=returns)
    if payout.came_back + centavos >= payout.paid:
        books.database.update(
            "payouts", payout.seq, state="returned", returned_at=at, step=None, due_at=None
        )


def _line(
    order: Payout | Refund, other: Account | Destination | Payer, centavos: int, at: int
) -> Entry:
    """Make the line of an order; ``other`` is the other party."""
    is_payout = isinstance(order, Payout)
    return Entry(
        account_id=order.account_id,
        kind="pix_out" if is_payout else "pix_refund",
        centavos=centavos,
        at=at,
        e2e_id=order.e2e_id if isinstance(order, Payout) else order.return_id,
        payout_id=order.id,
        name=other.name,
        tax_number=other.tax_number,
        description=order.description,
    )

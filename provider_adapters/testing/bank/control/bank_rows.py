"""The rows of the control interface about the bank as a whole: calls, executions, ledger, clock."""

from __future__ import annotations

import re
from dataclasses import asdict

from provider_adapters.testing.bank.control.api import (
    ControlRequest,
    ControlRow,
    listing,
    read_payer,
)
from provider_adapters.testing.bank.kernel import ledger, refusals
from provider_adapters.testing.bank.kernel.clock import show
from provider_adapters.testing.bank.kernel.refusals import Code, Refusal
from provider_adapters.testing.bank.messages import Answer
from provider_adapters.testing.bank.pix import (
    charges,
    keys,
    payouts,
    received_payments,
    refunds,
    settlement,
)
from provider_adapters.testing.bank.pix.charges import Charge
from provider_adapters.testing.bank.pix.received_payments import Payment

_CREATED = 201
_LIMIT = re.compile(r"[0-9]{1,4}")


async def _executions(request: ControlRequest) -> Answer:
    found = payouts.executions(request.books, request.query.get("key"))
    return listing([{**asdict(execution), "at": show(execution.at)} for execution in found])


async def _pay_key(request: ControlRequest) -> Answer:
    """Receive a payment to a key, without a charge."""
    held, body, books = keys.active(request.books, request.path["key"]), request.body, request.books
    if held is None:
        raise Refusal(Code.KEY_NOT_FOUND, "no such key", status=404)
    at = books.clock.micros()
    payment = Payment(
        account_id=held.account_id,
        centavos=body.reais("value"),
        at=at,
        e2e_id=books.e2e_id(at),
        payer=read_payer(body.inside("payer")) if "payer" in body else None,
    )
    with books.database.transaction():
        paid = received_payments.receive(books, payment)
    document = {
        "account": paid.account_id,
        "e2e_id": paid.e2e_id,
        "centavos": paid.centavos,
        "paid_at": show(paid.at),
    }
    return Answer(document=document)


async def _refunds(request: ControlRequest) -> Answer:
    rows = [
        {
            "key": refund.idempotency_key,
            "centavos": refund.centavos,
            "return_id": refund.return_id,
            "payment": refund.payment_e2e_id,
            "at": show(refund.created_at),
        }
        for refund in refunds.executed(request.books, request.query.get("key"))
    ]
    return listing(rows)


async def _calls(request: ControlRequest) -> Answer:
    limit = request.query.get("limit", "1000")
    if not _LIMIT.fullmatch(limit):
        problem = "limit is a number"
        raise refusals.invalid(problem)
    return listing(request.controls.calls.last(int(limit)))


async def _clear_calls(request: ControlRequest) -> Answer:
    return Answer(document={"cleared": request.controls.calls.clear()})


async def _pay_charge(request: ControlRequest) -> Answer:
    charge = _one_charge(request)
    body = request.body
    centavos = body.reais("value") if "value" in body else None
    paid_by = read_payer(body.inside("payer")) if "payer" in body else None
    paid = charges.pay(request.books, charge, centavos, paid_by)
    document = {
        "reference": charge.reference,
        "e2e_id": paid.e2e_id,
        "centavos": paid.centavos,
        "paid_at": show(paid.at),
    }
    return Answer(document=document)


async def _ledger(request: ControlRequest) -> Answer:
    database = request.books.database
    document = {
        "balanced": ledger.balanced(database),
        "total": ledger.total(database),
        "accounts": ledger.balances(database),
    }
    return Answer(document=document)


async def _clock(request: ControlRequest) -> Answer:
    clock = request.books.clock
    return Answer(document={"offset_s": clock.offset_s, "now": show(clock.micros())})


async def _move_clock(request: ControlRequest) -> Answer:
    request.books.clock.move(request.body.seconds("offset_s"))
    settlement.settle_due(request.books)
    return await _clock(request)


def _one_charge(request: ControlRequest) -> Charge:
    """Find the charge by its reference, in one account when there are several."""
    reference, account_id = request.path["reference"], request.query.get("account")
    if account_id is not None:
        return charges.get(request.books, account_id, reference)
    found = charges.anywhere(request.books, reference)
    if len(found) > 1:
        raise Refusal(Code.AMBIGUOUS, "several accounts have this charge: say which account")
    if not found:
        what = "charge"
        raise refusals.not_found(what)
    return found[0]


ROWS = (
    ControlRow("GET", "/executions", _executions),
    ControlRow("GET", "/refunds", _refunds),
    ControlRow("GET", "/calls", _calls),
    ControlRow("DELETE", "/calls", _clear_calls),
    ControlRow("POST", "/charges/{reference:[^/]+}/pay", _pay_charge),
    ControlRow("POST", "/keys/{key:[^/]+}/pay", _pay_key),
    ControlRow("GET", "/ledger", _ledger),
    ControlRow("GET", "/clock", _clock),
    ControlRow("POST", "/clock", _move_clock),
)
"""The rows about the bank as a whole."""

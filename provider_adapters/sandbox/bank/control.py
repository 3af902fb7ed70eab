"""
The control interface: what tests and demonstrations tell the bank to do.

Its words are the contract's, its money is in reais; it is on a port of its
own, which no fault touches.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass

from aiohttp import web
from aiohttp.typedefs import Handler

from provider_adapters.sandbox.bank import (
    answers,
    bodies,
    charges,
    incoming,
    keys,
    ledger,
    payouts,
    refunds,
    refusals,
    settlement,
)
from provider_adapters.sandbox.bank.answers import Answer
from provider_adapters.sandbox.bank.books import Books
from provider_adapters.sandbox.bank.calls import Calls
from provider_adapters.sandbox.bank.charges import Charge
from provider_adapters.sandbox.bank.clock import show
from provider_adapters.sandbox.bank.door import Door
from provider_adapters.sandbox.bank.faults import OPERATIONS, Fault, FaultKind, Faults
from provider_adapters.sandbox.bank.incoming import Payer, Payment
from provider_adapters.sandbox.bank.refusals import Code, Refusal

_CREATED = 201
_LIMIT = re.compile(r"[0-9]{1,4}")
_STATUSES = range(200, 600)
_MOST = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Levers:
    """Everything the control interface can move."""

    books: Books
    faults: Faults
    calls: Calls
    door: Door


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """One control request."""

    levers: Levers
    path: Mapping[str, str]
    query: Mapping[str, str]
    raw: bytes

    @property
    def books(self) -> Books:
        """The bank's books."""
        return self.levers.books

    @property
    def body(self) -> bodies.Fields:
        """The body, read strictly; raises ``INVALID_REQUEST``."""
        return bodies.read(self.raw)


@dataclass(frozen=True, slots=True)
class Lever:
    """One call of the control interface, below ``/control``."""

    method: str
    path: str
    run: Callable[[Told], Awaitable[Answer]]


def application(levers: Levers, rows: Sequence[Lever]) -> web.Application:
    """Build the application of the control port."""
    app = web.Application(middlewares=[answers.show_refusals])
    for row in rows:
        app.router.add_route(row.method, f"/control{row.path}", _serve(row, levers))
    return app


def listing(rows: Sequence[object]) -> Answer:
    """Show a list."""
    return Answer(document={"data": rows, "meta": {"total": len(rows)}})


def payer(body: bodies.Fields) -> Payer:
    """Read a payer; raises ``INVALID_REQUEST``."""
    return Payer(
        name=body.text("name"),
        tax_number=body.text("tax_number"),
        message=body.text("message", ""),
    )


def _serve(row: Lever, levers: Levers) -> Handler:
    async def serve(request: web.Request) -> web.StreamResponse:
        raw = await request.read()
        settlement.settle_due(levers.books)
        told = Told(levers=levers, path=request.match_info, query=request.query, raw=raw)
        return answers.respond(await row.run(told))

    return serve


async def _inject(told: Told) -> Answer:
    fault = _fault(told.body)
    if fault.fault is FaultKind.REFUSE:
        await told.levers.door.refuse(fault)
    else:
        told.levers.faults.inject(fault)
    return Answer(document=asdict(fault), status=_CREATED)


async def _faults(told: Told) -> Answer:
    refusing = told.levers.door.refusing
    waiting = told.levers.faults.waiting() + ((refusing,) if refusing else ())
    return listing([asdict(fault) for fault in waiting])


async def _clear_faults(told: Told) -> Answer:
    refusing = int(told.levers.door.refusing is not None)
    await told.levers.door.open()
    return Answer(document={"cleared": told.levers.faults.clear() + refusing})


async def _executions(told: Told) -> Answer:
    found = payouts.executions(told.books, told.query.get("key"))
    return listing([{**asdict(execution), "at": show(execution.at)} for execution in found])


async def _pay_key(told: Told) -> Answer:
    """Let somebody pay to a key, without a charge."""
    held, body, books = keys.active(told.books, told.path["key"]), told.body, told.books
    if held is None:
        raise Refusal(Code.KEY_NOT_FOUND, "no such key", status=404)
    at = books.clock.micros()
    payment = Payment(
        account_id=held.account_id,
        centavos=body.reais("value"),
        at=at,
        e2e_id=books.e2e_id(at),
        payer=payer(body.inside("payer")) if "payer" in body else None,
    )
    with books.database.transaction():
        paid = incoming.receive(books, payment)
    document = {
        "account": paid.account_id,
        "e2e_id": paid.e2e_id,
        "centavos": paid.centavos,
        "paid_at": show(paid.at),
    }
    return Answer(document=document)


async def _refunds(told: Told) -> Answer:
    rows = [
        {
            "key": refund.idempotency_key,
            "centavos": refund.centavos,
            "return_id": refund.return_id,
            "payment": refund.payment_e2e_id,
            "at": show(refund.created_at),
        }
        for refund in refunds.executed(told.books, told.query.get("key"))
    ]
    return listing(rows)


async def _calls(told: Told) -> Answer:
    limit = told.query.get("limit", "1000")
    if not _LIMIT.fullmatch(limit):
        problem = "limit is a number"
        raise refusals.invalid(problem)
    return listing(told.levers.calls.last(int(limit)))


async def _clear_calls(told: Told) -> Answer:
    return Answer(document={"cleared": told.levers.calls.clear()})


async def _pay_charge(told: Told) -> Answer:
    charge = _one_charge(told)
    body = told.body
    centavos = body.reais("value") if "value" in body else None
    paid_by = payer(body.inside("payer")) if "payer" in body else None
    paid = charges.pay(told.books, charge, centavos, paid_by)
    document = {
        "reference": charge.reference,
        "e2e_id": paid.e2e_id,
        "centavos": paid.centavos,
        "paid_at": show(paid.at),
    }
    return Answer(document=document)


async def _ledger(told: Told) -> Answer:
    database = told.books.database
    document = {
        "balanced": ledger.balanced(database),
        "total": ledger.total(database),
        "accounts": ledger.standings(database),
    }
    return Answer(document=document)


async def _clock(told: Told) -> Answer:
    clock = told.books.clock
    return Answer(document={"offset_s": clock.offset_s, "now": show(clock.micros())})


async def _move_clock(told: Told) -> Answer:
    told.books.clock.move(told.body.seconds("offset_s"))
    settlement.settle_due(told.books)
    return await _clock(told)


def _fault(body: bodies.Fields) -> Fault:
    status = body.whole("status", 500)
    if status not in _STATUSES:
        problem = "status is 200 to 599"
        raise refusals.invalid(problem)
    return Fault(
        operation=body.choice("operation", {name: name for name in OPERATIONS}, "*"),
        fault=FaultKind(body.choice("fault", {str(kind): str(kind) for kind in FaultKind})),
        status=status,
        count=_count(body),
        executed=body.flag("executed"),
    )


def _count(body: bodies.Fields) -> int | None:
    """Read how often; absent is once, ``null`` is until cleared."""
    if body.says_null("count"):
        return None
    count = body.whole("count", 1)
    if not 1 <= count <= _MOST:
        problem = "count is 1 to a million, or null"
        raise refusals.invalid(problem)
    return count


def _one_charge(told: Told) -> Charge:
    """Find the charge by its reference, in one account when there are several."""
    reference, account_id = told.path["reference"], told.query.get("account")
    if account_id is not None:
        return charges.get(told.books, account_id, reference)
    found = charges.anywhere(told.books, reference)
    if len(found) > 1:
        raise Refusal(Code.AMBIGUOUS, "several accounts have this charge: say which account")
    if not found:
        what = "charge"
        raise refusals.absent(what)
    return found[0]


ROWS = (
    Lever("POST", "/faults", _inject),
    Lever("GET", "/faults", _faults),
    Lever("DELETE", "/faults", _clear_faults),
    Lever("GET", "/executions", _executions),
    Lever("GET", "/refunds", _refunds),
    Lever("GET", "/calls", _calls),
    Lever("DELETE", "/calls", _clear_calls),
    Lever("POST", "/charges/{reference:[^/]+}/pay", _pay_charge),
    Lever("POST", "/keys/{key:[^/]+}/pay", _pay_key),
    Lever("GET", "/ledger", _ledger),
    Lever("GET", "/clock", _clock),
    Lever("POST", "/clock", _move_clock),
)
"""What is about the whole bank."""

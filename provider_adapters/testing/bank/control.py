"""
The control interface of tests and demonstrations.

It uses the words of the gateway's contract and amounts in reais. It has a port of its own, which
no injected fault affects. The sandbox bank's README lists the calls.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Final

from aiohttp import web
from aiohttp.typedefs import Handler

from provider_adapters.testing.bank import (
    accounts,
    charges,
    clock,
    keys,
    magic_values,
    messages,
    payouts,
    received_payments,
    refunds,
    settlement,
)
from provider_adapters.testing.bank.accounts import Account, PayoutKind
from provider_adapters.testing.bank.books import Books, read_number
from provider_adapters.testing.bank.clock import show
from provider_adapters.testing.bank.dialect import Dialect
from provider_adapters.testing.bank.messages import (
    OPERATIONS,
    Answer,
    Code,
    Document,
    Fault,
    FaultKind,
    Faults,
    Fields,
    Refusal,
    fields,
    found,
    require,
)
from provider_adapters.testing.bank.ports import ListeningPort, RecordedCalls
from provider_adapters.testing.bank.received_payments import Payer, Payment

_CREATED = 201
_SECOND = 1_000_000
_CHARGE_STATES: Final = ("pending", "paid", "expired", "anonymous", "canceled")
_CHARGE_TYPES: Final = {"Dynamic": "dynamic", "Static": "static"}
_EXPIRED_S: Final = -3600
_SANDBOX: Final = Payer(name="Sandbox", tax_number="00000000000191", message="top-up")
_NOBODY: Final = Payer(name="", tax_number="")
# Who pays where nobody is named.
_SOMEBODY: Final = Payer(name="Maria Silva", tax_number="52998224725")
_DESCRIPTIONS: Final = {
    "fee": "Tarifa",
    "ted_in": "TED recebida",
    "ted_out": "TED enviada",
    "boleto_in": "Boleto liquidado",
    "boleto_out": "Pagamento de boleto",
}
"""Every kind of movement that is not Pix, with its default description."""
_INTO: Final = frozenset({"ted_in", "boleto_in"})


@dataclass(frozen=True, slots=True)
class Controls:
    """Everything the control interface can change."""

    dialect: Dialect
    books: Books
    faults: Faults
    calls: RecordedCalls
    ports: Sequence[ListeningPort]


@dataclass(frozen=True, slots=True)
class _Request:
    controls: Controls
    path: Mapping[str, str]
    query: Mapping[str, str]
    body: Fields

    @property
    def books(self) -> Books:
        return self.controls.books

    @property
    def account(self) -> Account:
        """The account of the path; raises ``NOT_FOUND``."""
        return accounts.get(self.books, self.path["id"])

    @property
    def payout(self) -> payouts.Payout:
        """The payout of the path, by its idempotency key or the bank's id."""
        return payouts.anywhere(self.books, self.path["key"])

    @property
    def at(self) -> int:
        """The instant that a movement is dated to."""
        given = self.body.optional("at", self.body.text)
        return self.books.clock.micros() if given is None else clock.read(given)

    def payer(self, default: Payer | None = None, name: str = "payer") -> Payer | None:
        given = self.body.optional(name, self.body.inside)
        if given is None:
            return default
        said, number = given.text("name"), given.text("tax_number")
        return Payer(name=said, tax_number=number, message=given.text("message", ""))


def application(controls: Controls) -> web.Application:
    """Build the application of the control port."""
    app = web.Application(middlewares=[messages.showing_refusals(messages.refusal)])
    for method, path, run, status in _ROWS:
        app.router.add_route(method, f"/control{path}", _serve(run, status, controls))
    return app


_Run = Callable[[_Request], Awaitable[Document]]


def _serve(run: _Run, status: int, controls: Controls) -> Handler:
    async def serve(received: web.Request) -> web.StreamResponse:
        raw = await received.read()
        settlement.settle_due(controls.books)
        request = _Request(controls, received.match_info, received.query, messages.read(raw))
        return messages.respond(Answer(document=await run(request), status=status))

    return serve


def _listing(rows: Sequence[object]) -> Document:
    return {"data": rows, "meta": {"total": len(rows)}}


async def _open(request: _Request) -> Document:
    body, books = request.body, request.books
    balance = body.optional("balance", body.reais)
    number = str(int(books.random_hex(4), 16)).zfill(10)
    default = request.controls.dialect.payout_kind
    account = Account(
        id=body.text("id", "") or books.identifier("cc"),
        name=body.text("name"),
        tax_number=body.text("tax_number"),
        branch=body.text("branch", "0001"),
        number=body.text("account", f"{number[:9]}-{number[9]}"),
        city=body.text("city", "Sao Paulo"),
        zip_code=body.text("zip_code", "01310-100"),
        payout_kind=PayoutKind(body.choice("payout_kind", list(PayoutKind), default)),
        created_at=books.clock.micros(),
    )
    admitted = request.controls.dialect.admit(books, account, body)
    accounts.add(books, account, admitted.token)
    if balance:
        _receive(request, account.id, balance, _SANDBOX)
    # The token is what named the account before there were other credentials.
    secrets = {"token": admitted.token, "credentials": admitted.credentials}
    return {**_account(books, account), **secrets}


async def _accounts(request: _Request) -> Document:
    return _listing([_account(request.books, each) for each in accounts.list_all(request.books)])


async def _get(request: _Request) -> Document:
    return _account(request.books, request.account)


def _account(books: Books, account: Account) -> Document:
    shown = asdict(account)
    bank = fields(books.identity, "ispb", bank_number="compe")
    made = {"account": shown.pop("number"), "created_at": show(account.created_at)}
    return {**shown, **bank, **made}


async def _top_up(request: _Request) -> Document:
    _receive(request, request.account.id, request.body.reais("value"), _SANDBOX)
    return _balance(request)


async def _block(request: _Request) -> Document:
    body, books = request.body, request.books
    wanted = accounts.Block(
        kind=body.choice("kind", accounts.BLOCK_KINDS, "bank"),
        centavos=body.reais("value"),
        reference=body.text("reference", ""),
        since=books.clock.micros(),
    )
    accounts.block(books, request.account.id, wanted)
    return _balance(request)


async def _unblock(request: _Request) -> Document:
    accounts.unblock(request.books, request.account.id, request.body.reais("value"))
    return _balance(request)


async def _move(request: _Request) -> Document:
    """Book a movement that is not Pix."""
    body, books, account_id = request.body, request.books, request.account.id
    kind, centavos = body.choice("kind", _DESCRIPTIONS.keys()), body.reais("value")
    require = accounts.require_room if kind in _INTO else accounts.require_available
    require(books, account_id, centavos)
    counterparty = request.payer(name="counterparty") or _NOBODY
    line = accounts.Entry(
        account_id=account_id,
        kind=kind,
        centavos=centavos if kind in _INTO else -centavos,
        at=request.at,
        name=counterparty.name,
        tax_number=counterparty.tax_number,
        description=body.text("description", "") or _DESCRIPTIONS[kind],
    )
    return {"id": accounts.line_number(accounts.write_line(books, line))}


async def _refund(request: _Request) -> Document:
    """Order a refund as the customer would; a known key is the same refund."""
    account_id, body = request.account.id, request.body
    order = refunds.RefundOrder(
        payment_e2e_id=body.text("e2e_id"),
        centavos=body.reais("value"),
        idempotency_key=body.text("key"),
        reference=body.text("reference", ""),
        description=body.text("description", ""),
    )
    known = refunds.repeated(request.books, account_id, order)
    made = known or refunds.accept(request.books, account_id, order)
    return fields(made, "id", "return_id", "centavos")


async def _incoming(request: _Request) -> Document:
    body, somebody = request.body, request.payer() or _SOMEBODY
    payer = replace(somebody, message=body.text("description", "") or somebody.message)
    reference = body.text("reference", "")  # whatever a payer wrote: it pays no charge by that
    paid = _receive(request, request.account.id, body.reais("value"), payer, reference)
    shown = fields(paid, "e2e_id", "centavos")
    return {"id": accounts.line_number(paid.seq), **shown, "at": show(paid.at)}


def _receive(
    request: _Request, account_id: str, centavos: int, payer: Payer, reference: str = ""
) -> Payment:
    accounts.require_room(request.books, account_id, centavos)
    at = request.at
    e2e_id = request.books.e2e_id(at)
    paid = Payment(
        account_id=account_id,
        centavos=centavos,
        at=at,
        e2e_id=e2e_id,
        payer=payer,
        reference=reference,
    )
    return received_payments.receive(request.books, paid)


def _balance(request: _Request) -> Document:
    account_id = request.path["id"]
    said = accounts.balance(request.books, account_id)
    shown = fields(said, balance_centavos="owned", blocked_centavos="blocked")
    return {"id": account_id, **shown}


async def _add_key(request: _Request) -> Document:
    body = request.body
    new = keys.NewKey(
        type=body.text("type"),
        key=body.optional("key", body.text),
        id=body.optional("id", body.text),
    )
    made = keys.add(request.books, request.account.id, new)
    return fields(made, "id", "type", "key", "status")


async def _add_charge(request: _Request) -> Document:
    body, books, account = request.body, request.books, request.account
    state = body.choice("state", _CHARGE_STATES, "pending")
    lives = _EXPIRED_S if state == "expired" else body.optional("expires_in", body.whole)
    own = keys.usable(books, account.id)
    require(own or "key" in body, "the account has no active key")
    new = charges.NewCharge(
        reference=body.text("reference"),
        type=body.choice("type", _CHARGE_TYPES, "Dynamic"),
        key=body.text("key", "") or own[0].key,
        centavos=body.optional("value", body.reais),
        expires_in=None if lives is None else lives * _SECOND,
        reusable=body.flag("reusable"),
        description=body.text("description", ""),
        payer=None if state == "anonymous" else request.payer(_SOMEBODY),
    )
    made = charges.add(books, account, new)
    if state == "paid":
        charges.pay(books, made, made.centavos or 10_00, None)
    if state == "canceled":
        charges.cancel(books, account.id, made.reference)
    return {"reference": made.reference, "state": state, "emv": made.emv}


async def _charges(request: _Request) -> Document:
    """List an account's charges by the bank's names for them."""
    listed = charges.list_all(request.books, request.account.id)
    names = ("reference", "txid", "status", "centavos", "emv")
    return _listing([fields(each, *names) for each in listed])


async def _pay_charge(request: _Request) -> Document:
    charge, body = _one_charge(request), request.body
    value = body.optional("value", body.reais)
    if body.flag("any_pix") and charges.is_only_named(request.books, charge, value):
        payer = request.payer() or charge.payer or _SOMEBODY
        centavos = value or charge.centavos or 0
        paid = _receive(request, charge.account_id, centavos, payer, charge.reference)
        pays = False
    else:
        paid = charges.pay(request.books, charge, value, request.payer())
        pays = True
    shown = fields(paid, "reference", "e2e_id", "centavos")
    return {**shown, "paid_at": show(paid.at), "pays": pays}


def _one_charge(request: _Request) -> charges.Charge:
    named = charges.anywhere(request.books, request.path["reference"])
    if "account" in request.query:
        named = [each for each in named if each.account_id == request.query["account"]]
    if len(named) > 1:
        raise Refusal(Code.AMBIGUOUS, "several accounts have this charge: say which account")
    return found(named[0] if named else None, "charge")


async def _hold(request: _Request) -> Document:
    seconds = request.body.whole("seconds", payouts.LONGEST_HOLD_S)
    payouts.hold(request.books, request.payout, seconds)
    return _payout(request)


async def _hold_next(request: _Request) -> Document:
    account_id = request.account.id
    seconds = request.body.whole("seconds", payouts.LONGEST_HOLD_S)
    payouts.hold_next(request.books, account_id, seconds)
    return {"id": account_id, "seconds": seconds}


async def _release(request: _Request) -> Document:
    payouts.release(request.books, request.payout, refuse=request.body.flag("refuse"))
    return _payout(request)


async def _return(request: _Request) -> Document:
    body = request.body
    settlement.order_back(request.books, request.payout, body.optional("value", body.reais))
    return _payout(request)


def _payout(request: _Request) -> Document:
    """Show a payout as its customer would see it now."""
    return request.controls.dialect.payout(request.payout)


async def _returns(request: _Request) -> Document:
    rows = [
        {"key": payout.idempotency_key, "id": name, "centavos": centavos, "at": show(at)}
        for payout in payouts.of_key(request.books, request.query.get("key"))
        for name, centavos, at in json.loads(payout.returns)
    ]
    rows.sort(key=lambda row: row["at"])
    return _listing(rows)


async def _executions(request: _Request) -> Document:
    named = {"key": "idempotency_key", "centavos": "paid"}
    listed = payouts.executions(request.books, request.query.get("key"))
    rows = [{**fields(each, "e2e_id", **named), "at": show(each.created_at)} for each in listed]
    return _listing(rows)


async def _refunds(request: _Request) -> Document:
    named = {"key": "idempotency_key", "payment": "payment_e2e_id"}
    executed = refunds.executed(request.books, request.query.get("key"))
    rows = [
        {**fields(each, "centavos", "return_id", **named), "at": show(each.created_at)}
        for each in executed
    ]
    return _listing(rows)


async def _calls(request: _Request) -> Document:
    limit = read_number(request.query, "limit", 1000)
    kept = list(request.controls.calls.kept)
    return _listing(kept[max(len(kept) - limit, 0) :])


async def _clear_calls(request: _Request) -> Document:
    cleared = len(request.controls.calls.kept)
    request.controls.calls.kept.clear()
    return {"cleared": cleared}


async def _ledger(request: _Request) -> Document:
    database = request.books.database
    owned = {row["id"]: row["owned"] for row in database.all("SELECT id, owned FROM accounts")}
    return {"balanced": accounts.balanced(database), "accounts": owned}


async def _clock(request: _Request) -> Document:
    now = request.books.clock
    return {"offset_s": now.offset_s, "now": show(now.micros())}


async def _move_clock(request: _Request) -> Document:
    request.books.clock.move(request.body.seconds("offset_s"))
    settlement.settle_due(request.books)
    return await _clock(request)


async def _inject(request: _Request) -> Document:
    body, controls = request.body, request.controls
    account_id, key = body.text("account", ""), body.text("key", "")
    if account_id:
        accounts.get(request.books, account_id)
        closes = body.text("fault") == FaultKind.REFUSE
        require(not closes, "refuse closes the port to every account")
    if (fate := body.text("fault")) in magic_values.FATES:
        require(account_id and key, "a payout's fate needs account and key")
        payouts.choose_fate(request.books, account_id, key, fate)
        return {"fault": fate, "account": account_id, "key": key}
    fault = Fault(
        operation=body.choice("operation", OPERATIONS, "*"),
        fault=FaultKind(body.choice("fault", list(FaultKind))),
        status=body.whole("status", 500),
        count=None if body.says_null("count") else body.whole("count", 1),
        executed=body.flag("executed"),
        account=account_id,
        key=key,
    )
    if fault.fault is FaultKind.REFUSE:
        for port in controls.ports:
            await port.refuse(fault)
    else:
        controls.faults.add(fault, request.books.clock.micros())
    return asdict(fault)


async def _faults(request: _Request) -> Document:
    refusing = request.controls.ports[0].refusing
    return _listing([asdict(fault) for fault in (*request.controls.faults, *refusing)])


async def _clear_faults(request: _Request) -> Document:
    controls = request.controls
    cleared = len(controls.faults) + len(controls.ports[0].refusing)
    controls.faults.clear()
    payouts.forget_fates(request.books)
    for port in controls.ports:
        await port.open()
    return {"cleared": cleared}


_ACCOUNT = "/accounts/{id:[^/]+}"
_PAYOUT = "/payouts/{key:[^/]+}"
_ROWS: Final[Sequence[tuple[str, str, _Run, int]]] = (
    ("POST", "/accounts", _open, _CREATED),
    ("GET", "/accounts", _accounts, 200),
    ("GET", _ACCOUNT, _get, 200),
    ("POST", f"{_ACCOUNT}/top-up", _top_up, 200),
    ("POST", f"{_ACCOUNT}/block", _block, 200),
    ("POST", f"{_ACCOUNT}/unblock", _unblock, 200),
    ("POST", f"{_ACCOUNT}/movements", _move, _CREATED),
    ("POST", f"{_ACCOUNT}/refunds", _refund, _CREATED),
    ("POST", f"{_ACCOUNT}/incoming", _incoming, _CREATED),
    ("POST", f"{_ACCOUNT}/hold", _hold_next, 200),
    ("POST", f"{_ACCOUNT}/keys", _add_key, _CREATED),
    ("GET", f"{_ACCOUNT}/charges", _charges, 200),
    ("POST", f"{_ACCOUNT}/charges", _add_charge, _CREATED),
    ("POST", "/charges/{reference:[^/]+}/pay", _pay_charge, 200),
    ("POST", f"{_PAYOUT}/hold", _hold, 200),
    ("POST", f"{_PAYOUT}/release", _release, 200),
    ("POST", f"{_PAYOUT}/return", _return, 200),
    ("GET", "/returns", _returns, 200),
    ("GET", "/executions", _executions, 200),
    ("GET", "/refunds", _refunds, 200),
    ("GET", "/calls", _calls, 200),
    ("DELETE", "/calls", _clear_calls, 200),
    ("GET", "/ledger", _ledger, 200),
    ("GET", "/clock", _clock, 200),
    ("POST", "/clock", _move_clock, 200),
    ("POST", "/faults", _inject, _CREATED),
    ("GET", "/faults", _faults, 200),
    ("DELETE", "/faults", _clear_faults, 200),
)

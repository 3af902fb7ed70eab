"""
Asaas as a simulated bank: its calls, its refusals and its callbacks.

``ASAAS`` refuses a second transfer of the same value to the same destination within 15 minutes,
as the bank does. ``ASAAS_WITH_TWINS`` does not: tests that pay the same again and again use it.
"""

from __future__ import annotations

import dataclasses
import json
from typing import Final

from provider_adapters.testing.asaas import documents, rows
from provider_adapters.testing.bank.dialect import (
    Admission,
    BankRequest,
    Callback,
    Dialect,
    subject_of,
)
from provider_adapters.testing.bank.kernel.accounts import Account, PayoutKind
from provider_adapters.testing.bank.kernel.books import BankIdentity, Books
from provider_adapters.testing.bank.kernel.listeners import Event, EventKind, Listener
from provider_adapters.testing.bank.kernel.refusals import Code, Refusal
from provider_adapters.testing.bank.messages import Answer, Fields
from provider_adapters.testing.bank.pix.payouts import Payout
from provider_adapters.testing.bank.pix.received_payments import Payment
from provider_adapters.testing.bank.simulator import Simulator

_UNAUTHORIZED: Final = "invalid_access_token"
_WORDS: Final = frozenset({_UNAUTHORIZED, "access_token_not_found", "invalid_value"})
"""Refusals whose text is the bank's own code; all others are one that says nothing."""
_UNLISTED: Final = "invalid_action"


def _authenticate(request: BankRequest) -> Account:
    """Return the account of the key; a GET has no body (docs.asaas.com, HTTP response codes)."""
    token = request.headers.get("access_token", "")
    if not token:
        raise Refusal(Code.UNAUTHORIZED, "access_token_not_found")
    account = request.holder(token, _UNAUTHORIZED)
    if request.method == "GET" and request.raw:
        raise Refusal(Code.NOT_ALLOWED, "a GET has no body")
    return account


def _admit(books: Books, _: Account, given: Fields) -> Admission:
    token = given.text("token", "") or f"$aact_hmlg_{books.random_hex(24)}"
    return Admission(token=token, credentials={"api_key": token})


def _refusal(problem: Refusal) -> Answer:
    """Show a refusal; 404 and a failure have no words."""
    status = int(problem.status)
    if problem.code is Code.TOO_MANY_REQUESTS:
        headers = {"RateLimit-Limit": "100", "RateLimit-Remaining": "0", "RateLimit-Reset": "30"}
        return Answer(document=b"", status=status, headers=headers)
    if problem.code in {Code.NOT_FOUND, Code.METHOD_NOT_ALLOWED, Code.INTERNAL}:
        return Answer(document=b"", status=status)
    code = problem.message if problem.message in _WORDS else _UNLISTED
    if problem.code is Code.UNAUTHORIZED and code == _UNLISTED:
        code = _UNAUTHORIZED
    said = [{"code": code, "description": "A requisição foi recusada"}]
    return Answer(document={"errors": said}, status=status)


def _callback(books: Books, event: Event, to: Listener) -> Callback | None:
    """Write an event with the token of its address; nothing is told of what came back."""
    match event.kind, subject_of(books, event):
        case EventKind.PAYOUT, Payout() as payout:
            shown = documents.transfer(payout)
            said = {"event": f"TRANSFER_{shown['status']}", "transfer": shown}
        case EventKind.PAYOUT, _:  # what a test says of a payout that is not there yet
            shown = {"id": "", "externalReference": event.subject, "status": "PENDING"}
            said = {"event": "TRANSFER_PENDING", "transfer": shown}
        case EventKind.CHARGE, paid:  # older files, and tests, name the charge itself
            reference = paid.reference if isinstance(paid, Payment) else event.subject
            payment = {"id": "", "externalReference": reference}
            said = {"event": "PAYMENT_RECEIVED", "payment": payment}
        case _:
            return None
    body = json.dumps({"id": event.id, **said}, ensure_ascii=False).encode()
    headers = {"asaas-access-token": bytes.fromhex(to.secret).decode()}
    return Callback(url=to.url, body=body, headers=headers)


ASAAS: Final = Dialect(
    identity=BankIdentity(
        name="Asaas IP S.A.", ispb="19540550", compe="461", host="pix.asaas.example"
    ),
    rows=rows.ROWS,
    authenticate=_authenticate,
    refusal=_refusal,
    payout=documents.transfer,
    callback=_callback,
    admit=_admit,
    payout_kind=PayoutKind.NONE,
    secret_headers=frozenset({"access_token"}),
)
ASAAS_WITH_TWINS: Final = dataclasses.replace(ASAAS, rows=rows.ROWS_WITH_TWINS)
SIMULATORS: Final = {
    "asaas": Simulator(adapter="asaas", dialect=ASAAS, tells_returns=False),
}

"""The calls of the standard, one row for each; paths begin where a bank has them begin."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from provider_adapters.testing.apipix import documents, refusals, requests
from provider_adapters.testing.apipix.refusals import Problem
from provider_adapters.testing.bank.dialect import BankRequest, Row
from provider_adapters.testing.bank.kernel import listeners, state
from provider_adapters.testing.bank.kernel.clock import show
from provider_adapters.testing.bank.kernel.refusals import Code, Refusal
from provider_adapters.testing.bank.kernel.state import Kept
from provider_adapters.testing.bank.messages import Answer
from provider_adapters.testing.bank.pix import (
    charges,
    keys,
    magic_values,
    received_payments,
    refunds,
)
from provider_adapters.testing.bank.pix.charges import Charge

_CREATED: Final = 201
_NO_CONTENT: Final = 204
_WEBHOOK: Final = "webhook"
_REMOVED: Final = "REMOVIDA_PELO_USUARIO_RECEBEDOR"


def rows_below(base: str, immediate: str = "") -> Sequence[Row]:
    """Return the rows of the standard, with what precedes their paths, that of ``cob`` apart."""
    charge, one, refund = "/cob/{txid:[^/]+}", "/pix/{e2eid:[^/]+}", "/devolucao/{id:[^/]+}"
    webhook = "/webhook/{chave:[^/]+}"
    rows = (
        Row("PUT", charge, "charge", _add_charge),
        Row("GET", charge, "charge", _charge),
        Row("PATCH", charge, "charge", _cancel_charge),
        Row("GET", "/cobv/{txid:[^/]+}", "charge", _due_charge),
        Row("GET", "/pix", "payment", _received),
        Row("GET", one, "payment", _received_one),
        Row("PUT", one + refund, "refund", _give_back),
        Row("GET", one + refund, "refund_read", _refund),
        Row("PUT", webhook, "callbacks", _listen),
        Row("GET", webhook, "callbacks", _listener),
        Row("DELETE", webhook, "callbacks", _forget),
    )
    return [
        Row(
            row.method,
            ((immediate or base) if row.path == charge else base) + row.path,
            row.operation,
            row.run,
        )
        for row in rows
    ]


def _add_charge(request: BankRequest) -> Answer:
    made = charges.add(request.books, request.account, requests.charge(request))
    return Answer(document=documents.charge(request.books, made), status=_CREATED)


def _charge(request: BankRequest) -> Answer:
    return Answer(document=documents.charge(request.books, _found(request)))


def _found(request: BankRequest) -> Charge:
    """Find a charge by its txid, which the control interface may have called its reference."""
    account, txid = request.account.id, request.path["txid"]
    try:
        return charges.by_txid(request.books, account, txid)
    except Refusal:
        with refusals.absent(lambda: refusals.standard(Problem.CHARGE_ABSENT)):
            return charges.get(request.books, account, txid)


def _cancel_charge(request: BankRequest) -> Answer:
    request.body.choice("status", {_REMOVED: ""})
    found = _found(request)
    if found.status != "active":
        raise Refusal(Code.CHARGE_CANCELED, "the charge is not active")
    gone = charges.cancel(request.books, request.account.id, found.reference)
    return Answer(document=documents.charge(request.books, gone))


def _due_charge(_request: BankRequest) -> Answer:
    """Say that there is none: the books have no charges with a due date."""
    raise refusals.standard(Problem.DUE_CHARGE_ABSENT)


def _received(request: BankRequest) -> Answer:
    asked, books, account = requests.list_query(request), request.books, request.account.id
    wanted = request.query.get("devolucaoPresente")
    if wanted is None:
        found = received_payments.read(books, account, asked.page_alone)
        shown, total = [documents.pix(books, each) for each in found.items], found.total
    else:
        every = received_payments.read(books, account, asked.everything).items
        fit = [documents.pix(books, each) for each in every]
        fit = [each for each in fit if ("devolucoes" in each) is (wanted == "true")]
        shown, total = fit[asked.page * asked.size :][: asked.size], len(fit)
    paging = documents.Paging(asked.page, asked.size, total)
    return Answer(document=documents.page(shown, request.query, paging))


def _received_one(request: BankRequest) -> Answer:
    with refusals.absent(lambda: refusals.standard(Problem.PAYMENT_ABSENT)):
        found = received_payments.by_e2e_id(
            request.books, request.account.id, request.path["e2eid"]
        )
    return Answer(document=documents.pix(request.books, found))


def _give_back(request: BankRequest) -> Answer:
    order = requests.refund(request)
    if refunds.repeated(request.books, request.account.id, order) is not None:
        raise Refusal(Code.KEY_REUSED, "this id was used before")
    fault = magic_values.on_the_wire(order.centavos)
    if fault and not fault.executes:
        return Answer(document={}, fault=fault)
    with refusals.absent(lambda: refusals.standard(Problem.PAYMENT_ABSENT)):
        made = refunds.accept(request.books, request.account.id, order)
    return Answer(document=documents.refund(made), status=_CREATED, fault=fault)


def _refund(request: BankRequest) -> Answer:
    with refusals.absent(lambda: refusals.standard(Problem.REFUND_ABSENT)):
        found = refunds.by_key(request.books, request.account.id, request.path["id"])
    if found.payment_e2e_id != request.path["e2eid"]:
        raise refusals.standard(Problem.REFUND_ABSENT)
    return Answer(document=documents.refund(found))


def _listen(request: BankRequest) -> Answer:
    """Have callbacks of a key sent to one address, in the place of a former one."""
    key = request.path["chave"]
    held = keys.active(request.books, key)
    if held is None or held.account_id != request.account.id:
        raise refusals.standard(Problem.WEBHOOK_WRONG, status=400)
    url = request.body.text("webhookUrl")
    _drop(request, key)
    listeners.add(request.books, request.account.id, url, "")
    value = json.dumps({"url": url, "at": request.books.clock.micros()})
    state.put(
        request.books, Kept(kind=_WEBHOOK, name=key, value=value, account_id=request.account.id)
    )
    return Answer(document={})


def _listener(request: BankRequest) -> Answer:
    kept = json.loads(_known(request).value)
    document = {
        "webhookUrl": kept["url"],
        "chave": request.path["chave"],
        "cnpj": request.account.tax_number,
        "criacao": show(kept["at"]),
    }
    return Answer(document=document)


def _forget(request: BankRequest) -> Answer:
    _drop(request, _known(request).name)
    return Answer(document=b"", status=_NO_CONTENT)


def _known(request: BankRequest) -> Kept:
    found = state.find(request.books, _WEBHOOK, request.path["chave"])
    if found is None or found.account_id != request.account.id:
        raise refusals.standard(Problem.WEBHOOK_ABSENT)
    return found


def _drop(request: BankRequest, key: str) -> None:
    """Forget the address of a key; callbacks go on to one that another key has too."""
    books, account = request.books, request.account.id
    state.remove(books, _WEBHOOK, key)
    used = {json.loads(each.value)["url"] for each in state.of_account(books, _WEBHOOK, account)}
    for each in listeners.of(books, account):
        if each.url not in used:
            listeners.remove(books, account, each.id)

"""Efí's own calls."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from provider_adapters.testing.apipix import access, documents, refusals, requests
from provider_adapters.testing.apipix.refusals import Problem
from provider_adapters.testing.apipix.standard_rows import rows_below
from provider_adapters.testing.bank.dialect import BankRequest, Row
from provider_adapters.testing.bank.kernel import accounts, blocks
from provider_adapters.testing.bank.messages import Answer
from provider_adapters.testing.bank.pix import keys, magic_values, payouts
from provider_adapters.testing.bank.pix.keys import NewKey

_CREATED: Final = 201


def _balance(request: BankRequest) -> Answer:
    held = accounts.balance(request.books, request.account.id)
    document: dict[str, object] = {"saldo": documents.reais(held.owned)}
    if request.query.get("bloqueios") == "true":
        med = sum(
            each.centavos
            for each in blocks.listed(request.books, request.account.id)
            if each.kind == "med"
        )
        document["bloqueios"] = {
            "judicial": documents.reais(held.blocked - med),
            "med": documents.reais(med),
            "total": documents.reais(held.blocked),
        }
    return Answer(document=document)


def _keys(request: BankRequest) -> Answer:
    found = keys.list_all(request.books, request.account.id)
    random = [each.key for each in found if each.type == "evp" and each.status == "active"]
    return Answer(document={"chaves": random})


def _add_key(request: BankRequest) -> Answer:
    made = keys.add(request.books, request.account.id, NewKey(type="evp", key=None))
    return Answer(document={"chave": made.key}, status=_CREATED)


def _remove_key(request: BankRequest) -> Answer:
    held = keys.active(request.books, request.path["chave"])
    if held is None or held.account_id != request.account.id or held.type != "evp":
        raise refusals.of_efi(Problem.KEY_ABSENT)
    keys.cancel(request.books, request.account.id, held.id)
    return Answer(document={})


def _pay_out(request: BankRequest) -> Answer:
    order = requests.payout(request)
    payer = json.loads(order.to.sent)["pagador"]
    held = keys.active(request.books, payer)
    if held is None or held.account_id != request.account.id:
        raise refusals.of_efi(Problem.PAYER_KEY_WRONG)
    payouts.repeated(request.books, request.account, order)  # Efí answers no repetition
    fault = magic_values.on_the_wire(order.centavos)
    if fault and not fault.executes:
        return Answer(document={}, fault=fault)
    made = payouts.accept(request.books, request.account, order)
    return Answer(document=documents.ordered(made), status=_CREATED, fault=fault)


def _payout(request: BankRequest) -> Answer:
    with refusals.absent(lambda: refusals.standard(Problem.PAYOUT_ABSENT)):
        found = payouts.by_key(request.books, request.account.id, request.path["idEnvio"])
    return Answer(document=documents.sent(found))


def _payouts(request: BankRequest) -> Answer:
    asked = requests.list_query(request)
    found = payouts.read(request.books, request.account.id, asked.everything).items
    status = request.query.get("status")
    fit = [each for each in found if status in {None, documents.PAYOUT_STATES[each.state]}]
    page = fit[asked.page * asked.size :][: asked.size]
    paging = documents.Paging(asked.page, asked.size, len(fit))
    shown = [documents.sent(each) for each in page]
    return Answer(document=documents.page(shown, request.query, paging))


DOORS: Final = access.Doors(body="json")
ROWS: Final[Sequence[Row]] = (
    Row("POST", "/oauth/token", "access", DOORS.give_token, is_open=True),
    *rows_below("/v2"),
    Row("GET", "/v2/gn/saldo", "balance", _balance),
    Row("GET", "/v2/gn/evp", "keys", _keys),
    Row("POST", "/v2/gn/evp", "keys", _add_key),
    Row("DELETE", "/v2/gn/evp/{chave:[^/]+}", "keys", _remove_key),
    Row("PUT", "/v3/gn/pix/{idEnvio:[^/]+}", "payout", _pay_out),
    Row("GET", "/v2/gn/pix/enviados", "statement", _payouts),
    Row("GET", "/v2/gn/pix/enviados/id-envio/{idEnvio:[^/]+}", "payout_read", _payout),
)

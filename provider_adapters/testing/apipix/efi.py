"""Efí's own calls: balance, random keys and payouts, and its own words for refusals."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Final

from provider_adapters.testing.apipix import standard
from provider_adapters.testing.apipix.standard import matching, reais, short, tax_number
from provider_adapters.testing.bank import accounts, keys, payouts
from provider_adapters.testing.bank.books import Books
from provider_adapters.testing.bank.callbacks import Event, EventKind
from provider_adapters.testing.bank.clock import shown
from provider_adapters.testing.bank.dialect import BankRequest, Row, execute, one, subject_of
from provider_adapters.testing.bank.keys import Destination
from provider_adapters.testing.bank.messages import (
    Answer,
    Code,
    Document,
    Fields,
    Refusal,
    fields,
    require,
)

_STATES: Final = {
    "processing": "EM_PROCESSAMENTO",
    "settled": "REALIZADO",
    "returned": "REALIZADO",
    "failed": "NAO_REALIZADO",
}
_WORDS: Final = frozenset({"chave_nao_encontrada", "chave_invalida"})
"""Refusals whose text is Efí's own name for them."""
_REFUSALS: Final[Mapping[Code, tuple[int, str]]] = {
    Code.INVALID_REQUEST: (400, "valor_invalido"),
    Code.ACCOUNT_INVALID: (400, "valor_invalido"),
    Code.KEY_NOT_FOUND: (404, "chave_favorecido_nao_encontrada"),
    Code.OWNER_MISMATCH: (400, "chave_nao_pertence_ao_documento"),
    # No document of Efí names it; whatever it says, the adapter does not know it.
    Code.INSUFFICIENT_FUNDS: (400, "saldo_insuficiente"),
    Code.LIMIT_EXCEEDED: (422, "pagamento_negado"),
    Code.NOT_ALLOWED: (422, "pagamento_negado"),
    Code.REJECTED: (422, "pagamento_negado"),
    Code.DUPLICATE: (409, "id_envio_duplicado"),
    Code.REFERENCE_IN_USE: (409, "txid_duplicado"),
    Code.TOO_MANY_REQUESTS: (429, "balde_fichas_vazio"),
}
"""Status and name; all others are refused in the words of the standard."""


def refusal(refused: Refusal) -> Answer:
    """Show a refusal in Efí's words, where it has any; else in the standard's."""
    if refused.code is Code.INTERNAL:
        status, name = int(refused.status), "erro_aplicacao"
    elif refused.code in _REFUSALS:
        status, name = _REFUSALS[refused.code]
    else:
        return standard.refusal(refused)
    name = refused.message if refused.message in _WORDS else name
    return Answer(document={"nome": name, "mensagem": refused.message}, status=status)


def _balance(request: BankRequest) -> Document:
    held = accounts.balance(*request.own)
    document: dict[str, object] = {"saldo": reais(held.owned)}
    if request.query.get("bloqueios") == "true":
        document["bloqueios"] = {"total": reais(held.blocked)}
    return document


def _keys(request: BankRequest) -> Document:
    return {"chaves": [each.key for each in keys.usable(*request.own) if each.type == "evp"]}


def _add_key(request: BankRequest) -> Document:
    return {"chave": keys.add(*request.own, keys.NewKey(type="evp", key=None)).key}


def _remove_key(request: BankRequest) -> Document:
    held = keys.owned(*request.own, request.path["chave"])
    if held is None or held.type != "evp":
        raise Refusal(Code.INVALID_REQUEST, "chave_nao_encontrada")
    keys.cancel(*request.own, held.id)
    return {}


def _pay_out(request: BankRequest) -> Answer:
    books, account, body = request.books, request.account, request.body
    key, payer = request.path["idEnvio"], body.inside("pagador")
    require(standard.OWN_ID.fullmatch(key), "idEnvio is 1 to 35 letters and digits")
    payer_key = short(payer, "chave", standard.LONGEST_KEY)
    order = payouts.Order(
        to=_recipient(body.inside("favorecido"), payer_key),
        centavos=standard.amount(body, "valor"),
        description=short(payer, "infoPagador", standard.LONGEST_MESSAGE, ""),
        idempotency_key=key,
    )
    if keys.owned(books, account.id, payer_key) is None:
        raise Refusal(Code.INVALID_REQUEST, "chave_invalida")
    payouts.repeated(books, account, order)  # Efí answers no repetition

    def accept() -> Document:
        made = payouts.accept(books, account, order)
        return {**_payout(made), "e2eId": made.e2e_id, "horario": standard.times(made)}

    return execute(order.centavos, accept, 201)


def _recipient(to: Fields, payer_key: str) -> Destination:
    if "chave" in to:
        named = {"chave": short(to, "chave", standard.LONGEST_KEY), **tax_number(to)}
    else:
        place = to.inside("contaBanco")
        named = {
            "nome": short(place, "nome", 199),
            "codigoBanco": matching(place, "codigoBanco", "[0-9A-Z]{8}"),
            "agencia": matching(place, "agencia", r"\d{1,4}"),
            "conta": matching(place, "conta", r"\d{1,19}[\dXx]"),
            **tax_number(place),
        }
        place.choice("tipoConta", ("cacc", "svgs", "tran"))
    account = named.get("conta")
    return Destination(
        tax_number=named.get("cpf") or named.get("cnpj") or "",
        sent=json.dumps({"pagador": payer_key, "favorecido": named}),
        name=named.get("nome", ""),
        key=named.get("chave"),
        bank=named.get("codigoBanco"),
        branch=named.get("agencia"),
        account=None if account is None else standard.dashed(account),
    )


def _payout(record: payouts.Payout) -> Document:
    shown = {"valor": reais(record.paid), "status": _STATES[record.state]}
    return {"idEnvio": record.idempotency_key, **shown}


def sent(record: payouts.Payout) -> Document:
    """Show a payout when it is looked up: without the bank of an account, persons masked."""
    order = json.loads(record.to.sent)
    to: Mapping[str, str] = order["favorecido"]
    owner = {"nome": to.get("nome") or "Cliente de Outro Banco"}
    if "cpf" in to:
        owner["cpf"] = f"***.{to['cpf'][3:6]}.{to['cpf'][6:9]}-**"
    if "cnpj" in to:
        owner["cnpj"] = to["cnpj"]
    if "chave" in to:
        recipient: Document = {"chave": to["chave"], "identificacao": owner}
    else:
        recipient = {"contaBanco": {**owner, "agencia": to["agencia"], "conta": to["conta"]}}
    return {
        **_payout(record),
        **fields(record, endToEndId="e2e_id", infoPagador="description"),
        "chave": order["pagador"],
        "horario": standard.times(record),
        "favorecido": recipient,
    }


def _sent(request: BankRequest) -> Document:
    status = request.query.get("status")
    return standard.listed(
        request, payouts.read, sent, lambda each: status in {None, _STATES[each.state]}
    )


def told(books: Books, event: Event) -> Document | None:
    """Read the events of a callback, also outcomes of payouts."""
    if event.kind is not EventKind.PAYOUT:
        return standard.told(books, event)
    said: Document = {**standard.invented(books), "status": "REALIZADO"}
    key: str | None = event.subject
    payout = subject_of(books, event)
    if isinstance(payout, payouts.Payout):
        said = {"endToEndId": payout.e2e_id, **_payout(payout), "horario": shown(payout.settled_at)}
        key = payout.idempotency_key
    return {**said, "tipo": "SOLICITACAO", "gnExtras": {"idEnvio": key}}


_FIND: Final = one(payouts.by_key, "idEnvio", sent)
ROWS: Final[Sequence[Row]] = (
    Row("GET", "/v2/gn/saldo", "balance", _balance),
    Row("GET", "/v2/gn/evp", "keys", _keys),
    Row("POST", "/v2/gn/evp", "keys", _add_key, status=201),
    Row("DELETE", "/v2/gn/evp/{chave:[^/]+}", "keys", _remove_key),
    Row("PUT", "/v3/gn/pix/{idEnvio:[^/]+}", "payout", _pay_out),
    Row("GET", "/v2/gn/pix/enviados", "statement", _sent),
    Row("GET", "/v2/gn/pix/enviados/id-envio/{idEnvio:[^/]+}", "payout_read", _FIND),
)

"""The common part of banks of API Pix 2.9.0: calls, documents, refusals and callbacks."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Final, TypeVar

from provider_adapters.testing.bank import (
    callbacks,
    charges,
    clock,
    keys,
    received_payments,
    refunds,
)
from provider_adapters.testing.bank.books import Books, Kept, Page, Slice, read_number
from provider_adapters.testing.bank.callbacks import Event, EventKind
from provider_adapters.testing.bank.dialect import BankRequest, Row, below, execute, subject_of
from provider_adapters.testing.bank.messages import (
    Answer,
    Code,
    Document,
    Fields,
    Refusal,
    fields,
    found,
    require,
)
from provider_adapters.testing.bank.payouts import Payout
from provider_adapters.testing.bank.received_payments import Payer, Payment

Record = TypeVar("Record")

OWN_ID: Final = re.compile(r"[A-Za-z0-9]{1,35}")
LONGEST_KEY: Final = 77
LONGEST_MESSAGE: Final = 140
_CPF_DIGITS: Final = 11
_WEBHOOK: Final = "webhook document"
_REMOVED: Final = "REMOVIDA_PELO_USUARIO_RECEBEDOR"
_TXID: Final = re.compile(r"[A-Za-z0-9]{26,35}")
_AMOUNT: Final = re.compile(r"(\d{1,10})\.(\d{2})", re.ASCII)
_LARGEST_PAGE: Final = 1000
_EVERYTHING: Final = 1_000_000
"""Rows of one account: more than any test has."""
_EXPIRES_S: Final = 86_400
_SECOND: Final = 1_000_000
_MILLISECOND: Final = 1_000
_CHARGE_STATES: Final = {"active": "ATIVA", "paid": "CONCLUIDA", "canceled": _REMOVED}
_REFUND_STATES: Final = {
    "processing": "EM_PROCESSAMENTO",
    "settled": "DEVOLVIDO",
    "failed": "NAO_REALIZADO",
}
_REFUSALS: Final[Mapping[Code, tuple[int, str]]] = {
    Code.REFERENCE_IN_USE: (400, "CobOperacaoInvalida"),
    Code.CHARGE_CANCELED: (400, "CobOperacaoInvalida"),
    Code.KEY_NOT_OWNED: (400, "CobOperacaoInvalida"),
    Code.ABOVE_PAYMENT: (400, "PixDevolucaoInvalida"),
    Code.PAYMENT_TOO_OLD: (400, "PixDevolucaoInvalida"),
    Code.KEY_REUSED: (400, "PixDevolucaoInvalida"),
    Code.WRONG_ACCOUNT: (403, "AcessoNegado"),
}
"""Status and name; any other refusal is ``RequisicaoInvalida``."""
_ABSENT: Final = {
    "charge not found": "CobNaoEncontrado",
    "due charge not found": "CobVNaoEncontrada",
    "payment not found": "PixNaoEncontrado",
    "refund not found": "PixDevolucaoNaoEncontrada",
    "webhook not found": "WebhookNaoEncontrado",
    "payout not found": "PixEnviadoNaoEncontrado",
}


def reais(centavos: int) -> str:
    """Write an amount as text with two decimals."""
    return f"{centavos // 100}.{centavos % 100:02d}"


def amount(body: Fields, name: str) -> int:
    """Read an amount, a text with two decimals, above zero; return centavos."""
    given = _AMOUNT.fullmatch(body.text(name))
    value = int(given[1] + given[2]) if given else 0
    require(value, f"{name} is an amount above zero")
    return value


def short(body: Fields, name: str, longest: int, default: str | None = None) -> str:
    """Read a text up to a length."""
    text = body.text(name, default)
    require(len(text) <= longest, f"{name} has {longest} characters at most")
    return text


def matching(body: Fields, name: str, form: str) -> str:
    """Read a text that a regular expression describes."""
    text = body.text(name)
    require(re.fullmatch(form, text, re.ASCII), f"{name} has another form")
    return text


def dashed(account: str) -> str:
    """Write an account as the books have it, with a dash before the check digit."""
    return f"{account[:-1]}-{account[-1]}"


def tax_number(of: Fields) -> Mapping[str, str]:
    """Read whichever of ``cpf`` and ``cnpj`` is there, by its name."""
    given = {name: of.text(name) for name in ("cpf", "cnpj") if name in of}
    require(len(given) <= 1, "one of cpf and cnpj")
    return given


def times(record: Payout | refunds.Refund) -> Document:
    """Show the times of an order and of its settlement."""
    shown = {"solicitacao": clock.show(record.created_at)}
    return (
        shown
        if record.settled_at is None
        else {**shown, "liquidacao": clock.show(record.settled_at)}
    )


def listed(
    request: BankRequest,
    read: Callable[[Books, str, Slice], Page[Record]],
    document: Callable[[Record], Document],
    fits: Callable[[Record], object] = lambda _: True,
) -> Document:
    """Show a page of items between two instants, both included, for which ``fits`` holds."""
    query = request.query
    require("inicio" in query and "fim" in query, "inicio and fim are required")
    since, until = clock.read(query["inicio"]), clock.read(query["fim"])
    require(since <= until, "fim is before inicio")
    size = read_number(query, "paginacao.itensPorPagina", 100)
    require(1 <= size <= _LARGEST_PAGE, "itensPorPagina is 1 to 1000")
    number = read_number(query, "paginacao.paginaAtual", 0)
    window = Slice(since=since, until=until + _MILLISECOND, limit=_EVERYTHING)
    rows = [each for each in read(*request.own, window).items if fits(each)]
    counts = {
        "paginaAtual": number,
        "itensPorPagina": size,
        "quantidadeDePaginas": max(1, -(-len(rows) // size)),
        "quantidadeTotalDeItens": len(rows),
    }
    asked = {"inicio": query["inicio"], "fim": query["fim"], "paginacao": counts}
    shown = [document(each) for each in rows[number * size :][:size]]
    return {"parametros": asked, "pix": shown}


def _person(payer: Payer) -> Document:
    field = "cpf" if len(payer.tax_number) == _CPF_DIGITS else "cnpj"
    return {field: payer.tax_number, "nome": payer.name}


def _charge(books: Books, record: charges.Charge) -> Document:
    """Show a charge with its payments; an expired one is still ``ATIVA``."""
    received = received_payments.of_charge(books, record.account_id, record.reference)
    lasts = _EXPIRES_S
    if record.expires_at is not None:
        lasts = max(1, (record.expires_at - record.created_at) // _SECOND)
    document: dict[str, object] = {
        "calendario": {"criacao": clock.show(record.created_at), "expiracao": lasts},
        "txid": _txid(record),
        "revisao": 0,
        "status": _CHARGE_STATES[record.status],
        "valor": {"original": reais(record.centavos or 0)},
        **fields(record, chave="key", pixCopiaECola="emv"),
    }
    if record.payer is not None:
        document["devedor"] = _person(record.payer)
    if received:
        document["pix"] = [_pix(books, each) for each in received]
    return document


def _txid(record: charges.Charge) -> str:
    """Return the txid of a charge: its reference, unless that is no txid."""
    return record.reference if _TXID.fullmatch(record.reference) else record.txid


def _found(request: BankRequest) -> charges.Charge:
    """Find a charge by its txid, which the control interface may have called its reference."""
    txid = request.path["txid"]
    with suppress(Refusal):
        return charges.by_txid(*request.own, txid)
    return charges.get(*request.own, txid)


def _add_charge(request: BankRequest) -> Document:
    body, txid = request.body, request.path["txid"]
    require(_TXID.fullmatch(txid), "txid is 26 to 35 letters and digits")
    expires_in = body.inside("calendario").whole("expiracao", _EXPIRES_S)
    require(expires_in > 0, "calendario.expiracao is above zero")
    new = charges.NewCharge(
        reference=txid,
        txid=txid,
        type="dynamic",
        key=short(body, "chave", LONGEST_KEY),
        centavos=amount(body.inside("valor"), "original"),
        expires_in=expires_in * _SECOND,
        description=short(body, "solicitacaoPagador", LONGEST_MESSAGE, ""),
        payer=_debtor(body.inside("devedor")) if "devedor" in body else None,
    )
    return _charge(request.books, charges.add(request.books, request.account, new))


def _debtor(of: Fields) -> Payer:
    given = tax_number(of)
    require(given, "devedor has cpf or cnpj")
    return Payer(name=short(of, "nome", 200), tax_number=next(iter(given.values())))


def _cancel_charge(request: BankRequest) -> Document:
    request.body.choice("status", (_REMOVED,))
    charge = _found(request)
    if charge.status != "active":
        raise Refusal(Code.CHARGE_CANCELED, "the charge is not active")
    return _charge(request.books, charges.cancel(*request.own, charge.reference))


def _due_charge(_request: BankRequest) -> Document:
    """Answer 404: the books have no charges with a due date."""
    return found(None, "due charge")


def _payment(books: Books, record: Payment) -> Document:
    """Show a payment received, without its refunds."""
    document: dict[str, object] = {
        "endToEndId": record.e2e_id,
        "valor": reais(record.centavos),
        "horario": clock.show(record.at),
    }
    if record.reference:
        document["txid"] = _txid(charges.get(books, record.account_id, record.reference))
    if record.payer and record.payer.message:
        document["infoPagador"] = record.payer.message
    if record.payer and record.payer.name:
        document["pagador"] = _person(record.payer)
    return document


def _pix(books: Books, record: Payment) -> Document:
    """Show a payment received, with its refunds."""
    given_back = [_refund(each) for each in refunds.of_payment(books, record)]
    return {**_payment(books, record), **({"devolucoes": given_back} if given_back else {})}


def _received(request: BankRequest) -> Document:
    books, refunded = request.books, request.query.get("devolucaoPresente") == "true"
    txid = request.query.get("txid")
    return listed(
        request,
        received_payments.read,
        lambda each: _pix(books, each),
        lambda each: (
            (refunds.of_payment(books, each) if refunded else True)
            and txid in {None, _pix(books, each).get("txid")}
        ),
    )


def _received_one(request: BankRequest) -> Document:
    paid = received_payments.by_e2e_id(*request.own, request.path["e2eid"])
    return _pix(request.books, paid)


def _refund(record: refunds.Refund) -> Document:
    shown = {
        **fields(record, id="idempotency_key", rtrId="return_id"),
        "valor": reais(record.centavos),
        "natureza": "ORIGINAL",
        "horario": times(record),
        "status": _REFUND_STATES[record.state],
    }
    return {**shown, "descricao": record.description} if record.description else shown


def _give_back(request: BankRequest) -> Answer:
    body, own, key = request.body, request.own, request.path["id"]
    require(OWN_ID.fullmatch(key), "id is 1 to 35 letters and digits")
    body.choice("natureza", ("ORIGINAL", "RETIRADA"), "ORIGINAL")
    order = refunds.RefundOrder(
        payment_e2e_id=request.path["e2eid"],
        centavos=amount(body, "valor"),
        idempotency_key=key,
        description=short(body, "descricao", LONGEST_MESSAGE, ""),
    )
    if refunds.repeated(*own, order) is not None:
        raise Refusal(Code.KEY_REUSED, "this id was used before")
    return execute(order.centavos, lambda: _refund(refunds.accept(*own, order)), 201)


def _given_back(request: BankRequest) -> Document:
    refund = refunds.by_key(*request.own, request.path["id"])
    is_its = refund.payment_e2e_id == request.path["e2eid"]
    return _refund(found(refund if is_its else None, "refund"))


def _listen(request: BankRequest) -> Document:
    """Have callbacks of a key sent to one address, in the place of a former one."""
    books, account_id = request.own
    key, url = request.path["chave"], request.body.text("webhookUrl")
    require(keys.owned(books, account_id, key), "chave is not a key of this account")
    _drop(request, key)
    callbacks.register(books, account_id, url, "")
    shown = {"webhookUrl": url, "chave": key, "cnpj": request.account.tax_number}
    value = json.dumps({**shown, "criacao": clock.show(books.clock.micros())})
    books.keep(_WEBHOOK, key, value, account_id=account_id)
    return {}


def _known(request: BankRequest) -> Kept:
    kept = request.books.kept(_WEBHOOK, request.path["chave"])
    is_own = kept is not None and kept.account_id == request.account.id
    return found(kept if is_own else None, "webhook")


def _forget(request: BankRequest) -> Document:
    _drop(request, _known(request).name)
    return {}


def _drop(request: BankRequest, key: str) -> None:
    """Forget the address of a key; callbacks go on to one that another key has too."""
    books, account_id = request.own
    books.forget(_WEBHOOK, key)
    kept = [json.loads(each.value) for each in books.kept_of(_WEBHOOK, account_id)]
    for each in callbacks.listeners(books, account_id):
        if each.url not in {shown["webhookUrl"] for shown in kept}:
            callbacks.remove(books, account_id, each.id)


def rows_below(base: str, immediate: str) -> Sequence[Row]:
    """Return the rows of the standard, with what precedes their paths, that of ``cob`` apart."""
    charge, webhook = "/cob/{txid:[^/]+}", "/webhook/{chave:[^/]+}"
    one, refund = "/pix/{e2eid:[^/]+}", "/pix/{e2eid:[^/]+}/devolucao/{id:[^/]+}"
    return (
        *below(
            immediate or base,
            Row("PUT", charge, "charge", _add_charge, status=201),
            Row("GET", charge, "charge", lambda request: _charge(request.books, _found(request))),
            Row("PATCH", charge, "charge", _cancel_charge),
        ),
        *below(
            base,
            Row("GET", "/cobv/{txid:[^/]+}", "charge", _due_charge),
            Row("GET", "/pix", "payment", _received),
            Row("GET", one, "payment", _received_one),
            Row("PUT", refund, "refund", _give_back),
            Row("GET", refund, "refund_read", _given_back),
            Row("PUT", webhook, "callbacks", _listen),
            Row("GET", webhook, "callbacks", lambda request: json.loads(_known(request).value)),
            Row("DELETE", webhook, "callbacks", _forget, status=204),
        ),
    )


def told(books: Books, event: Event) -> Document | None:
    """Read the events of a callback; unknown ids are invented, payouts are left out."""
    match event.kind, subject_of(books, event):
        case EventKind.CHARGE, Payment() as paid:
            charge = charges.get(books, paid.account_id, paid.reference or "")
            return {**_payment(books, paid), "chave": charge.key}
        case EventKind.CHARGE, _:
            return {**invented(books), "txid": event.subject}
        case EventKind.REFUND, refunds.Refund() as refund:
            paid = received_payments.by_e2e_id(books, refund.account_id, refund.payment_e2e_id)
            return {**_payment(books, paid), "devolucoes": [_refund(refund)]}
        case EventKind.REFUND, _:
            given = {"id": event.subject, "rtrId": f"D{books.e2e_id(books.clock.micros())[1:]}"}
            return {**invented(books), "devolucoes": [{**given, "status": "DEVOLVIDO"}]}
    return None


def invented(books: Books) -> Document:
    """Begin a callback about an unknown id: it may be late, or for another bank."""
    at = books.clock.micros()
    return {"endToEndId": books.e2e_id(at), "valor": "10.50", "horario": clock.show(at)}


def problem(kind: str, status: int, detail: str) -> Document:
    """Write a refusal as the standard does (RFC 7807)."""
    address = f"https://pix.bcb.gov.br/api/v2/error/{kind}"
    return {"type": address, "title": kind, "status": status, "detail": detail}


def refusal(refused: Refusal) -> Answer:
    """Show a refusal in the words of the standard."""
    status = int(refused.status)
    if refused.code is Code.UNAUTHORIZED:
        document = {"error": "invalid_token", "error_description": refused.message}
        return Answer(document=document, status=status)
    status, kind = _REFUSALS.get(refused.code, (status, "RequisicaoInvalida"))
    if refused.code is Code.NOT_FOUND:
        kind = _ABSENT.get(refused.message, "NaoEncontrado")
    elif refused.code is Code.INTERNAL:
        kind = "ErroInternoDoServidor"
    return Answer(document=problem(kind, status, refused.message), status=status)

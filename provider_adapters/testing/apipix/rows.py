"""The calls of the standard and Efí's own, read as strictly as their documents have them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from provider_adapters.testing.apipix import access, documents, refusals
from provider_adapters.testing.apipix.refusals import Problem
from provider_adapters.testing.bank.dialect import BankRequest, Row, below, execute
from provider_adapters.testing.bank.kernel import accounts, blocks, clock, listeners, state
from provider_adapters.testing.bank.kernel.clock import show
from provider_adapters.testing.bank.kernel.paging import Slice, read_number
from provider_adapters.testing.bank.kernel.refusals import Code, Refusal, require
from provider_adapters.testing.bank.kernel.state import Kept
from provider_adapters.testing.bank.messages import Answer, Document, Fields
from provider_adapters.testing.bank.pix import charges, keys, payouts, received_payments, refunds
from provider_adapters.testing.bank.pix.charges import Charge, NewCharge
from provider_adapters.testing.bank.pix.destinations import Destination
from provider_adapters.testing.bank.pix.keys import NewKey
from provider_adapters.testing.bank.pix.payouts import Order
from provider_adapters.testing.bank.pix.received_payments import Payer
from provider_adapters.testing.bank.pix.refunds import RefundOrder

_CREATED: Final = 201
_WEBHOOK: Final = "webhook"
_REMOVED: Final = "REMOVIDA_PELO_USUARIO_RECEBEDOR"
_TXID: Final = re.compile(r"[A-Za-z0-9]{26,35}")
_OWN_ID: Final = re.compile(r"[A-Za-z0-9]{1,35}")
_AMOUNT: Final = re.compile(r"(\d{1,10})\.(\d{2})", re.ASCII)
_BRANCH: Final = re.compile(r"\d{1,4}", re.ASCII)
_ISPB: Final = re.compile(r"[0-9A-Z]{8}")
_ACCOUNT: Final = re.compile(r"\d{1,19}[\dXx]", re.ASCII)
_LONGEST_KEY: Final = 77
_LONGEST_MESSAGE: Final = 140
_LARGEST_PAGE: Final = 1000
_DEFAULT_PAGE: Final = 100
_EVERYTHING: Final = 1_000_000
"""Rows of one account: more than any test has."""
_SECOND: Final = 1_000_000
_MILLISECOND: Final = 1_000


def _add_charge(request: BankRequest) -> Document:
    body, txid = request.body, request.path["txid"]
    require(_TXID.fullmatch(txid), "txid is 26 to 35 letters and digits")
    expires_in = body.inside("calendario").whole("expiracao", 86_400)
    require(expires_in > 0, "calendario.expiracao is above zero")
    debtor = body.optional("devedor", body.inside)
    new = NewCharge(
        reference=txid,
        txid=txid,
        type="dynamic",
        key=short(body, "chave", _LONGEST_KEY),
        centavos=_amount(body.inside("valor"), "original"),
        expires_in=expires_in * _SECOND,
        description=short(body, "solicitacaoPagador", _LONGEST_MESSAGE, ""),
        payer=None if debtor is None else _debtor(debtor),
    )
    made = charges.add(request.books, request.account, new)
    return documents.charge(request.books, made)


def _charge(request: BankRequest) -> Document:
    return documents.charge(request.books, _found(request))


def _found(request: BankRequest) -> Charge:
    """Find a charge by its txid, which the control interface may have called its reference."""
    txid = request.path["txid"]
    try:
        return charges.by_txid(*request.own, txid)
    except Refusal:
        with refusals.absent(Problem.CHARGE_ABSENT):
            return charges.get(*request.own, txid)


def _cancel_charge(request: BankRequest) -> Document:
    request.body.choice("status", (_REMOVED,))
    found = _found(request)
    if found.status != "active":
        raise Refusal(Code.CHARGE_CANCELED, "the charge is not active")
    return documents.charge(request.books, charges.cancel(*request.own, found.reference))


def _due_charge(_request: BankRequest) -> Document:
    """Say that there is none: the books have no charges with a due date."""
    raise refusals.standard(Problem.DUE_CHARGE_ABSENT)


def _received(request: BankRequest) -> Document:
    page, wanted = _page(request), request.query.get("devolucaoPresente")
    if wanted is None:
        found = received_payments.read(*request.own, page)
        shown = [documents.pix(request.books, each) for each in found.items]
        return documents.page(shown, request.query, page, found.total)
    every = received_payments.read(*request.own, replace(page, skip=0, limit=_EVERYTHING)).items
    shown = [documents.pix(request.books, each) for each in every]
    return _cut([each for each in shown if ("devolucoes" in each) is (wanted == "true")], request)


def _received_one(request: BankRequest) -> Document:
    with refusals.absent(Problem.PAYMENT_ABSENT):
        found = received_payments.by_e2e_id(*request.own, request.path["e2eid"])
    return documents.pix(request.books, found)


def _give_back(request: BankRequest) -> Answer:
    body, own, key = request.body, request.own, request.path["id"]
    require(_OWN_ID.fullmatch(key), "id is 1 to 35 letters and digits")
    body.choice("natureza", ("ORIGINAL", "RETIRADA"), "ORIGINAL")
    order = RefundOrder(
        payment_e2e_id=request.path["e2eid"],
        centavos=_amount(body, "valor"),
        idempotency_key=key,
        description=short(body, "descricao", _LONGEST_MESSAGE, ""),
    )
    if refunds.repeated(*own, order) is not None:
        raise Refusal(Code.KEY_REUSED, "this id was used before")
    with refusals.absent(Problem.PAYMENT_ABSENT):
        return execute(
            order.centavos, lambda: documents.refund(refunds.accept(*own, order)), _CREATED
        )


def _refund(request: BankRequest) -> Document:
    with refusals.absent(Problem.REFUND_ABSENT):
        found = refunds.by_key(*request.own, request.path["id"])
    if found.payment_e2e_id != request.path["e2eid"]:
        raise refusals.standard(Problem.REFUND_ABSENT)
    return documents.refund(found)


def _listen(request: BankRequest) -> Document:
    """Have callbacks of a key sent to one address, in the place of a former one."""
    books, account_id = request.own
    key, url = request.path["chave"], request.body.text("webhookUrl")
    if keys.owned(books, account_id, key) is None:
        raise refusals.standard(Problem.WEBHOOK_WRONG, status=400)
    _drop(request, key)
    listeners.add(books, account_id, url, "")
    value = json.dumps({"url": url, "at": books.clock.micros()})
    state.put(books, Kept(kind=_WEBHOOK, name=key, value=value, account_id=account_id))
    return {}


def _listener(request: BankRequest) -> Document:
    kept = json.loads(_known(request).value)
    return {
        "webhookUrl": kept["url"],
        "chave": request.path["chave"],
        "cnpj": request.account.tax_number,
        "criacao": show(kept["at"]),
    }


def _forget(request: BankRequest) -> Answer:
    _drop(request, _known(request).name)
    return Answer(document=b"", status=204)


def _known(request: BankRequest) -> Kept:
    found = state.find(request.books, _WEBHOOK, request.path["chave"])
    if found is None or found.account_id != request.account.id:
        raise refusals.standard(Problem.WEBHOOK_ABSENT)
    return found


def _drop(request: BankRequest, key: str) -> None:
    """Forget the address of a key; callbacks go on to one that another key has too."""
    books, account = request.own
    state.remove(books, _WEBHOOK, key)
    used = {json.loads(each.value)["url"] for each in state.of_account(books, _WEBHOOK, account)}
    for each in listeners.of(books, account):
        if each.url not in used:
            listeners.remove(books, account, each.id)


def _balance(request: BankRequest) -> Document:
    held = accounts.balance(*request.own)
    document: dict[str, object] = {"saldo": documents.reais(held.owned)}
    if request.query.get("bloqueios") == "true":
        med = blocks.total(*request.own, "med")
        document["bloqueios"] = {
            "judicial": documents.reais(held.blocked - med),
            "med": documents.reais(med),
            "total": documents.reais(held.blocked),
        }
    return document


def _keys(request: BankRequest) -> Document:
    return {"chaves": [each.key for each in keys.usable(*request.own) if each.type == "evp"]}


def _add_key(request: BankRequest) -> Document:
    return {"chave": keys.add(*request.own, NewKey(type="evp", key=None)).key}


def _remove_key(request: BankRequest) -> Document:
    held = keys.owned(*request.own, request.path["chave"])
    if held is None or held.type != "evp":
        raise refusals.of_efi(Problem.KEY_ABSENT)
    keys.cancel(*request.own, held.id)
    return {}


def _pay_out(request: BankRequest) -> Answer:
    books, account, body = request.books, request.account, request.body
    key, payer = request.path["idEnvio"], body.inside("pagador")
    require(_OWN_ID.fullmatch(key), "idEnvio is 1 to 35 letters and digits")
    payer_key = short(payer, "chave", _LONGEST_KEY)
    order = Order(
        to=_recipient(body.inside("favorecido"), payer_key),
        centavos=_amount(body, "valor"),
        description=short(payer, "infoPagador", _LONGEST_MESSAGE, ""),
        idempotency_key=key,
    )
    if keys.owned(books, account.id, payer_key) is None:
        raise refusals.of_efi(Problem.PAYER_KEY_WRONG)
    payouts.repeated(books, account, order)  # Efí answers no repetition
    return execute(
        order.centavos, lambda: documents.ordered(payouts.accept(books, account, order)), _CREATED
    )


def _payout(request: BankRequest) -> Document:
    with refusals.absent(Problem.PAYOUT_ABSENT):
        return documents.sent(payouts.by_key(*request.own, request.path["idEnvio"]))


def _payouts(request: BankRequest) -> Document:
    every = replace(_page(request), skip=0, limit=_EVERYTHING)
    found, status = payouts.read(*request.own, every).items, request.query.get("status")
    fit = [each for each in found if status in {None, documents.PAYOUT_STATES[each.state]}]
    return _cut([documents.sent(each) for each in fit], request)


def _page(request: BankRequest) -> Slice:
    """Read the query of a list; both instants are inside (API Pix 2.9.0)."""
    query = request.query
    require("inicio" in query and "fim" in query, "inicio and fim are required")
    since, until = clock.read(query["inicio"]), clock.read(query["fim"])
    require(since <= until, "fim is before inicio")
    size = read_number(query, "paginacao.itensPorPagina", _DEFAULT_PAGE)
    require(1 <= size <= _LARGEST_PAGE, "itensPorPagina is 1 to 1000")
    number = read_number(query, "paginacao.paginaAtual", 0)
    return Slice(since=since, until=until + _MILLISECOND, limit=size, skip=number * size)


def _cut(shown: Sequence[Document], request: BankRequest) -> Document:
    """Cut the page out of a list that was filtered."""
    page = _page(request)
    return documents.page(shown[page.skip :][: page.limit], request.query, page, len(shown))


def _amount(body: Fields, name: str) -> int:
    """Read an amount, a text with two decimals, above zero; return centavos."""
    found = _AMOUNT.fullmatch(body.text(name))
    value = int(found[1] + found[2]) if found else 0
    require(value, f"{name} is an amount above zero")
    return value


def _recipient(to: Fields, payer_key: str) -> Destination:
    if "chave" in to:
        named = {"chave": short(to, "chave", _LONGEST_KEY), **_tax_number(to)}
    else:
        place = to.inside("contaBanco")
        named = {
            "nome": short(place, "nome", 199),
            "codigoBanco": matching(place, "codigoBanco", _ISPB),
            "agencia": matching(place, "agencia", _BRANCH),
            "conta": matching(place, "conta", _ACCOUNT),
            **_tax_number(place),
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
        account=None if account is None else dashed(account),
    )


def _tax_number(of: Fields) -> Mapping[str, str]:
    given = {name: of.text(name) for name in ("cpf", "cnpj") if name in of}
    require(len(given) <= 1, "one of cpf and cnpj")
    return given


def _debtor(of: Fields) -> Payer:
    given = _tax_number(of)
    require(given, "devedor has cpf or cnpj")
    return Payer(name=short(of, "nome", 200), tax_number=next(iter(given.values())))


def short(body: Fields, name: str, longest: int, default: str | None = None) -> str:
    """Read a text of so many characters at most."""
    text = body.text(name, default)
    require(len(text) <= longest, f"{name} has {longest} characters at most")
    return text


def matching(body: Fields, name: str, form: re.Pattern[str]) -> str:
    """Read a text of a form."""
    text = body.text(name)
    require(form.fullmatch(text), f"{name} has another form")
    return text


def dashed(account: str) -> str:
    """Write an account as the books have it, with a dash before the check digit."""
    return f"{account[:-1]}-{account[-1]}"


def rows_below(base: str, immediate: str = "") -> Sequence[Row]:
    """Return the rows of the standard, with what precedes their paths, that of ``cob`` apart."""
    charge, webhook = "/cob/{txid:[^/]+}", "/webhook/{chave:[^/]+}"
    one, refund = "/pix/{e2eid:[^/]+}", "/pix/{e2eid:[^/]+}/devolucao/{id:[^/]+}"
    return (
        *below(
            immediate or base,
            Row("PUT", charge, "charge", _add_charge, status=_CREATED),
            Row("GET", charge, "charge", _charge),
            Row("PATCH", charge, "charge", _cancel_charge),
        ),
        *below(
            base,
            Row("GET", "/cobv/{txid:[^/]+}", "charge", _due_charge),
            Row("GET", "/pix", "payment", _received),
            Row("GET", one, "payment", _received_one),
            Row("PUT", refund, "refund", _give_back),
            Row("GET", refund, "refund_read", _refund),
            Row("PUT", webhook, "callbacks", _listen),
            Row("GET", webhook, "callbacks", _listener),
            Row("DELETE", webhook, "callbacks", _forget),
        ),
    )


EFI_DOORS: Final = access.Doors(body="json")
EFI_ROWS: Final[Sequence[Row]] = (
    Row("POST", "/oauth/token", "access", EFI_DOORS.give_token, is_open=True),
    *rows_below("/v2"),
    Row("GET", "/v2/gn/saldo", "balance", _balance),
    Row("GET", "/v2/gn/evp", "keys", _keys),
    Row("POST", "/v2/gn/evp", "keys", _add_key, status=_CREATED),
    Row("DELETE", "/v2/gn/evp/{chave:[^/]+}", "keys", _remove_key),
    Row("PUT", "/v3/gn/pix/{idEnvio:[^/]+}", "payout", _pay_out),
    Row("GET", "/v2/gn/pix/enviados", "statement", _payouts),
    Row("GET", "/v2/gn/pix/enviados/id-envio/{idEnvio:[^/]+}", "payout_read", _payout),
)

"""
The sandbox bank: calls, documents and callbacks over the books of every simulated bank.

Callbacks are signed by Standard Webhooks, HMAC-SHA-256.
"""

from __future__ import annotations

import base64
import hmac
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, TypeVar

from provider_adapters.testing.bank import (
    accounts,
    callbacks,
    charges,
    keys,
    messages,
    payouts,
    received_payments,
    refunds,
)
from provider_adapters.testing.bank.accounts import (
    Account,
    Balance,
    Block,
    Entry,
    PayoutKind,
    line_number,
)
from provider_adapters.testing.bank.books import SANDBOX as IDENTITY
from provider_adapters.testing.bank.books import Books, Page, Slice, read_slice
from provider_adapters.testing.bank.callbacks import Callback, Event, EventKind, Listener
from provider_adapters.testing.bank.charges import Charge
from provider_adapters.testing.bank.clock import from_micros, show, shown
from provider_adapters.testing.bank.dialect import (
    BankRequest,
    Dialect,
    Row,
    Run,
    Simulator,
    below,
    execute,
    one,
    subject_of,
)
from provider_adapters.testing.bank.keys import Key, Owner
from provider_adapters.testing.bank.messages import (
    Answer,
    Code,
    Document,
    Fields,
    Refusal,
    fields,
    require,
)
from provider_adapters.testing.bank.payouts import Payout
from provider_adapters.testing.bank.received_payments import Payer, Payment
from provider_adapters.testing.bank.refunds import Refund
from provider_adapters.testing.bank.server import SimulatedBank


def sign(secret: bytes, event: str, at: datetime, body: bytes) -> dict[str, str]:
    """Return the headers of a callback."""
    instant = str(int(at.timestamp()))
    message = f"{event}.{instant}.".encode() + body
    signature = base64.b64encode(hmac.digest(secret, message, "sha256")).decode()
    return {
        "Webhook-Id": event,
        "Webhook-Timestamp": instant,
        "Webhook-Signature": f"v1,{signature}",
    }


Item = TypeVar("Item")

KEY_TYPES: Final = {
    "cpf": "cpf",
    "cnpj": "cnpj",
    "email": "email",
    "phone": "telefone",
    "evp": "aleatoria",
}
CHARGE_TYPES: Final = {"dynamic": "DINAMICA", "static": "ESTATICA"}
_KEY_STATUSES: Final = {"active": "ATIVA", "pending": "PENDENTE", "canceled": "CANCELADA"}
_CHARGE_STATUSES: Final = {"active": "ATIVA", "paid": "PAGA", "canceled": "CANCELADA"}
_BLOCK_KINDS: Final = {"med": "MED", "court": "JUDICIAL", "bank": "BANCO", "contract": "CONTRATO"}
_PAYOUT_STATES: Final = {
    "processing": "EM_PROCESSAMENTO",
    "settled": "LIQUIDADA",
    "failed": "FALHOU",
    "returned": "DEVOLVIDA",
}
_REFUND_STATES: Final = {
    "processing": "EM_PROCESSAMENTO",
    "settled": "DEVOLVIDO",
    "failed": "NAO_REALIZADO",
}
_ENTRY_KINDS: Final = {
    "pix_in": "PIX_RECEBIDO",
    "pix_out": "PIX_ENVIADO",
    "pix_returned": "DEVOLUCAO_RECEBIDA",
    "pix_refund": "DEVOLUCAO_ENVIADA",
    "fee": "TARIFA",
    "ted_in": "TED_RECEBIDA",
    "ted_out": "TED_ENVIADA",
    "boleto_in": "BOLETO_RECEBIDO",
    "boleto_out": "BOLETO_PAGO",
}


def balance_document(record: Balance, at: int) -> Document:
    """Show a balance as of an instant."""
    return {
        **fields(record, saldo_centavos="owned", bloqueado_centavos="blocked"),
        "disponivel_centavos": record.available,
        "atualizado_em": show(at),
    }


def block_document(record: Block) -> Document:
    """Show blocked money."""
    return {
        **fields(record, valor_centavos="centavos", referencia="reference"),
        "tipo": _BLOCK_KINDS[record.kind],
        "desde": show(record.since),
    }


def key_document(record: Key) -> Document:
    """Show a key."""
    return {
        **fields(record, "id", chave="key"),
        "tipo": KEY_TYPES[record.type],
        "situacao": _KEY_STATUSES[record.status],
        "criada_em": show(record.created_at),
    }


def listener_document(record: Listener) -> Document:
    """Show an address for callbacks, without its secret."""
    return {"id": record.id, "url": record.url}


def event_document(books: Books, record: Event) -> Document:
    """Show an event as the body of a callback."""
    name = "referencia" if record.kind is EventKind.CHARGE else "chave"
    match subject_of(books, record):
        case Payment() as paid:
            said = paid.reference
        case Payout() | Refund() as ordered:
            said = ordered.idempotency_key
        case _:  # tests name it as the customer does
            said = record.subject
    return {"tipo": record.kind, "conta": record.account_id, name: said or ""}


def owner_document(record: Owner) -> Document:
    """Show the owner of a key."""
    return {
        **fields(record, "ispb", chave="key", banco="bank", nome_banco="bank_name"),
        **fields(record, agencia="branch", conta="account"),
        "tipo": KEY_TYPES[record.type],
        "titular": _person(record),
    }


def charge_document(record: Charge, receiver: Account, at: int) -> Document:
    """Show a charge at an instant."""
    return {
        **fields(record, "id", "txid", chave="key", referencia="reference"),
        **fields(record, valor_centavos="centavos", reutilizavel="reusable", copia_e_cola="emv"),
        **fields(receiver, cidade="city", cep="zip_code"),
        "tipo": CHARGE_TYPES[record.type],
        "situacao": "EXPIRADA" if record.expired(at) else _CHARGE_STATUSES[record.status],
        "descricao": record.description,
        "pagador": _payer(record.payer),
        "recebedor": _person(receiver),
        "criada_em": show(record.created_at),
        "expira_em": shown(record.expires_at),
    }


def charge_payment_document(record: Charge, paid: Payment | None) -> Document:
    """Show whether and how a charge was paid."""
    return {
        **fields(record, referencia="reference", valor_centavos="centavos"),
        "criada_em": show(record.created_at),
        "pagamento": _payment(paid) if paid else None,
    }


def received_document(record: Payment) -> Document:
    """Show a payment in the list of payments."""
    return {
        **_payment(record),
        **fields(record, referencia="reference", devolvido_centavos="refunded"),
    }


def entry_document(record: Entry) -> Document:
    """Show a line of the statement."""
    return {
        **fields(record, "id", e2e="e2e_id", chave_idempotencia="idempotency_key"),
        "tipo": _ENTRY_KINDS[record.kind],
        "natureza": "C" if record.centavos > 0 else "D",
        "valor_centavos": abs(record.centavos),
        "descricao": record.description,
        "contraparte": _person(record),
        "criado_em": show(record.at),
    }


def payout_document(record: Payout) -> Document:
    """Show a payout; once settled, its value is the amount really paid."""
    return {
        **_ordered(record),
        **fields(record, valor_centavos="paid", e2e="e2e_id"),
        "situacao": "EM_ANALISE" if record.analysed_until else _PAYOUT_STATES[record.state],
        "destino": json.loads(record.to.sent),
        "em_analise_ate": shown(record.analysed_until),
        "devolvida_em": shown(record.returned_at),
        "devolucoes": [
            {"id": name, "valor_centavos": centavos, "devolvida_em": show(at)}
            for name, centavos, at in json.loads(record.returns)
        ],
    }


def refund_document(record: Refund) -> Document:
    """Show a refund."""
    return {
        **_ordered(record),
        **fields(record, referencia="reference", valor_centavos="centavos"),
        "situacao": _REFUND_STATES[record.state],
        "id_devolucao": record.return_id,
        "recebimento": fields(record, e2e="payment_e2e_id", referencia="payment_reference"),
    }


def page_document(name: str, record: Page[Item], item: Callable[[Item], Document]) -> Document:
    """Show a page of a list under its name."""
    return {name: [item(one) for one in record.items], "proximo_cursor": record.cursor}


def _payment(record: Payment) -> dict[str, object]:
    return {
        **fields(record, e2e="e2e_id", valor_centavos="centavos"),
        "id": line_number(record.seq),
        "pago_em": show(record.at),
        "pagador": _payer(record.payer),
    }


def _ordered(record: Payout | Refund) -> dict[str, object]:
    what = "payout" if isinstance(record, Payout) else "refund"
    failure = {"code": record.failure, "message": f"the {what} failed"} if record.failure else None
    return {
        **fields(record, "id", chave_idempotencia="idempotency_key", descricao="description"),
        "criada_em": show(record.created_at),
        "liquidada_em": shown(record.settled_at),
        "falha": failure,
    }


def _person(record: Account | Owner | Entry) -> Document:
    return fields(record, nome="name", documento="tax_number")


def _payer(record: Payer | None) -> Document | None:
    if record is None:
        return None
    return fields(record, nome="name", documento="tax_number", mensagem="message")


_CREATED: Final = 201
_REPLAYED: Final = {"Idempotent-Replayed": "true"}
_IDEMPOTENCY_KEY = re.compile(r"[!-~]{1,64}")
_SECRET = re.compile(r"([0-9a-fA-F]{2})*")
_BANK = re.compile(r"[0-9]{3}|[0-9A-Z]{8}")
_NEVER = 10 * 366 * 86400
_SECOND = 1_000_000
_KEY_TYPE: Final = {theirs: ours for ours, theirs in KEY_TYPES.items()}
_CHARGE_TYPE: Final = {theirs: ours for ours, theirs in CHARGE_TYPES.items()}
_ACCOUNT_TYPES: Final = ("corrente", "poupanca", "salario", "pagamento")
_TO_KEY: Final = ("forma", "tipo_chave", "chave", "nome", "documento")
_TO_ACCOUNT: Final = ("forma", "banco", "agencia", "conta", "tipo_conta", "nome", "documento")


def authenticate(request: BankRequest) -> Account:
    """Return the account of the token, which is also the one in the path."""
    account = request.holder(request.bearer, "a valid token is needed")
    if account.id != request.path["conta"]:
        raise Refusal(Code.WRONG_ACCOUNT, "the token belongs to another account")
    return account


def _all(
    name: str, read: Callable[[Books, str], Sequence[Item]], show: Callable[[Item], Document]
) -> Run:
    """Return the handler that answers a whole list under its name."""
    return lambda request: {name: [show(each) for each in read(*request.own)]}


def _page(
    name: str, read: Callable[[Books, str, Slice], Page[Item]], show: Callable[[Item], Document]
) -> Run:
    """Return the handler that answers a page of a list under its name."""
    return lambda request: page_document(name, read(*request.own, read_slice(request.query)), show)


def _charge(find: Callable[[Books, str, str], charges.Charge]) -> Run:
    return lambda request: _shown(request, find(*request.own, request.path["referencia"]))


def _balance(request: BankRequest) -> Document:
    return balance_document(accounts.balance(*request.own), request.books.clock.micros())


def _add_key(request: BankRequest) -> Document:
    return key_document(keys.add(*request.own, read_key(request.body)))


def _look_up(request: BankRequest) -> Document:
    return owner_document(keys.look_up(request.books, request.body.text("chave")))


def _shown(request: BankRequest, charge: charges.Charge) -> Document:
    return charge_document(charge, request.account, request.books.clock.micros())


def _add_charge(request: BankRequest) -> Document:
    return _shown(request, charges.add(request.books, request.account, read_charge(request.body)))


def _charge_payment(request: BankRequest) -> Document:
    charge = charges.get(*request.own, request.path["referencia"])
    return charge_payment_document(charge, charges.payment(request.books, charge))


def _refund_payment(request: BankRequest) -> Answer:
    body, own = request.body, request.own
    order = refunds.RefundOrder(
        payment_e2e_id=request.path["e2e"],
        centavos=body.centavos("valor_centavos"),
        idempotency_key=_checked(request.headers.get("Idempotency-Key", "")),
        reference=body.text("referencia", ""),
        description=body.text("descricao", ""),
    )
    known = refunds.repeated(*own, order)
    if known:
        return Answer(document=refund_document(known), headers=_REPLAYED)
    return execute(order.centavos, lambda: refund_document(refunds.accept(*own, order)), _CREATED)


def _pay_out(request: BankRequest) -> Answer:
    books, account = request.books, request.account
    order = read_payout(request.body, request.headers.get("Idempotency-Key"))
    known = payouts.repeated(books, account, order)
    if known:
        return Answer(document=payout_document(known), headers=_REPLAYED)
    return execute(
        order.centavos, lambda: payout_document(payouts.accept(books, account, order)), _CREATED
    )


def _add_listener(request: BankRequest) -> Document:
    url, secret = request.body.text("url"), request.body.text("segredo", "")
    require(_SECRET.fullmatch(secret), "segredo is hexadecimal digits")
    return listener_document(callbacks.register(*request.own, url, secret))


def _missed(request: BankRequest) -> Document:
    found = callbacks.missed(*request.own, read_slice(request.query).limit)
    shown = [{"id": each.id, "aviso": event_document(request.books, each)} for each in found]
    return {"eventos": shown}


def _acknowledge(request: BankRequest) -> Document:
    events = request.body.texts("eventos")
    callbacks.acknowledge(*request.own, events)
    return {"lidos": len(events)}


def read_payout(body: Fields, idempotency_key: str | None) -> payouts.Order:
    """Read the order of a payout; raises ``INVALID_REQUEST``."""
    return payouts.Order(
        idempotency_key=None if idempotency_key is None else _checked(idempotency_key),
        centavos=body.centavos("valor_centavos"),
        to=_destination(body.inside("destino")),
        description=body.text("descricao", ""),
    )


def read_key(body: Fields) -> keys.NewKey:
    """Read the order of a key; raises ``INVALID_REQUEST``."""
    kind = body.choice("tipo", _KEY_TYPE)
    return keys.NewKey(type=kind, key=body.optional("chave", body.text))


def read_charge(body: Fields) -> charges.NewCharge:
    """Read the order of a charge; raises ``INVALID_REQUEST``."""
    lives = body.whole("expira_em_s", _NEVER)
    require(0 < lives <= _NEVER, "expira_em_s is above zero and at most ten years")
    return charges.NewCharge(
        reference=body.text("referencia"),
        type=body.choice("tipo", _CHARGE_TYPE),
        key=body.text("chave"),
        centavos=body.optional("valor_centavos", body.centavos),
        expires_in=None if lives == _NEVER else lives * _SECOND,
        reusable=body.flag("reutilizavel"),
        description=body.text("descricao", ""),
        payer=body.optional("pagador", lambda name: _read_payer(body.inside(name))),
    )


def _read_payer(given: Fields) -> Payer:
    name, tax_number = given.text("nome"), given.text("documento")
    return Payer(name=name, tax_number=tax_number, message=given.text("mensagem", ""))


def _checked(idempotency_key: str) -> str:
    is_one = _IDEMPOTENCY_KEY.fullmatch(idempotency_key)
    require(is_one, "Idempotency-Key is 1 to 64 printable ASCII characters")
    return idempotency_key


def _destination(body: Fields) -> keys.Destination:
    to_key = body.choice("forma", ("chave", "conta")) == "chave"
    if to_key:
        body.choice("tipo_chave", _KEY_TYPE, "email")
    else:
        require(_BANK.fullmatch(body.text("banco")), "banco is a COMPE code or an ISPB")
        body.choice("tipo_conta", _ACCOUNT_TYPES, "corrente")
    # As it was sent, with the known fields only, in a fixed order.
    names = _TO_KEY if to_key else _TO_ACCOUNT
    sent = {name: body.text(name, "") for name in names if name in body}
    return keys.Destination(
        key=body.text("chave") if to_key else None,
        bank=None if to_key else body.text("banco"),
        branch=None if to_key else body.text("agencia"),
        account=None if to_key else body.text("conta"),
        name=body.text("nome", ""),
        tax_number=body.text("documento"),
        sent=json.dumps(sent),
    )


_CHARGE = "/cobrancas/{referencia:[^/]+}"
_RECEIVED = "/recebimentos/{e2e:[^/]+}"
_REFUND_BY_KEY = one(refunds.by_key, "chave", refund_document)
_REFUNDS = _page("devolucoes", refunds.read, refund_document)
_PAYOUT = one(payouts.get, "id", payout_document)
_PAYOUT_BY_KEY = one(payouts.by_key, "chave", payout_document)
_STATEMENT = _page("lancamentos", accounts.statement, entry_document)
_PAYMENTS = _page("recebimentos", received_payments.read, received_document)
_PAYMENT = one(received_payments.by_e2e_id, "e2e", received_document)
_REMOVE_LISTENER = one(callbacks.remove, "id", listener_document)
ROWS = below(
    "/v1/contas/{conta}",
    Row("GET", "/saldo", "balance", _balance),
    Row("GET", "/bloqueios", "balance", _all("bloqueios", accounts.blocks, block_document)),
    Row("GET", "/extrato", "statement", _STATEMENT),
    Row("GET", "/chaves", "keys", _all("chaves", keys.list_all, key_document)),
    Row("POST", "/chaves", "keys", _add_key, status=_CREATED),
    Row("DELETE", "/chaves/{id:[^/]+}", "keys", one(keys.cancel, "id", key_document)),
    Row("POST", "/consultas-chave", "keys", _look_up),
    Row("GET", "/avisos", "callbacks", _all("avisos", callbacks.listeners, listener_document)),
    Row("POST", "/avisos", "callbacks", _add_listener, status=_CREATED),
    Row("DELETE", "/avisos/{id:[^/]+}", "callbacks", _REMOVE_LISTENER),
    Row("GET", "/eventos-perdidos", "callbacks", _missed),
    Row("POST", "/eventos-perdidos/lidos", "callbacks", _acknowledge),
    Row("POST", "/cobrancas", "charge", _add_charge, status=_CREATED),
    Row("GET", _CHARGE, "charge", _charge(charges.get)),
    Row("DELETE", _CHARGE, "charge", _charge(charges.cancel)),
    Row("GET", f"{_CHARGE}/pagamento", "payment", _charge_payment),
    Row("GET", "/recebimentos", "payment", _PAYMENTS),
    Row("GET", _RECEIVED, "payment", _PAYMENT),
    Row("POST", f"{_RECEIVED}/devolucoes", "refund", _refund_payment),
    Row("GET", "/devolucoes", "refund_read", _REFUNDS),
    Row("GET", "/devolucoes/por-chave/{chave:[^/]+}", "refund_read", _REFUND_BY_KEY),
    Row("POST", "/transferencias", "payout", _pay_out),
    Row("GET", "/transferencias/por-chave/{chave:[^/]+}", "payout_read", _PAYOUT_BY_KEY),
    Row("GET", "/transferencias/{id:[^/]+}", "payout_read", _PAYOUT),
)
"""Every call, in the order of the README."""


def _callback(books: Books, event: Event, to: Listener) -> Callback | None:
    if event.kind is EventKind.PAYMENT:
        return None  # its customers are told of payments of charges alone
    body = json.dumps(event_document(books, event)).encode()
    at = from_micros(books.clock.micros())
    headers = sign(bytes.fromhex(to.secret), event.id, at, body)
    return Callback(url=to.url, body=body, headers=headers)


SANDBOX: Final = Dialect(
    identity=IDENTITY,
    rows=ROWS,
    authenticate=authenticate,
    refusal=messages.refusal,
    payout=payout_document,
    callback=_callback,
)


_REPEATS: Final = {
    PayoutKind.IDEM: {"repeat": "same_answer"},
    PayoutKind.DUP: {"repeat": "refuses"},
    PayoutKind.NONE: {"repeat": "ignores"},
}
SIMULATORS: Final = {
    "sandbox": Simulator(adapter="sandbox", dialect=SANDBOX, repeats=_REPEATS),
}


@dataclass(slots=True, kw_only=True)
class SandboxBank(SimulatedBank):
    """The sandbox bank, running."""

    dialect: Dialect = SANDBOX

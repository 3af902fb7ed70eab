"""The bank's documents, in its own (Portuguese) words."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Final, TypeVar

from provider_adapters.testing.bank.dialect import subject_of
from provider_adapters.testing.bank.kernel.accounts import Account, Balance
from provider_adapters.testing.bank.kernel.blocks import Block
from provider_adapters.testing.bank.kernel.books import Books
from provider_adapters.testing.bank.kernel.clock import show, shown
from provider_adapters.testing.bank.kernel.listeners import Event, EventKind, Listener
from provider_adapters.testing.bank.kernel.paging import Page
from provider_adapters.testing.bank.kernel.statement import Entry, number
from provider_adapters.testing.bank.messages import Document, fields
from provider_adapters.testing.bank.pix.charges import Charge
from provider_adapters.testing.bank.pix.destinations import Owner
from provider_adapters.testing.bank.pix.keys import Key
from provider_adapters.testing.bank.pix.payouts import Payout
from provider_adapters.testing.bank.pix.received_payments import Payer, Payment
from provider_adapters.testing.bank.pix.refunds import Refund

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


def balance(record: Balance, at: int) -> Document:
    """Show a balance as of an instant."""
    return {
        **fields(record, saldo_centavos="owned", bloqueado_centavos="blocked"),
        "disponivel_centavos": record.available,
        "atualizado_em": show(at),
    }


def block(record: Block) -> Document:
    """Show blocked money."""
    return {
        **fields(record, valor_centavos="centavos", referencia="reference"),
        "tipo": _BLOCK_KINDS[record.kind],
        "desde": show(record.since),
    }


def key(record: Key) -> Document:
    """Show a key."""
    return {
        **fields(record, "id", chave="key"),
        "tipo": KEY_TYPES[record.type],
        "situacao": _KEY_STATUSES[record.status],
        "criada_em": show(record.created_at),
    }


def listener(record: Listener) -> Document:
    """Show an address for callbacks, without its secret."""
    return {"id": record.id, "url": record.url}


def event(books: Books, record: Event) -> Document:
    """Show what happened, as the body of a callback does."""
    name = "referencia" if record.kind is EventKind.CHARGE else "chave"
    match subject_of(books, record):
        case Payment() as paid:
            said = paid.reference
        case Payout() | Refund() as ordered:
            said = ordered.idempotency_key
        case _:  # tests name it as the customer does
            said = record.subject
    return {"tipo": record.kind, "conta": record.account_id, name: said or ""}


def owner(record: Owner) -> Document:
    """Show the owner of a key."""
    return {
        **fields(record, "ispb", chave="key", banco="bank", nome_banco="bank_name"),
        **fields(record, agencia="branch", conta="account"),
        "tipo": KEY_TYPES[record.type],
        "titular": _person(record),
    }


def charge(record: Charge, receiver: Account, at: int) -> Document:
    """Show a charge as it stands at an instant."""
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


def charge_payment(record: Charge, paid: Payment | None) -> Document:
    """Show whether and how a charge was paid."""
    return {
        **fields(record, referencia="reference", valor_centavos="centavos"),
        "criada_em": show(record.created_at),
        "pagamento": _payment(paid) if paid else None,
    }


def received(record: Payment) -> Document:
    """Show a payment in the list of payments."""
    return {
        **_payment(record),
        **fields(record, referencia="reference", devolvido_centavos="refunded"),
    }


def entry(record: Entry) -> Document:
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


def payout(record: Payout) -> Document:
    """Show a payout; once settled, its value is what was really paid."""
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


def refund(record: Refund) -> Document:
    """Show a refund."""
    return {
        **_ordered(record),
        **fields(record, referencia="reference", valor_centavos="centavos"),
        "situacao": _REFUND_STATES[record.state],
        "id_devolucao": record.return_id,
        "recebimento": fields(record, e2e="payment_e2e_id", referencia="payment_reference"),
    }


def page(name: str, record: Page[Item], item: Callable[[Item], Document]) -> Document:
    """Show a page of a list under its name."""
    return {name: [item(one) for one in record.items], "proximo_cursor": record.cursor}


def _payment(record: Payment) -> dict[str, object]:
    return {
        **fields(record, e2e="e2e_id", valor_centavos="centavos"),
        "id": number(record.seq),
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

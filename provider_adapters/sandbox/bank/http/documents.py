"""The bank's documents: its books in its own (Portuguese) words, and back."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Final, TypeVar

from provider_adapters.sandbox.bank.http.bodies import Document
from provider_adapters.sandbox.bank.kernel.accounts import Account, Balance
from provider_adapters.sandbox.bank.kernel.books import COMPE, ISPB
from provider_adapters.sandbox.bank.kernel.clock import show
from provider_adapters.sandbox.bank.kernel.paging import Page
from provider_adapters.sandbox.bank.kernel.statement import Entry, number
from provider_adapters.sandbox.bank.pix.charges import Charge
from provider_adapters.sandbox.bank.pix.destinations import Owner
from provider_adapters.sandbox.bank.pix.keys import Key
from provider_adapters.sandbox.bank.pix.payouts import Payout
from provider_adapters.sandbox.bank.pix.received_payments import Payer, Payment
from provider_adapters.sandbox.bank.pix.refunds import Refund

Item = TypeVar("Item")

ACCOUNT_TYPES: Final = {
    "checking": "corrente",
    "savings": "poupanca",
    "salary": "salario",
    "payment": "pagamento",
}
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


def account(said: Account) -> Document:
    """Show an account's coordinates."""
    return {
        "id": said.id,
        "titular": {"nome": said.name, "documento": said.tax_number},
        "banco": COMPE,
        "ispb": ISPB,
        "agencia": said.branch,
        "conta": said.number,
        "tipo": ACCOUNT_TYPES[said.type],
        "cidade": said.city,
        "cep": said.zip_code,
        "criada_em": show(said.created_at),
    }


def balance(said: Balance, at: int) -> Document:
    """Show a balance as of an instant."""
    return {
        "saldo_centavos": said.owned,
        "bloqueado_centavos": said.blocked,
        "disponivel_centavos": said.available,
        "atualizado_em": show(at),
    }


def key(said: Key) -> Document:
    """Show a key."""
    return {
        "id": said.id,
        "chave": said.key,
        "tipo": KEY_TYPES[said.type],
        "situacao": _KEY_STATUSES[said.status],
        "criada_em": show(said.created_at),
    }


def owner(said: Owner) -> Document:
    """Show who is behind a key."""
    return {
        "chave": said.key,
        "tipo": KEY_TYPES[said.type],
        "titular": {"nome": said.name, "documento": said.tax_number},
        "banco": said.bank,
        "nome_banco": said.bank_name,
        "ispb": said.ispb,
        "agencia": said.branch,
        "conta": said.account,
    }


def charge(said: Charge, receiver: Account, at: int) -> Document:
    """Show a charge as it stands at an instant."""
    return {
        "id": said.id,
        "txid": said.txid,
        "referencia": said.reference,
        "tipo": CHARGE_TYPES[said.type],
        "chave": said.key,
        "valor_centavos": said.centavos,
        "situacao": "EXPIRADA" if said.expired(at) else _CHARGE_STATUSES[said.status],
        "reutilizavel": said.reusable,
        "descricao": said.description,
        "pagador": _payer(said.payer),
        "recebedor": {"nome": receiver.name, "documento": receiver.tax_number},
        "cidade": receiver.city,
        "cep": receiver.zip_code,
        "copia_e_cola": said.emv,
        "criada_em": show(said.created_at),
        "expira_em": None if said.expires_at is None else show(said.expires_at),
    }


def charge_payment(said: Charge, paid: Payment | None) -> Document:
    """Show whether and how a charge was paid."""
    return {
        "referencia": said.reference,
        "valor_centavos": said.centavos,
        "criada_em": show(said.created_at),
        "pagamento": _payment(paid) if paid else None,
    }


def received(said: Payment) -> Document:
    """Show a payment in the list of payments."""
    given_back = {"devolvido_centavos": said.refunded}
    return {**_payment(said), "referencia": said.reference, **given_back}


def entry(said: Entry) -> Document:
    """Show a line of the statement."""
    return {
        "id": said.id,
        "tipo": _ENTRY_KINDS[said.kind],
        "natureza": "C" if said.centavos > 0 else "D",
        "valor_centavos": abs(said.centavos),
        "e2e": said.e2e_id,
        "chave_idempotencia": said.idempotency_key,
        "descricao": said.description,
        "contraparte": {"nome": said.name, "documento": said.tax_number},
        "criado_em": show(said.at),
    }


def payout(said: Payout) -> Document:
    """Show a payout; once settled, its value is what really moved."""
    failure = {"code": said.failure, "message": "the payout failed"} if said.failure else None
    value = said.centavos if said.settled_centavos is None else said.settled_centavos
    return {
        "id": said.id,
        "chave_idempotencia": said.idempotency_key,
        "situacao": _PAYOUT_STATES[said.state],
        "valor_centavos": value,
        "e2e": said.e2e_id,
        "descricao": said.description,
        "destino": json.loads(said.destination),
        "criada_em": show(said.created_at),
        "liquidada_em": None if said.settled_at is None else show(said.settled_at),
        "falha": failure,
        "devolvida_em": None if said.returned_at is None else show(said.returned_at),
    }


def refund(said: Refund) -> Document:
    """Show a refund."""
    return {
        "id": said.id,
        "chave_idempotencia": said.idempotency_key,
        "referencia": said.reference,
        "situacao": _REFUND_STATES[said.state],
        "valor_centavos": said.centavos,
        "id_devolucao": said.return_id,
        "descricao": said.description,
        "recebimento": {"e2e": said.payment_e2e_id, "referencia": said.payment_reference},
        "criada_em": show(said.created_at),
        "liquidada_em": None if said.settled_at is None else show(said.settled_at),
        "falha": {"code": said.failure, "message": "the refund failed"} if said.failure else None,
    }


def page(name: str, said: Page[Item], item: Callable[[Item], Document]) -> Document:
    """Show a page of a list under its name."""
    return {name: [item(one) for one in said.items], "proximo_cursor": said.cursor}


def _payment(said: Payment) -> dict[str, object]:
    return {
        "id": number(said.seq),
        "e2e": said.e2e_id,
        "valor_centavos": said.centavos,
        "pago_em": show(said.at),
        "pagador": _payer(said.payer),
    }


def _payer(said: Payer | None) -> Document | None:
    if said is None:
        return None
    return {"nome": said.name, "documento": said.tax_number, "mensagem": said.message}

"""
Orders in the bank's words: keys, charges, payouts, refunds.

Every function raises ``Refused`` for what cannot be written: text that is not
Unicode, or an identifier that cannot stand in a path.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from gateway.domain.bank.charges import ChargeOrder
from gateway.domain.bank.payout_orders import AccountType, PayoutOrder, PixDestination
from gateway.domain.bank.pix_keys import KeyOrder
from gateway.domain.bank.provider_reasons import Reason
from gateway.domain.bank.providers import ProviderAccount, Refused
from gateway.domain.bank.refunds import RefundOrder
from gateway.net.client.messages import Kind, ProviderRequest
from provider_adapters.sandbox.requests import below_account
from provider_adapters.sandbox.words import CHARGE_TYPES, KEY_TYPES

_KEY_WORDS: Final = {kind: word for word, kind in KEY_TYPES.items()}
_CHARGE_WORDS: Final = {kind: word for word, kind in CHARGE_TYPES.items()}
_ACCOUNT_WORDS: Final = {
    AccountType.CHECKING: "corrente",
    AccountType.SAVINGS: "poupanca",
    AccountType.SALARY: "salario",
    AccountType.PAYMENT: "pagamento",
}


def create_key(account: ProviderAccount, order: KeyOrder) -> ProviderRequest:
    """Build ``POST …/chaves``; the bank generates the value of a random key."""
    document = {"tipo": _KEY_WORDS[order.type]}
    if order.key:
        document["chave"] = order.key
    return _post(below_account(account, "create_key", "/chaves"), document)


def cancel_key(account: ProviderAccount, key_id: str) -> ProviderRequest:
    """Build ``DELETE …/chaves/{id}``, by the bank's id."""
    return _delete(below_account(account, "cancel_key", "/chaves/{id}", id=key_id))


def look_up_key(account: ProviderAccount, key: str) -> ProviderRequest:
    """Build ``POST …/consultas-chave``; the key is in the body, because paths are logged."""
    return _post(below_account(account, "look_up_key", "/consultas-chave"), {"chave": key})


def create_charge(account: ProviderAccount, order: ChargeOrder) -> ProviderRequest:
    """Build ``POST …/cobrancas``; what the order leaves open is left out."""
    payer = order.payer
    document: dict[str, object] = {
        "referencia": order.reference,
        "tipo": _CHARGE_WORDS[order.type],
        "chave": order.key,
        "reutilizavel": order.reusable,
        "descricao": order.description,
        "valor_centavos": None if order.value is None else order.value.centavos,
        "expira_em_s": order.expires_in,
        "pagador": payer
        and {"nome": payer.name, "documento": payer.tax_number, "mensagem": payer.message},
    }
    given = {name: value for name, value in document.items() if value is not None}
    return _post(below_account(account, "create_charge", "/cobrancas"), given)


def cancel_charge(account: ProviderAccount, reference: str) -> ProviderRequest:
    """Build ``DELETE …/cobrancas/{referencia}``."""
    path = "/cobrancas/{referencia}"
    return _delete(below_account(account, "cancel_charge", path, referencia=reference))


def create_payout(account: ProviderAccount, order: PayoutOrder) -> ProviderRequest:
    """Build ``POST …/transferencias``; the provider key is the idempotency key."""
    document = {
        "valor_centavos": order.value.centavos,
        "descricao": order.description,
        "destino": _destination(order),
    }
    request = below_account(account, "create_payout", "/transferencias")
    return _payment(request, document, order.provider_key)


def create_refund(account: ProviderAccount, order: RefundOrder) -> ProviderRequest:
    """Build ``POST …/recebimentos/{e2e}/devolucoes``; the provider key is the idempotency key."""
    document = {
        "valor_centavos": order.value.centavos,
        "referencia": order.reference,
        "descricao": order.description,
    }
    path = "/recebimentos/{e2e}/devolucoes"
    request = below_account(account, "create_refund", path, e2e=order.payment_e2e_id)
    return _payment(request, document, order.provider_key)


def _post(request: ProviderRequest, document: Mapping[str, object]) -> ProviderRequest:
    """Make a read a POST of a document."""
    return ProviderRequest(
        operation=request.operation,
        method="POST",
        template=request.template,
        path=request.path,
        headers=request.headers,
        body=_encoded(document),
    )


def _payment(
    request: ProviderRequest, document: Mapping[str, object], idempotency_key: str
) -> ProviderRequest:
    """Make a read a POST that moves money; the bank keeps its idempotency key forever."""
    return ProviderRequest(
        operation=request.operation,
        method="POST",
        template=request.template,
        path=request.path,
        headers={**request.headers, "Idempotency-Key": idempotency_key},
        body=_encoded(document),
        kind=Kind.PAYOUT,
    )


def _delete(request: ProviderRequest) -> ProviderRequest:
    """Make a read a DELETE, which may be repeated."""
    return ProviderRequest(
        operation=request.operation,
        method="DELETE",
        template=request.template,
        path=request.path,
        headers=request.headers,
    )


def _encoded(document: Mapping[str, object]) -> bytes:
    """Write a document as JSON."""
    try:
        return msgspec.json.encode(document)
    except ValueError as problem:  # a lone surrogate: text that is not Unicode
        raise Refused(Reason.UNSENDABLE) from problem


def _destination(order: PayoutOrder) -> dict[str, str]:
    """Write a payout's destination, without empty fields."""
    to = order.destination
    holder = {"nome": to.name, "documento": to.tax_number}
    if isinstance(to, PixDestination):
        place = {"forma": "chave", "tipo_chave": _KEY_WORDS[to.key_type], "chave": to.key}
    else:
        place = {
            "forma": "conta",
            "banco": to.bank_number,
            "agencia": to.branch,
            "conta": to.account,
            "tipo_conta": _ACCOUNT_WORDS[to.account_type],
        }
    return {name: text for name, text in (place | holder).items() if text}

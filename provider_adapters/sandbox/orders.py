"""What is ordered beyond payouts, in the bank's words: keys, charges, refunds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from gateway.domain.bank.charges import ChargeOrder
from gateway.domain.bank.pix_keys import KeyOrder
from gateway.domain.bank.providers import ProviderAccount, Refused
from gateway.domain.bank.refunds import RefundOrder
from gateway.net.client.messages import Kind, ProviderRequest
from gateway.net.client.reasons import Reason
from provider_adapters.sandbox import client as bank
from provider_adapters.sandbox import translate
from provider_adapters.sandbox.client import Question

_KEY_WORDS: Final = {kind: word for word, kind in translate.KEY_TYPES.items()}
_CHARGE_WORDS: Final = {kind: word for word, kind in translate.CHARGE_TYPES.items()}


def key(account: ProviderAccount, order: KeyOrder) -> ProviderRequest:
    """Make the request that registers a key; the bank draws a random one."""
    document = {"tipo": _KEY_WORDS[order.type]}
    if order.key:
        document["chave"] = order.key
    return _post(account, Question(operation="create_key", path="/chaves"), document)


def key_cancelling(account: ProviderAccount, key_id: str) -> ProviderRequest:
    """Make the request that gives a key up, by the bank's id."""
    question = Question(operation="cancel_key", path="/chaves/{id}", steps={"id": key_id})
    return _delete(account, question)


def key_lookup(account: ProviderAccount, text: str) -> ProviderRequest:
    """Make the request that asks who is behind a key, which is in no address."""
    question = Question(operation="look_up_key", path="/consultas-chave")
    return _post(account, question, {"chave": text})


def charge(account: ProviderAccount, order: ChargeOrder) -> ProviderRequest:
    """Make the request of a charge."""
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
    told = {name: value for name, value in document.items() if value is not None}
    return _post(account, Question(operation="create_charge", path="/cobrancas"), told)


def charge_cancelling(account: ProviderAccount, reference: str) -> ProviderRequest:
    """Make the request that cancels a charge."""
    question = Question(
        operation="cancel_charge", path="/cobrancas/{referencia}", steps={"referencia": reference}
    )
    return _delete(account, question)


def refund(account: ProviderAccount, order: RefundOrder) -> ProviderRequest:
    """
    Make the request that gives money back; raises ``Refused`` for what cannot be written.

    The provider key is the idempotency key, which the bank keeps for ever.
    """
    question = Question(
        operation="create_refund",
        path="/recebimentos/{e2e}/devolucoes",
        steps={"e2e": order.payment_e2e_id},
    )
    document = {
        "valor_centavos": order.value.centavos,
        "referencia": order.reference,
        "descricao": order.description,
    }
    asked = _post(account, question, document)
    return ProviderRequest(
        operation=asked.operation,
        method=asked.method,
        template=asked.template,
        path=asked.path,
        headers={**asked.headers, "Idempotency-Key": order.provider_key},
        body=asked.body,
        kind=Kind.PAYOUT,
    )


def _post(
    account: ProviderAccount, question: Question, document: Mapping[str, object]
) -> ProviderRequest:
    """Make a request with a body."""
    asked = bank.asking(account, question)
    try:
        body = msgspec.json.encode(document)
    except ValueError as problem:  # text that is no Unicode
        raise Refused(Reason.UNSENDABLE) from problem
    return ProviderRequest(
        operation=asked.operation,
        method="POST",
        template=asked.template,
        path=asked.path,
        headers=asked.headers,
        body=body,
    )


def _delete(account: ProviderAccount, question: Question) -> ProviderRequest:
    """Make a request that may be repeated at will."""
    asked = bank.asking(account, question)
    return ProviderRequest(
        operation=asked.operation,
        method="DELETE",
        template=asked.template,
        path=asked.path,
        headers=asked.headers,
    )

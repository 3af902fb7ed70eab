"""Customers' orders: request bodies in the bank's words, as values of ``pix``."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Final

from provider_adapters.testing.bank.kernel import refusals
from provider_adapters.testing.bank.messages import Fields
from provider_adapters.testing.bank.pix.charges import NewCharge
from provider_adapters.testing.bank.pix.destinations import Destination
from provider_adapters.testing.bank.pix.keys import NewKey
from provider_adapters.testing.bank.pix.payouts import Order
from provider_adapters.testing.bank.pix.received_payments import Payer
from provider_adapters.testing.bank.pix.refunds import RefundOrder
from provider_adapters.testing.sandbox.documents import ACCOUNT_TYPES, CHARGE_TYPES, KEY_TYPES

_IDEMPOTENCY_KEY = re.compile(r"[!-~]{1,64}")
_BANK = re.compile(r"[0-9]{3}|[0-9A-Z]{8}")
_LONGEST_EXPIRY_S = 10 * 366 * 86400
_SECOND = 1_000_000


def _inverse(words: Mapping[str, str]) -> dict[str, str]:
    return {theirs: ours for ours, theirs in words.items()}


_KEY_TYPE: Final = _inverse(KEY_TYPES)
_CHARGE_TYPE: Final = _inverse(CHARGE_TYPES)
_ACCOUNT_TYPE: Final = _inverse(ACCOUNT_TYPES)


def payout(body: Fields, idempotency_key: str | None) -> Order:
    """
    Read the order of a payout.

    Raises:
        Refusal: ``INVALID_REQUEST``.
    """
    if idempotency_key is not None:
        _check_key(idempotency_key)
    return Order(
        centavos=body.centavos("valor_centavos"),
        to=_destination(body.inside("destino")),
        description=body.text("descricao", ""),
        idempotency_key=idempotency_key,
    )


def refund(body: Fields, payment_e2e_id: str, idempotency_key: str | None) -> RefundOrder:
    """
    Read the order of a refund; its idempotency key is required.

    Raises:
        Refusal: ``INVALID_REQUEST``.
    """
    return RefundOrder(
        payment_e2e_id=payment_e2e_id,
        centavos=body.centavos("valor_centavos"),
        idempotency_key=_check_key(idempotency_key or ""),
        reference=body.text("referencia", ""),
        description=body.text("descricao", ""),
    )


def key(body: Fields) -> NewKey:
    """
    Read the order of a key.

    Raises:
        Refusal: ``INVALID_REQUEST``.
    """
    return NewKey(
        type=body.choice("tipo", _KEY_TYPE),
        key=body.text("chave") if "chave" in body else None,
    )


def charge(body: Fields) -> NewCharge:
    """
    Read the order of a charge.

    Raises:
        Refusal: ``INVALID_REQUEST``.
    """
    return NewCharge(
        reference=body.text("referencia"),
        type=body.choice("tipo", _CHARGE_TYPE),
        key=body.text("chave"),
        centavos=body.centavos("valor_centavos") if "valor_centavos" in body else None,
        expires_in=_expiry(body) if "expira_em_s" in body else None,
        reusable=body.flag("reutilizavel"),
        description=body.text("descricao", ""),
        payer=_payer(body.inside("pagador")) if "pagador" in body else None,
    )


def secret(body: Fields) -> str:
    """
    Read the secret of an address for callbacks, in hexadecimal digits; it may be empty.

    Raises:
        Refusal: ``INVALID_REQUEST``.
    """
    try:
        return bytes.fromhex(body.text("segredo", "")).hex()
    except ValueError:
        problem = "segredo is hexadecimal digits"
        raise refusals.invalid(problem) from None


def _check_key(idempotency_key: str) -> str:
    if not _IDEMPOTENCY_KEY.fullmatch(idempotency_key):
        problem = "Idempotency-Key is 1 to 64 printable ASCII characters"
        raise refusals.invalid(problem)
    return idempotency_key


def _expiry(body: Fields) -> int:
    seconds = body.whole("expira_em_s")
    if not 0 < seconds <= _LONGEST_EXPIRY_S:
        problem = "expira_em_s is above zero and at most ten years"
        raise refusals.invalid(problem)
    return seconds * _SECOND


def _payer(body: Fields) -> Payer:
    return Payer(
        name=body.text("nome"),
        tax_number=body.text("documento"),
        message=body.text("mensagem", ""),
    )


def _destination(body: Fields) -> Destination:
    if body.choice("forma", {"chave": "key", "conta": "account"}) == "key":
        return _to_key(body)
    return _to_account(body)


def _to_key(body: Fields) -> Destination:
    if "tipo_chave" in body:
        body.choice("tipo_chave", _KEY_TYPE)
    return Destination(
        key=body.text("chave"),
        name=body.text("nome", ""),
        tax_number=body.text("documento"),
        sent=_sent(body, ("forma", "tipo_chave", "chave", "nome", "documento")),
    )


def _to_account(body: Fields) -> Destination:
    bank = body.text("banco")
    if not _BANK.fullmatch(bank):
        problem = "banco is a COMPE code or an ISPB"
        raise refusals.invalid(problem)
    body.choice("tipo_conta", _ACCOUNT_TYPE, "corrente")
    names = ("forma", "banco", "agencia", "conta", "tipo_conta", "nome", "documento")
    return Destination(
        bank=bank,
        branch=body.text("agencia"),
        account=body.text("conta"),
        name=body.text("nome", ""),
        tax_number=body.text("documento"),
        sent=_sent(body, names),
    )


def _sent(body: Fields, names: tuple[str, ...]) -> str:
    """Return the destination as it was sent, with the known fields only, in a fixed order."""
    return json.dumps({name: body.text(name, "") for name in names if name in body})

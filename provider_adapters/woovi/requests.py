"""
Woovi's paths, queries and credential, and orders in its words.

Every function raises ``Refused`` for an identifier that cannot stand in a path, and
``NeverSendable`` for an order that the bank can never take. Source: the OpenAPI document named in
``words``; what only its pages say is named where it is used.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from gateway.banks.port.charges import ChargeOrder, ChargeType
from gateway.banks.port.payout_orders import PayoutOrder, PixDestination
from gateway.banks.port.pix_keys import KeyOrder
from gateway.banks.port.provider_callbacks import CallbackOrder
from gateway.banks.port.providers import ProviderAccount
from gateway.banks.port.refunds import RefundOrder
from gateway.core.windows import Window
from provider_adapters.kit import banks
from provider_adapters.kit.outcomes import NeverSendable
from provider_adapters.kit.requests import ProviderRequest, get, paying, sending
from provider_adapters.kit.secrets import SecretText, secrets_of
from provider_adapters.kit.times import ends
from provider_adapters.woovi.mapping import ACCOUNT_TYPES, NEW_KEY_TYPES, PAYOUT_KEY_TYPES

LARGEST_PAGE: Final = 100
"""Items of a page: docs/transaction/transaction-how-to-paginate-api.md, "limita a 100"."""
SHORTEST_CHARGE_S: Final = 300
"""``ChargePayload.expiresIn``: "minimum is 5 minutes"."""
LONGEST_COMMENT: Final = 140
"""``RefundPayload.comment``, in characters."""
_KEYS_PATH: Final = "/api/v1/webhook/public-keys"
"""Open to everybody, at every host of the bank: docs/webhook/seguranca/webhook-public-keys.md."""
PUBLIC_KEYS: Final = get("callback_keys", _KEYS_PATH, {})
PROBE: Final = get("probe", _KEYS_PATH, {})
_API: Final = "/api/v1"
_NO_QUERY: Final[Mapping[str, str]] = {}
_CPF_DIGITS: Final = 11


class WooviSecrets(msgspec.Struct, frozen=True, kw_only=True):
    """An account's credential at the bank: its own AppID, sent unchanged."""

    app_id: SecretText


def balance(account: ProviderAccount) -> ProviderRequest:
    """Build ``GET /account/{accountId}``."""
    return _get(account, "get_balance", "/account/{id}", id=account.provider_account)


def statement(account: ProviderAccount, window: Window, skip: int, limit: int) -> ProviderRequest:
    """Build ``GET /statement``."""
    return _get(account, "list_statement", "/statement", _page(window, skip, limit))


def keys(account: ProviderAccount, operation: str, skip: int) -> ProviderRequest:
    """Build ``GET /pix-keys``, a page of it."""
    query = {"skip": str(skip), "limit": str(LARGEST_PAGE)}
    return _get(account, operation, "/pix-keys", query)


def create_key(account: ProviderAccount, order: KeyOrder) -> ProviderRequest:
    """Build ``POST /pix-keys``; the bank draws a random key, and wants the field all the same."""
    word = NEW_KEY_TYPES.get(order.type)
    if word is None:
        raise NeverSendable
    document = {"key": order.key, "type": word}
    return sending(_get(account, "create_key", "/pix-keys"), document)


def cancel_key(account: ProviderAccount, key: str) -> ProviderRequest:
    """Build ``DELETE /pix-keys/{pixKey}``."""
    return sending(_get(account, "cancel_key", "/pix-keys/{key}", key=key), method="DELETE")


def look_up_key(account: ProviderAccount, key: str) -> ProviderRequest:
    """Build ``POST /pix-keys/check``; the key is in the body, because paths are logged."""
    return sending(_get(account, "look_up_key", "/pix-keys/check"), {"pixKey": key})


def charge(account: ProviderAccount, reference: str, operation: str) -> ProviderRequest:
    """Build ``GET /charge/{id}``, by our reference."""
    return _get(account, operation, "/charge/{id}", id=reference)


def create_charge(account: ProviderAccount, order: ChargeOrder) -> ProviderRequest:
    """
    Build ``POST /charge``.

    Raises:
        NeverSendable: A charge of this bank is dynamic, has an amount, is paid once, and lives
            five minutes at least.
    """
    seconds = order.expires_in
    if order.type is not ChargeType.DYNAMIC or order.reusable or order.value is None:
        raise NeverSendable
    if seconds is not None and seconds < SHORTEST_CHARGE_S:
        raise NeverSendable
    payer = order.payer
    document: dict[str, object] = {
        "correlationID": order.reference,
        "value": order.value.centavos,
        "type": "DYNAMIC",
        "comment": order.description or None,
        "expiresIn": seconds,
        "customer": payer and {"name": payer.name, "taxID": payer.tax_number},
    }
    given = {name: value for name, value in document.items() if value is not None}
    return sending(_get(account, "create_charge", "/charge"), given)


def cancel_charge(account: ProviderAccount, reference: str) -> ProviderRequest:
    """Build ``DELETE /charge/{id}``."""
    request = _get(account, "cancel_charge", "/charge/{id}", id=reference)
    return sending(request, method="DELETE")


def charge_refunds(account: ProviderAccount, reference: str, operation: str) -> ProviderRequest:
    """Build ``GET /charge/{id}/refund``: all at once, without pages."""
    return _get(account, operation, "/charge/{id}/refund", id=reference)


def charge_transactions(account: ProviderAccount, reference: str) -> ProviderRequest:
    """Build ``GET /transaction`` of one charge."""
    query = {"charge": reference, "type": "PAYMENT"}
    return _get(account, "get_charge_payment", "/transaction", query)


def transaction(account: ProviderAccount, e2e_id: str) -> ProviderRequest:
    """Build ``GET /transaction/{id}``, by the end-to-end id."""
    return _get(account, "find_received", "/transaction/{id}", id=e2e_id)


def transactions(
    account: ProviderAccount, window: Window, skip: int, limit: int
) -> ProviderRequest:
    """Build ``GET /transaction``: payments received; ``skip`` and ``limit`` only page it."""
    query = {"type": "PAYMENT", **_page(window, skip, limit)}
    return _get(account, "list_received", "/transaction", query)


def payout(account: ProviderAccount, provider_key: str) -> ProviderRequest:
    """Build ``GET /payment/{id}``, by our key."""
    return _get(account, "find_payout", "/payment/{id}", id=provider_key)


def create_payout(account: ProviderAccount, order: PayoutOrder) -> ProviderRequest:
    """
    Build ``POST /payment``, approved in the same call; our key is the ``correlationID``.

    Raises:
        NeverSendable: No bank has this number.
    """
    document = {
        "correlationID": order.provider_key,
        "value": order.value.centavos,
        "sourceAccountId": account.provider_account,
        "autoApprove": True,
        **destination(order),
    }
    if order.description:
        document["comment"] = order.description
    return paying(_get(account, "create_payout", "/payment"), document, order.provider_key)


def destination(order: PayoutOrder) -> dict[str, object]:
    """Write a payout's destination; a bank is named by its ISPB, never by its COMPE number."""
    to = order.destination
    if isinstance(to, PixDestination):
        return {
            "type": "PIX_KEY",
            "destinationAlias": to.key,
            "destinationAliasType": PAYOUT_KEY_TYPES[to.key_type],
        }
    kind = "BR:CPF" if len(to.tax_number) == _CPF_DIGITS else "BR:CNPJ"
    return {
        "type": "MANUAL",
        "psp": banks.ispb_of(to.bank_number),
        "holder": {"name": to.name, "taxID": {"type": kind, "taxID": to.tax_number}},
        "account": {
            "branch": to.branch,
            "account": to.account,
            "accountType": ACCOUNT_TYPES[to.account_type],
        },
    }


def refund(account: ProviderAccount, provider_key: str) -> ProviderRequest:
    """Build ``GET /refund/{id}``, by our key."""
    return _get(account, "find_refund", "/refund/{id}", id=provider_key)


def refunds(account: ProviderAccount, skip: int, limit: int) -> ProviderRequest:
    """Build ``GET /refund``; the bank has no window for it."""
    query = {"skip": str(skip), "limit": str(min(limit, LARGEST_PAGE))}
    return _get(account, "list_refunds", "/refund", query)


def create_refund(account: ProviderAccount, order: RefundOrder) -> ProviderRequest:
    """
    Build ``POST /refund``; our key is the ``correlationID``.

    Raises:
        NeverSendable: The description is too long.
    """
    document = {
        "transactionEndToEndId": order.payment_e2e_id,
        "correlationID": order.provider_key,
        "value": order.value.centavos,
        "comment": comment_of(order),
    }
    return paying(_get(account, "create_refund", "/refund"), document, order.provider_key)


def comment_of(order: RefundOrder) -> str:
    """
    Write a refund's comment: the description, and the payment that is given back.

    Read back, a refund shows of which payment it is nowhere else.
    """
    text = f"{order.description} {order.payment_e2e_id}".strip()
    if len(text) > LONGEST_COMMENT:
        raise NeverSendable
    return text


def webhooks(account: ProviderAccount, operation: str, url: str = "") -> ProviderRequest:
    """Build ``GET /webhook``: every address, or one of them."""
    return _get(account, operation, "/webhook", {"url": url} if url else _NO_QUERY)


def register_callback(
    account: ProviderAccount, order: CallbackOrder, event: str
) -> ProviderRequest:
    """Build ``POST /webhook``, for one event."""
    webhook = {"name": "pixgate", "event": event, "url": order.url, "isActive": True}
    return sending(_get(account, "register_callback", "/webhook"), {"webhook": webhook})


def remove_callback(account: ProviderAccount, callback_id: str) -> ProviderRequest:
    """Build ``DELETE /webhook/{id}``, by the bank's id."""
    request = _get(account, "remove_callback", "/webhook/{id}", id=callback_id)
    return sending(request, method="DELETE")


def _get(
    account: ProviderAccount,
    operation: str,
    path: str,
    query: Mapping[str, str] = _NO_QUERY,
    **steps: str,
) -> ProviderRequest:
    """Build a read under the account's AppID: raw, without ``Bearer``."""
    headers = {"Authorization": secrets_of(account, WooviSecrets).app_id}
    whose = account.account_id
    return get(operation, _API + path, headers, query, account_id=whose, **steps)


def _page(window: Window, skip: int, limit: int) -> dict[str, str]:
    """Build a page's query; whether the end belongs to it is not stated: see ``paging.within``."""
    start, end = ends(window)
    size = str(min(max(limit, 1), LARGEST_PAGE))
    return {"start": start, "end": end, "skip": str(skip), "limit": size}

"""
The bank's paths, queries and credential, and orders in its words.

Source: the carried Postman collection 4058cc7 and, where it is older than a call or a field,
asaasdev/asaas-api-sdk-java 0641522; the README lists those. Every function raises ``Refused`` for
an identifier that cannot stand in a path, and ``NeverSendable`` for an order that the bank cannot
take.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from typing import Final

from gateway.banks.port.charges import ChargeOrder, Payer
from gateway.banks.port.payout_orders import (
    BankDestination,
    FailureCode,
    PayoutOrder,
    PixDestination,
)
from gateway.banks.port.pix_keys import PixKeyType
from gateway.banks.port.provider_callbacks import CallbackOrder
from gateway.banks.port.providers import ProviderAccount
from gateway.core.money import Money
from provider_adapters.asaas.mapping import ACCOUNT_TYPES, EVENTS, KEY_TYPES
from provider_adapters.asaas.secrets import AsaasSecrets
from provider_adapters.kit import banks, money
from provider_adapters.kit.outcomes import NeverSendable
from provider_adapters.kit.proofs import token_text
from provider_adapters.kit.requests import ProviderRequest, get, paying, sending
from provider_adapters.kit.secrets import secrets_of

LARGEST_PAGE: Final = 100
"""Of every list (docs.asaas.com/docs/listing-and-pagination)."""
PROBE: Final = ProviderRequest(
    operation="probe", method="GET", template="/v3/finance/balance", path="/v3/finance/balance"
)
"""Without a key it touches no account; the bank refuses it in its own shape."""
_PIX: Final = "PIX"
KEY_WORDS: Final = {kind: word for word, kind in KEY_TYPES.items()}
_BRAZILIAN: Final = re.compile(r"\+55(\d{10,11})", re.ASCII)
_ACCOUNT: Final = re.compile(r"(\d+)-?([0-9A-Za-z])", re.ASCII)
_TOKEN: Final = re.compile(r"[!-~]{32,255}")
"""Of callbacks: docs.asaas.com/docs/create-new-webhook-via-api."""
_NO_QUERY: Final[Mapping[str, str]] = {}


def movements(
    account: ProviderAccount, days: tuple[date, date], skip: int, limit: int
) -> ProviderRequest:
    """Build ``GET /v3/financialTransactions`` of the bank's days, newest first."""
    query = {
        "startDate": days[0].isoformat(),
        "finishDate": days[1].isoformat(),
        "order": "desc",
        **page(skip, limit),
    }
    return keyed(account, "list_statement", "/v3/financialTransactions", query)


def pix_charges(account: ProviderAccount, days: tuple[date, date], skip: int) -> ProviderRequest:
    """Build ``GET /v3/payments`` of payments by Pix on the bank's days."""
    query = {
        "billingType": _PIX,
        "paymentDate%5Bge%5D": days[0].isoformat(),
        "paymentDate%5Ble%5D": days[1].isoformat(),
        **page(skip),
    }
    return keyed(account, "list_statement", "/v3/payments", query)


def charges(account: ProviderAccount, operation: str, reference: str) -> ProviderRequest:
    """Build ``GET /v3/payments`` of one reference; the rows are to be compared again."""
    query = {"externalReference": reference, **page(0)}
    return keyed(account, operation, "/v3/payments", query)


def customers(account: ProviderAccount, tax_number: str) -> ProviderRequest:
    """Build ``GET /v3/customers`` of one tax number."""
    query = {"cpfCnpj": tax_number, **page(0)}
    return keyed(account, "create_charge", "/v3/customers", query)


def create_customer(account: ProviderAccount, payer: Payer) -> ProviderRequest:
    """Build ``POST /v3/customers``; the bank sends its customers no messages of its own."""
    document = {"name": payer.name, "cpfCnpj": payer.tax_number, "notificationDisabled": True}
    return sending(keyed(account, "create_charge", "/v3/customers"), document)


def create_charge(
    account: ProviderAccount, order: ChargeOrder, value: Money, customer_id: str, due: date
) -> ProviderRequest:
    """Build ``POST /v3/payments``."""
    document: dict[str, object] = {
        "customer": customer_id,
        "billingType": _PIX,
        "value": money.as_number(value),
        "dueDate": due.isoformat(),
        "externalReference": order.reference,
    }
    if order.description:
        document["description"] = order.description
    return sending(keyed(account, "create_charge", "/v3/payments"), document)


def received(account: ProviderAccount, e2e_id: str) -> ProviderRequest:
    """Build ``GET /v3/pix/transactions`` of one end-to-end id; the rows are compared again."""
    query = {"endToEndIdentifier": e2e_id, "type": "CREDIT", **page(0)}
    return keyed(account, "find_received", "/v3/pix/transactions", query)


def create_transfer(account: ProviderAccount, order: PayoutOrder) -> ProviderRequest:
    """
    Build ``POST /v3/transfers``; the provider key is the reference, which makes nothing unique.

    No date is sent: the bank then pays at once.
    """
    document: dict[str, object] = {
        "value": money.as_number(order.value),
        "operationType": _PIX,
        "externalReference": order.provider_key,
        **_destination(order),
    }
    if order.description:
        document["description"] = order.description
    return paying(keyed(account, "create_payout", "/v3/transfers"), document, order.provider_key)


def register_webhook(account: ProviderAccount, order: CallbackOrder, email: str) -> ProviderRequest:
    """Build ``POST /v3/webhooks``; the bank writes to ``email`` when it cannot deliver."""
    document: dict[str, object] = {
        "name": "pixgate",
        "url": order.url,
        "enabled": True,
        "interrupted": False,
        "apiVersion": 3,
        "authToken": _token(order.secret),
        "sendType": "NON_SEQUENTIALLY",  # one that cannot be taken does not stop the others
        "events": sorted(EVENTS),
    }
    if email:
        document["email"] = email
    return sending(keyed(account, "register_callback", "/v3/webhooks"), document)


def bank_phone(key: str) -> str:
    """
    Write a phone key as the bank takes it: area code and number, without the country.

    Raises:
        NeverSendable: It is not of Brazil.
    """
    found = _BRAZILIAN.fullmatch(key)
    if found is None:
        raise NeverSendable
    return found[1]


def _destination(order: PayoutOrder) -> dict[str, object]:
    to = order.destination
    if isinstance(to, PixDestination):
        key = bank_phone(to.key) if to.key_type is PixKeyType.PHONE else to.key
        return {"pixAddressKey": key, "pixAddressKeyType": KEY_WORDS[to.key_type]}
    return {"bankAccount": _bank_account(to)}


def _bank_account(to: BankDestination) -> dict[str, object]:
    """Write a bank account; raises ``NeverSendable`` for one that the bank has no words for."""
    bank = banks.by_compe(to.bank_number) or banks.by_ispb(to.bank_number)
    split = _ACCOUNT.fullmatch(to.account)
    if bank is None or split is None:
        raise NeverSendable(FailureCode.ACCOUNT_INVALID)
    kind = ACCOUNT_TYPES.get(to.account_type)
    if kind is None or not to.name:
        raise NeverSendable
    return {
        "bank": {"code": bank.compe},
        "ownerName": to.name,
        "cpfCnpj": to.tax_number,
        "agency": to.branch,
        "account": split[1],
        "accountDigit": split[2],
        "bankAccountType": kind,
    }


def _token(secret: bytes) -> str:
    """Write a secret as the bank keeps it; raises ``NeverSendable`` for one it does not take."""
    token = token_text(secret)
    if not _TOKEN.fullmatch(token):
        raise NeverSendable
    return token


def page(skip: int, limit: int = LARGEST_PAGE) -> dict[str, str]:
    """Build a page's query."""
    return {"offset": str(skip), "limit": str(min(max(limit, 1), LARGEST_PAGE))}


def keyed(
    account: ProviderAccount,
    operation: str,
    template: str,
    query: Mapping[str, str] = _NO_QUERY,
    **steps: str,
) -> ProviderRequest:
    """Build a read with the account's key."""
    headers = {"access_token": secrets_of(account, AsaasSecrets).api_key}
    return get(operation, template, headers, query, account_id=account.account_id, **steps)

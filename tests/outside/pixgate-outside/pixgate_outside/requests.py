"""The bank's paths and queries, and orders in its words. TODO: the bank's."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from gateway.banks.port.payout_orders import FailureCode, PayoutOrder, PixDestination
from gateway.banks.port.providers import ProviderAccount
from gateway.core.windows import Window
from provider_adapters.kit import banks
from provider_adapters.kit.outcomes import NeverSendable
from provider_adapters.kit.requests import ProviderRequest, get, paying

from pixgate_outside import amounts, pages
from pixgate_outside.mapping import ACCOUNT_TYPES, KEY_TYPES

PROBE: Final = get("probe", "/v1/status", {})
"""Touches no account; the bank answers it, if only with an error in its own shape."""

_KEY_WORDS: Final = {kind: word for word, kind in KEY_TYPES.items()}


def balance(account: ProviderAccount) -> ProviderRequest:
    """Build ``GET …/balance``."""
    return _below(account, "get_balance", "/balance")


def statement(
    account: ProviderAccount, window: Window, cursor: str | None, limit: int
) -> ProviderRequest:
    """Build ``GET …/statement``; the bank's window excludes its end, as ours does."""
    query = {"from": _instant(window.start), "to": _instant(window.end)}
    return _below(account, "list_statement", "/statement", query | pages.query(cursor, limit))


def keys(account: ProviderAccount, operation: str) -> ProviderRequest:
    """Build ``GET …/keys``: every key at once, without pages."""
    return _below(account, operation, "/keys")


def charge(account: ProviderAccount, reference: str) -> ProviderRequest:
    """Build ``GET …/charges/{reference}``."""
    return _below(account, "get_charge", "/charges/{reference}", reference=reference)


def charge_payment(account: ProviderAccount, reference: str) -> ProviderRequest:
    """Build ``GET …/charges/{reference}/payment``."""
    path = "/charges/{reference}/payment"
    return _below(account, "get_charge_payment", path, reference=reference)


def payout(account: ProviderAccount, provider_key: str, provider_id: str) -> ProviderRequest:
    """Build ``GET …/payouts/{id}``, or ``…/payouts/by-key/{key}`` without the bank's id."""
    path = "/payouts/{id}" if provider_id else "/payouts/by-key/{id}"
    return _below(account, "find_payout", path, id=provider_id or provider_key)


def create_payout(account: ProviderAccount, order: PayoutOrder) -> ProviderRequest:
    """
    Build ``POST …/payouts``; our key is the idempotency key.

    Raises:
        NeverSendable: The bank can pay to such a destination on no day.
    """
    document = {
        "amount": amounts.write(order.value),
        "description": order.description,
        "destination": destination(order),
    }
    request = _below(account, "create_payout", "/payouts")
    return paying(request, document, order.provider_key, header="Idempotency-Key")


def destination(order: PayoutOrder) -> dict[str, str]:
    """
    Write a payout's destination, without empty fields.

    Raises:
        NeverSendable: No bank has this number.
    """
    to = order.destination
    holder = {"name": to.name, "tax_number": to.tax_number}
    if isinstance(to, PixDestination):
        place = {"key_type": _KEY_WORDS[to.key_type], "key": to.key}
    else:
        place = {
            "bank": _compe(to.bank_number),
            "branch": to.branch,
            "account": to.account,
            "account_type": ACCOUNT_TYPES[to.account_type],
        }
    return {name: text for name, text in (place | holder).items() if text}


def _compe(number: str) -> str:
    """Write a bank's number as three digits, whichever of its two was given."""
    found = banks.by_compe(number) or banks.by_ispb(number)
    if found is None or not found.compe:
        raise NeverSendable(FailureCode.ACCOUNT_INVALID)
    return found.compe


def _instant(at: datetime) -> str:
    """Format a UTC instant as the bank reads it: RFC 3339 with milliseconds."""
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _below(
    account: ProviderAccount,
    operation: str,
    path: str,
    query: dict[str, str] | None = None,
    **steps: str,
) -> ProviderRequest:
    """Build a GET below the account's path; ``steps`` fill the braces of ``path``."""
    at, whose = account.provider_account, account.account_id
    template = "/v1/accounts/{account}" + path
    return get(operation, template, {}, query or {}, account_id=whose, account=at, **steps)

"""
The bank's paths, queries and documents, and the signature that every call carries.

Functions raise ``Refused`` for an id that cannot be in a path, and ``NeverSendable`` for what the
bank can take on no day.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Annotated, Final
from zoneinfo import ZoneInfo

import msgspec

from gateway.banks.port.charges import ChargeOrder, Payer
from gateway.banks.port.payout_orders import (
    BankDestination,
    FailureCode,
    PayoutOrder,
    PixDestination,
)
from gateway.banks.port.provider_callbacks import CallbackOrder
from gateway.banks.port.providers import CredentialsRefused, ProviderAccount, Reason
from gateway.core.windows import Window, day_after, day_before
from provider_adapters.kit import banks
from provider_adapters.kit.outcomes import NeverSendable
from provider_adapters.kit.paging import days
from provider_adapters.kit.requests import ProviderRequest, get, paying, sending
from provider_adapters.kit.secrets import SigningKey, secrets_of
from provider_adapters.kit.signing import EcdsaSigner
from provider_adapters.starkbank.documents import DirectoryEntry
from provider_adapters.starkbank.mapping import ACCOUNT_TYPES, OUR_TAG, SUBSCRIPTIONS, ZONE

LARGEST_PAGE: Final = 100
"""Items in one page at most. Source: SDK, every ``page``."""
REFERENCE_TAG: Final = "reference:"
"""Begins the tag that holds the partner's reference of a charge, in hexadecimal digits."""

ENCRYPTED: Final = frozenset({"branchCode", "accountNumber"})
"""What of a place the directory encrypts: it may come back in another form."""
_LONGEST_REFERENCE: Final = 64
"""Bytes of a reference that is tagged: nothing tells how long a tag may be, UUIDs are shorter."""
_ZONE: Final = ZoneInfo(ZONE)
_NOBODY: Final[Mapping[str, str]] = {}
_ISPB_LENGTH: Final = 8
_PERSON: Final = re.compile(r"(\d{3})(\d{3})(\d{3})(\d{2})", re.ASCII)
_COMPANY: Final = re.compile(r"(\d{2})(\d{3})(\d{3})(\d{4})(\d{2})", re.ASCII)


class Secrets(msgspec.Struct, frozen=True, kw_only=True):
    """
    An account's secrets: its project id, and its signing key.

    Attributes:
        access_id: ``project/5656565656565656``, or ``organization/…``: then the account's name at
            the bank is the workspace.
    """

    access_id: Annotated[str, msgspec.Meta(pattern=r"^(project|organization)/[0-9]{1,20}$")]
    private_key: SigningKey


PUBLIC_KEYS: Final = get("callback_keys", "/v2/public-key", _NOBODY, {"limit": "1"})
PROBE: Final = get("probe", "/v2/public-key", _NOBODY, {"limit": "1"})
"""Touches no account; nobody's signature is asked for, and a refusal proves as much."""


def signed(request: ProviderRequest, account: ProviderAccount, now: datetime) -> ProviderRequest:
    """
    Sign a complete request: who, when and the body; neither method nor path.

    Raises:
        CredentialsRefused: The account has no secrets of this bank, or a key that is none.
    """
    secrets = secrets_of(account, Secrets)
    who = secrets.access_id
    if who.startswith("organization/"):
        who += f"/workspace/{account.provider_account}"
    at = str(int(now.timestamp()))
    try:
        signer = _signer(secrets.private_key)
    except ValueError as problem:
        raise CredentialsRefused(Reason.CREDENTIALS_UNFIT) from problem
    signature = signer.sign(f"{who}:{at}:".encode() + request.body)
    headers = {"Access-Id": who, "Access-Time": at, "Access-Signature": signature}
    return msgspec.structs.replace(request, headers=headers, account=account.account_id)


# The same accounts come again and again; reading a key takes a third of the time of a signature.
@lru_cache(maxsize=256)
def _signer(private_key: str) -> EcdsaSigner:
    return EcdsaSigner(private_key)


def look_up_key(key: str) -> ProviderRequest:
    """Build ``GET /v2/dict-key/{key}``; tax numbers with their punctuation, as documented."""
    return unsigned("look_up_key", "/v2/dict-key/{key}", key=punctuated(key))


def tagged(operation: str, resource: str, tag: str) -> ProviderRequest:
    """Build a search by one tag; two are enough to see that it is not the only one."""
    return unsigned(operation, f"/v2/{resource}", {"tags": tag, "limit": "2"})


def invoice_payment(operation: str, invoice_id: str) -> ProviderRequest:
    """Build ``GET /v2/invoice/{id}/payment``."""
    return unsigned(operation, "/v2/invoice/{id}/payment", id=invoice_id)


def create_invoice(order: ChargeOrder, payer: Payer, key: str, now: datetime) -> ProviderRequest:
    """
    Build ``POST /v2/invoice``.

    Past its due date an invoice can be paid with a fine until it expires. Ours expires a second
    after that, and has no fine. Without an expiry the bank's own terms hold.
    """
    document: dict[str, object] = {
        "amount": 0 if order.value is None else order.value.centavos,
        "name": payer.name,
        "taxId": payer.tax_number,
        "fine": 0,
        "interest": 0,
        "tags": charge_tags(order.reference, key),
    }
    if order.expires_in is not None:
        due = now + timedelta(seconds=order.expires_in - 1)
        document |= {"due": due.isoformat(timespec="microseconds"), "expiration": 1}
    if order.description:
        document["descriptions"] = [{"key": "description", "value": order.description}]
    return sending(unsigned("create_charge", "/v2/invoice"), {"invoices": [document]})


def create_brcode(order: ChargeOrder, key: str) -> ProviderRequest:
    """Build ``POST /v2/dynamic-brcode``; an amount of 0 is one that the payer chooses."""
    document: dict[str, object] = {
        "amount": 0 if order.value is None else order.value.centavos,
        "tags": charge_tags(order.reference, key),
    }
    if order.expires_in is not None:
        document["expiration"] = order.expires_in
    if order.description:
        document["displayDescription"] = order.description
    return sending(unsigned("create_charge", "/v2/dynamic-brcode"), {"brcodes": [document]})


def create_payout(order: PayoutOrder, place: Mapping[str, str]) -> ProviderRequest:
    """Build ``POST /v2/transfer`` to a place at a bank; our key is external id and tag."""
    document: dict[str, object] = {
        "amount": order.value.centavos,
        **place,
        "externalId": order.provider_key,
        "tags": [OUR_TAG + order.provider_key],
    }
    if order.description:
        document["description"] = order.description
    request = unsigned("create_payout", "/v2/transfer")
    return paying(request, {"transfers": [document]}, order.provider_key)


def place_of_account(to: BankDestination) -> dict[str, str]:
    """
    Write an account as a transfer names it; eight digits of a bank mean Pix, three mean TED.

    Raises:
        NeverSendable: No bank has this number.
    """
    ispb = to.bank_number
    if len(ispb) != _ISPB_LENGTH:
        bank = banks.by_compe(to.bank_number)
        if bank is None:
            raise NeverSendable(FailureCode.ACCOUNT_INVALID)
        ispb = bank.ispb
    return {
        "name": to.name,
        "taxId": to.tax_number,
        "bankCode": ispb,
        "branchCode": to.branch,
        "accountNumber": _with_dash(to.account),
        "accountType": ACCOUNT_TYPES[to.account_type],
    }


def place_of_key(to: PixDestination, entry: DirectoryEntry) -> dict[str, str]:
    """
    Write where a key leads; branch and account pass through as the directory encrypted them.

    Raises:
        NeverSendable: The key's owner is not the ordered recipient.
    """
    if not may_be(to.tax_number, entry.tax_id):
        raise NeverSendable(FailureCode.OWNER_MISMATCH)
    place = {
        "name": entry.name or to.name,
        "taxId": to.tax_number,
        "bankCode": entry.ispb,
        "branchCode": entry.branch_code,
        "accountNumber": entry.account_number,
    }
    kind = entry.account_type or ""
    return place | {"accountType": kind} if kind in ACCOUNT_TYPES.values() else place


def may_be(tax_number: str, shown: str) -> bool:
    """
    Return whether a tax number is compatible with the shown one, digit by digit.

    A masked number identifies no one; an unreadable one proves nothing either way.
    """
    visible = re.sub(r"[^0-9A-Za-z*]", "", shown)
    if len(visible) != len(tax_number):
        return set(visible) <= {"*"} or "*" in visible
    return all(seen in {mine, "*"} for mine, seen in zip(tax_number, visible, strict=True))


def register_callback(order: CallbackOrder) -> ProviderRequest:
    """Build ``POST /v2/webhook``; the bank signs with its own key, so no secret goes out."""
    document = {"url": order.url, "subscriptions": sorted(SUBSCRIPTIONS)}
    return sending(unsigned("register_callback", "/v2/webhook"), document)


def charge_tags(reference: str, key: str) -> Sequence[str]:
    """Tag a charge: by our key always, and by the partner's reference unless it is a long one."""
    raw = reference.encode("utf-8", "surrogatepass")
    more = (REFERENCE_TAG + raw.hex(),) if len(raw) <= _LONGEST_REFERENCE else ()
    return (OUR_TAG + key, *more)


def punctuated(key: str) -> str:
    """Write a tax number with its punctuation; any other key stays as it is."""
    person, company = _PERSON.fullmatch(key), _COMPANY.fullmatch(key)
    if person:
        return "{}.{}.{}-{}".format(*person.groups())
    return "{}.{}.{}/{}-{}".format(*company.groups()) if company else key


def _with_dash(account: str) -> str:
    """Set the check digit of an account apart, as the bank wants it; one digit alone is whole."""
    if "-" in account or not account[1:]:
        return account
    return f"{account[:-1]}-{account[-1]}"


def page(window: Window, cursor: str | None, limit: int) -> dict[str, str]:
    """
    Build a page's query.

    The bank takes days, and does not say whether it includes them or in which zone they
    begin: a day more is requested at both ends, and items outside are left out later.
    """
    first, last = days(window, _ZONE)
    days_of = {"after": day_before(first).isoformat(), "before": day_after(last).isoformat()}
    return {**days_of, **after(cursor, min(max(limit, 1), LARGEST_PAGE))}


def after(cursor: str | None, limit: int = LARGEST_PAGE) -> dict[str, str]:
    """Build the query of a page of a list without days."""
    query = {"limit": str(limit)}
    return query if cursor is None else {**query, "cursor": cursor}


def unsigned(
    operation: str, template: str, query: Mapping[str, str] = _NOBODY, **steps: str
) -> ProviderRequest:
    """Build an unsigned read."""
    return get(operation, template, _NOBODY, query, **steps)

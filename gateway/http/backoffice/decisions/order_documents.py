"""What an order of another user says, in the fields of its kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, NotRequired, TypedDict

from msgspec import Meta

from gateway.domain.backoffice.access_orders import (
    BackOfficeOrder,
    BankChange,
    CompaniesGrant,
    CredentialChange,
    CredentialIssue,
    CredentialRotation,
    Enabling,
    FactorReset,
    Invitation,
    LimitsChange,
    PersonChange,
    RoleGrant,
)
from gateway.domain.backoffice.money_orders import Order
from gateway.domain.bank.payout_orders import Destination, NamedOwner, hidden_destination
from gateway.domain.bank.refunds import RefundRequest
from gateway.domain.payouts.payouts import PayoutRequest
from gateway.http.rendering import Amount, instant
from gateway.http.resources.documents import Instant


class NamedOwnerDocument(TypedDict):
    """
    The owner of a key, as the bank named them when the payout was ordered.

    ``differs``: the tax number that was typed is another one; ``reason`` is why it was ordered
    all the same.
    """

    name: Annotated[str, Meta(examples=["Maria Silva"])]
    tax_number: Annotated[str, Meta(examples=["***.982.247-**"])]
    differs: bool
    reason: str


class OrderDocument(TypedDict):
    """
    What was ordered, in the fields of its kind; never a secret.

    Of money: where it is to go, or which payment is given back. A person's tax number and key are
    whole for whoever may decide on an order that waits, and hidden for everybody else; ``owner`` is
    absent where no bank was asked. Of a credential: what
    it may do, and the only account it reaches; none for every account of its company. Of a
    person: what they are to be. ``roles`` are those that are given; where companies or
    enabling are ordered, those that the person has. ``companies`` are all that the person
    sees then, an empty list every one; ``companies_before`` are those until then. Of an account's
    bank: where the account is to stand, and where it stood; an empty ``provider`` is no bank.
    ``with_credentials`` says whether credentials came with the order.
    """

    method: NotRequired[Literal["pix", "bank_account", "refund"]]
    date: NotRequired[str]
    description: NotRequired[str]
    destination: NotRequired[Mapping[str, str]]
    owner: NotRequired[NamedOwnerDocument]
    payment: NotRequired[str]
    client_id: NotRequired[str]
    name: NotRequired[str]
    account_id: NotRequired[str]
    permissions: NotRequired[list[str]]
    expires_at: NotRequired[Instant]
    limit_per_payout: NotRequired[Amount]
    limit_per_day: NotRequired[Amount]
    overlap_s: NotRequired[int]
    user_id: NotRequired[str]
    email: NotRequired[str]
    roles: NotRequired[list[str]]
    companies: NotRequired[list[str]]
    companies_before: NotRequired[list[str]]
    provider: NotRequired[str]
    provider_account: NotRequired[str]
    provider_before: NotRequired[str]
    provider_account_before: NotRequired[str]
    with_credentials: NotRequired[bool]
    certificate_ends_at: NotRequired[Instant]


def ordered(found: Order | BackOfficeOrder, *, whole: bool = False) -> OrderDocument:
    """Show what was ordered; ``whole`` shows a person's tax number and key as they were typed."""
    match found:
        case RefundRequest():
            return {
                "method": "refund",
                "date": "",
                "description": found.description,
                "destination": {},
                "payment": found.payment,
            }
        case PayoutRequest():
            sent = found.destination_sent
            texts = sent if whole else hidden_destination(sent)
            shown: OrderDocument = {
                "method": found.method.value,
                "date": found.date.isoformat(),
                "description": found.description,
                "destination": {name: text for name, text in texts.items() if text},
                "payment": "",
            }
            if found.owner is not None:
                shown["owner"] = owner(found.owner, found.destination)
            return shown
        case Invitation() | RoleGrant() | CompaniesGrant() | Enabling() | FactorReset():
            return _about_person(found)
        case BankChange():
            return {
                "account_id": found.account_id,
                "provider": found.provider,
                "provider_account": found.provider_account,
                "provider_before": found.provider_before,
                "provider_account_before": found.provider_account_before,
                "with_credentials": bool(found.sealed_credentials),
                "certificate_ends_at": instant(found.certificate_ends_at),
            }
        case _:
            return _about_credential(found)


def owner(found: NamedOwner, destination: Destination) -> NamedOwnerDocument:
    """Show who owns the key of a payout."""
    return {
        "name": found.name,
        "tax_number": found.tax_number,
        "differs": found.differs(destination),
        "reason": found.reason,
    }


def _about_credential(found: CredentialChange) -> OrderDocument:
    match found:
        case CredentialRotation():
            return {"client_id": found.client_id, "overlap_s": found.overlap_s}
        case CredentialIssue():
            shown: OrderDocument = {
                "name": found.name,
                "permissions": found.permissions,
                "expires_at": instant(found.expires_at),
            }
            if found.account_id:
                shown["account_id"] = found.account_id
        case LimitsChange():
            shown = {"client_id": found.client_id}
    if found.limits.per_payout is not None:
        shown["limit_per_payout"] = found.limits.per_payout
    if found.limits.per_day is not None:
        shown["limit_per_day"] = found.limits.per_day
    return shown


def _about_person(found: PersonChange) -> OrderDocument:
    if isinstance(found, Invitation):
        shown: OrderDocument = {"email": found.email, "name": found.name}
    else:
        shown = {"user_id": found.user_id, "email": found.email}
    if not isinstance(found, FactorReset):
        shown["roles"] = [each.value for each in found.roles]
        if found.companies is not None:
            shown["companies"] = found.companies
    if isinstance(found, CompaniesGrant):
        shown["companies_before"] = found.companies_before
    return shown

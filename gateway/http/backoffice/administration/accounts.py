"""Accounts as records: created, switched, and stood at a bank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, TypedDict

import msgspec

from gateway.domain.accounts.accounts import Account, BankCoordinates
from gateway.domain.identity.rights import Area
from gateway.domain.kernel import errors
from gateway.domain.requests.versions import version_of_account
from gateway.http.backoffice import calls
from gateway.http.backoffice.callers import Office, Staff
from gateway.http.common import STORE_FAILS
from gateway.http.json import instant
from gateway.http.resources.documents import Instant
from gateway.http.route import Row, VersionedAnswer, route
from gateway.operations.accounts.accounts import AccountOrder, AccountUpdate, ProviderChoice
from gateway.operations.backoffice.admin_services import AdminServices
from gateway.operations.kernel.audit_context import RuleViolation
from policies.validation.backoffice import inputs
from policies.validation.fields import Name, TaxNumber, Text

Secret = Annotated[
    str, msgspec.Meta(max_length=32 * 1024, extra_json_schema={"format": "password"})
]


def _form(pattern: str) -> msgspec.Meta:
    """Describe a text by its pattern; the register looks at it."""
    return msgspec.Meta(extra_json_schema={"pattern": pattern})


class CoordinatesBody(msgspec.Struct):
    """Where an account is held; what is absent stays as it is."""

    bank_number: Annotated[Text, _form("^([0-9]{3})?$")] = ""
    ispb: Annotated[Text, _form("^([0-9]{8})?$")] = ""
    branch: Annotated[Text, _form("^([0-9]{1,4})?$")] = ""
    account: Annotated[Text, _form("^([0-9]{1,20}(-[0-9Xx])?)?$")] = ""

    def coordinates(self) -> BankCoordinates:
        """Return them."""
        return BankCoordinates(
            bank_number=self.bank_number, ispb=self.ispb, branch=self.branch, account=self.account
        )


class AccountBody(CoordinatesBody, kw_only=True):
    """An account to be; a new one may not act before it is active and verified."""

    company_id: Text
    name: Name
    tax_number: TaxNumber
    id: Text = ""
    active: bool = False
    verified: bool = False


class AccountChange(CoordinatesBody, kw_only=True):
    """What is to change; what is absent stays as it is."""

    name: Name | None = None
    tax_number: TaxNumber | None = None
    active: bool | None = None
    verified: bool | None = None


class ProviderBody(msgspec.Struct):
    """
    The bank behind an account; an empty ``provider`` for none.

    Always whole. Without credentials the stored ones stay, as long as provider and
    account stay the same; else they are asked for, and empty says that there are none.
    They are encrypted before they are stored, and never shown again.
    """

    provider: Text
    provider_account: Text = ""
    credentials: Secret | None = None


class AccountRegistered(TypedDict):
    """An account as registered; whether it keeps credentials is told, they are not."""

    id: str
    company_id: str
    name: str
    tax_number: str
    active: bool
    verified: bool
    provider: str
    provider_account: str
    has_credentials: bool
    bank_number: str
    ispb: str
    branch: str
    account: str
    created_at: Instant


@dataclass(frozen=True, slots=True)
class AccountActs:
    """What people do with the register of accounts."""

    registers: AdminServices

    async def create(self, who: Staff, wanted: AccountBody) -> Account:
        """Add one to a company that is shown to them."""
        order = AccountOrder(
            company_id=wanted.company_id,
            name=wanted.name,
            tax_number=wanted.tax_number,
            id=wanted.id,
            active=wanted.active,
            verified=wanted.verified,
            coordinates=wanted.coordinates(),
        )
        with calls.explained():
            if not who.person.sees(wanted.company_id.lower()):
                message = f"there is no company {wanted.company_id}"
                raise RuleViolation(message, "company_unknown", field="company_id")
            return await self.registers.by(who.acting).accounts.create(order)

    async def change(self, who: Office, wanted: AccountChange) -> Account:
        """Change one, or switch it on or off."""
        update = AccountUpdate(
            name=wanted.name,
            tax_number=wanted.tax_number,
            active=wanted.active,
            verified=wanted.verified,
            coordinates=wanted.coordinates(),
        )
        return await self._update(who, update)

    async def attach(self, who: Office, wanted: ProviderBody) -> Account:
        """Stand one at a bank."""
        choice = ProviderChoice(
            name=wanted.provider, account=wanted.provider_account, credentials=wanted.credentials
        )
        return await self._update(who, AccountUpdate(provider=choice))

    async def _update(self, who: Office, update: AccountUpdate) -> Account:
        with calls.explained():
            return await self.registers.by(who.acting).accounts.update(
                who.account.id, update, who.expected
            )


def account_record_rows(does: AccountActs) -> Sequence[Row[Staff]]:
    """Return the rows."""
    return (
        route(
            "POST",
            "/accounts",
            name="backoffice.account_create",
            summary="Add an account to a company.",
            needs=calls.writing(Area.ACCOUNT),
            limits=calls.WRITE,
            takes=inputs.body(AccountBody),
            runs=does.create,
            shows=_account,
            fails=STORE_FAILS,
            raises=calls.TAKEN,
            status=calls.CREATED,
        ),
    )


def account_change_rows(does: AccountActs) -> Sequence[Row[Office]]:
    """Return the rows on one account, in whatever state it is."""
    return (
        route(
            "PATCH",
            "/accounts/{account_id}",
            name="backoffice.account_change",
            summary="Change an account: activate or deactivate it, note that it is verified.",
            needs=calls.writing(Area.ACCOUNT),
            limits=calls.WRITE,
            takes=inputs.body(AccountChange),
            runs=does.change,
            shows=_versioned,
            fails=STORE_FAILS,
            raises=(*calls.REFUSED, errors.VERSION_CHANGED),
        ),
        route(
            "PUT",
            "/accounts/{account_id}/provider",
            name="backoffice.account_provider",
            summary="Stand an account at a bank, with the credentials it wants.",
            needs=calls.writing(Area.PROVIDER),
            limits=calls.WRITE,
            takes=inputs.body(ProviderBody),
            runs=does.attach,
            shows=_versioned,
            fails=STORE_FAILS,
            raises=(*calls.TAKEN, errors.VERSION_CHANGED),
        ),
    )


def _account(found: Account, _who: Staff | Office) -> AccountRegistered:
    at = found.coordinates
    return {
        "id": found.id,
        "company_id": found.company_id,
        "name": found.name,
        "tax_number": found.tax_number,
        "active": found.active,
        "verified": found.verified,
        "provider": found.provider,
        "provider_account": found.provider_account,
        "has_credentials": bool(found.sealed_credentials),
        "bank_number": at.bank_number,
        "ispb": at.ispb,
        "branch": at.branch,
        "account": at.account,
        "created_at": instant(found.created_at),
    }


def _versioned(found: Account, who: Office) -> VersionedAnswer[AccountRegistered]:
    return calls.versioned(_account(found, who), version_of_account(found))

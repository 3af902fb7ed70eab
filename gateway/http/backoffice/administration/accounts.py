"""Accounts: listed, created, changed, switched on and off, and connected to a bank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, TypedDict

import msgspec
from aiohttp import hdrs

from gateway.approvals.model import Approval, ApprovalDocument
from gateway.domain.accounts.accounts import Account, BankCoordinates
from gateway.domain.backoffice.lists import OwnedAccount
from gateway.domain.identity.rights import Area
from gateway.domain.kernel import errors
from gateway.domain.requests.schemas import Name, TaxNumber, Text
from gateway.domain.requests.versions import version_of_account
from gateway.http.backoffice.callers import (
    REFUSED,
    TAKEN,
    AccountCaller,
    BackOfficeCaller,
    explained,
    on_account,
)
from gateway.http.backoffice.cells import (
    CREATED,
    NO_BODY,
    WAITS,
    WITH_BODY,
    BackOfficeOperations,
    reading,
    versioned,
    waiting,
    writing,
)
from gateway.http.common import STORE_FAILS
from gateway.http.rendering import instant
from gateway.http.resources import represent as resources
from gateway.http.resources.documents import (
    Instant,
    Meter,
)
from gateway.http.route import Answer, Row, VersionedAnswer, route
from gateway.operations.accounts.accounts import AccountOrder, AccountUpdate, ProviderChoice
from gateway.operations.backoffice.access_orders import BankOrders
from gateway.operations.backoffice.scoped_records import (
    AccountSearch,
    AdminServices,
    VisibleAccounts,
)
from gateway.operations.bank.pages import Listed
from policies.validation.backoffice.searches import ACCOUNTS, AccountsAsked
from policies.validation.bodies import body
from policies.validation.inputs import NOTHING


class OwnerDocument(TypedDict):
    """The company that owns an account."""

    id: str
    name: str


class AccountRecordDocument(TypedDict):
    """An account as registered, with where it is held."""

    id: str
    company: OwnerDocument
    name: str
    tax_number: str
    active: bool
    verified: bool
    provider: str
    provider_account: str
    has_credentials: bool
    certificate_ends_at: Instant
    bank_number: str
    ispb: str
    branch: str
    account: str
    created_at: Instant


class AccountRecordList(TypedDict):
    """A page of accounts, oldest first."""

    data: list[AccountRecordDocument]
    meta: Meter


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
    """A new account; it cannot be used before it is active and verified."""

    company_id: Text
    name: Name
    tax_number: TaxNumber
    id: Text = ""
    active: bool = False
    verified: bool = False


class AccountChange(CoordinatesBody, kw_only=True, forbid_unknown_fields=True):
    """What is to change; what is absent stays as it is."""

    name: Name | None = None
    tax_number: TaxNumber | None = None
    active: bool | None = None
    verified: bool | None = None


class ProviderBody(msgspec.Struct):
    """
    The bank behind an account; an empty ``provider`` for none.

    Always whole. Without credentials the stored ones stay, as long as provider and
    account stay the same; otherwise they are required; an empty text means that there are none.
    A bank that asks for one secret takes a text; one that asks for several takes an object,
    with the fields that its adapter names, or the same object as a text. They must be whole:
    a certificate needs its key. They are encrypted before they are stored, also in an order that
    waits, and never shown again; ``certificate_ends_at`` says when the certificate among them
    expires.
    """

    provider: Text
    provider_account: Text = ""
    credentials: Secret | dict[str, Secret] | None = None


class AccountRegistered(TypedDict):
    """An account as registered; it says whether credentials are stored, never which."""

    id: str
    company_id: str
    name: str
    tax_number: str
    active: bool
    verified: bool
    provider: str
    provider_account: str
    has_credentials: bool
    certificate_ends_at: Instant
    bank_number: str
    ispb: str
    branch: str
    account: str
    created_at: Instant


@dataclass(frozen=True, slots=True)
class AccountActs:
    """Turns bodies into orders for the register of accounts."""

    services: AdminServices
    banks: BankOrders

    async def create(self, who: BackOfficeCaller, wanted: AccountBody) -> Account:
        """Add one to a company in scope."""
        order = AccountOrder(
            company_id=wanted.company_id,
            name=wanted.name,
            tax_number=wanted.tax_number,
            id=wanted.id,
            active=wanted.active,
            verified=wanted.verified,
            coordinates=wanted.coordinates(),
        )
        with explained():
            services = self.services.by(who.acting, who.scope)
            services.visible.require_company(wanted.company_id)
            return await services.accounts.create(order)

    async def change(self, who: AccountCaller, wanted: AccountChange) -> Account:
        """Change one, activate it or deactivate it."""
        update = AccountUpdate(
            name=wanted.name,
            tax_number=wanted.tax_number,
            active=wanted.active,
            verified=wanted.verified,
            coordinates=wanted.coordinates(),
        )
        with explained():
            services = self.services.by(who.acting, who.scope)
            return await services.accounts.update(who.account.id, update, who.expected)

    async def attach(self, who: AccountCaller, wanted: ProviderBody) -> Account | Approval:
        """Connect one to a bank, or let that wait where it has one."""
        choice = ProviderChoice(
            name=wanted.provider, account=wanted.provider_account, credentials=wanted.credentials
        )
        with explained():
            return await self.banks.attach(who.person, who.account.id, choice, who.expected)


class _Listing:
    """Lists the accounts in the caller's scope."""

    def __init__(self, accounts: VisibleAccounts) -> None:
        self._accounts = accounts

    async def search(self, who: BackOfficeCaller, asked: AccountsAsked) -> Listed[OwnedAccount]:
        """Return a page."""
        wanted = AccountSearch(asked.paging, asked.company_id)
        return await self._accounts.search(who.scope, wanted)


def account_list_rows(does: BackOfficeOperations) -> Sequence[Row[BackOfficeCaller]]:
    """Return the row that lists accounts."""
    return (
        route(
            "GET",
            "/accounts",
            name="backoffice.accounts",
            summary="List the accounts you may see.",
            needs=reading(Area.ACCOUNT),
            limits=NO_BODY,
            takes=ACCOUNTS,
            runs=_Listing(does.accounts).search,
            shows=accounts,
            fails=STORE_FAILS,
            raises=(),
        ),
    )


def account_record_rows(does: AccountActs) -> Sequence[Row[BackOfficeCaller]]:
    """Return the rows."""
    return (
        route(
            "POST",
            "/accounts",
            name="backoffice.account_create",
            summary="Add an account to a company.",
            needs=writing(Area.ACCOUNT),
            limits=WITH_BODY,
            takes=body(AccountBody),
            runs=does.create,
            shows=_registered,
            fails=STORE_FAILS,
            raises=TAKEN,
            status=CREATED,
        ),
    )


def account_reading_rows(does: BackOfficeOperations) -> Sequence[Row[AccountCaller]]:
    """Return the rows that read an account."""
    return (
        route(
            "GET",
            "/accounts/{account_id}",
            name="backoffice.account",
            summary="Read an account as registered.",
            needs=reading(Area.ACCOUNT),
            limits=NO_BODY,
            takes=NOTHING,
            runs=on_account(does.accounts.read),
            shows=account,
            fails=STORE_FAILS,
            raises=(),
        ),
    )


def account_change_rows(does: AccountActs) -> Sequence[Row[AccountCaller]]:
    """Return the rows on one account, in whatever state it is."""
    return (
        route(
            "PATCH",
            "/accounts/{account_id}",
            name="backoffice.account_change",
            summary="Change an account: activate or deactivate it, note that it is verified.",
            needs=writing(Area.ACCOUNT),
            limits=WITH_BODY,
            takes=body(AccountChange),
            runs=does.change,
            shows=_versioned,
            fails=STORE_FAILS,
            raises=(*REFUSED, errors.VERSION_CHANGED),
        ),
        route(
            "PUT",
            "/accounts/{account_id}/provider",
            name="backoffice.account_provider",
            summary=(
                "Connect an account to a bank, with the credentials the bank asks for."
                " To change the bank of an account needs a second user's approval."
            ),
            needs=writing(Area.PROVIDER),
            limits=WITH_BODY,
            takes=body(ProviderBody),
            runs=does.attach,
            shows=_attached,
            fails=STORE_FAILS,
            raises=(*TAKEN, errors.VERSION_CHANGED),
            also={WAITS: ApprovalDocument},
        ),
    )


def account(found: OwnedAccount, _who: AccountCaller) -> VersionedAnswer[AccountRecordDocument]:
    """Show an account as registered, with its version."""
    version = version_of_account(found.account)
    return VersionedAnswer(content=_record(found), headers={hdrs.ETAG: version})


def accounts(found: Listed[OwnedAccount], _who: BackOfficeCaller) -> AccountRecordList:
    """Show a page of accounts."""
    meta = resources.meter(found.paging, found.total)
    return {"data": [_record(each) for each in found.items], "meta": meta}


def _record(found: OwnedAccount) -> AccountRecordDocument:
    record, at = found.account, found.account.coordinates
    return {
        "id": record.id,
        "company": {
            "id": record.company_id,
            "name": found.company_name,
        },
        "name": record.name,
        "tax_number": record.tax_number,
        "active": record.active,
        "verified": record.verified,
        "provider": record.provider,
        "provider_account": record.provider_account,
        "has_credentials": bool(record.sealed_credentials),
        "certificate_ends_at": instant(record.certificate_ends_at),
        "bank_number": at.bank_number,
        "ispb": at.ispb,
        "branch": at.branch,
        "account": at.account,
        "created_at": instant(record.created_at),
    }


def _registered(found: Account, _who: BackOfficeCaller | AccountCaller) -> AccountRegistered:
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
        "certificate_ends_at": instant(found.certificate_ends_at),
        "bank_number": at.bank_number,
        "ispb": at.ispb,
        "branch": at.branch,
        "account": at.account,
        "created_at": instant(found.created_at),
    }


def _attached(
    found: Account | Approval, who: AccountCaller
) -> VersionedAnswer[AccountRegistered] | Answer[ApprovalDocument]:
    return waiting(found, who) if isinstance(found, Approval) else _versioned(found, who)


def _versioned(found: Account, who: AccountCaller) -> VersionedAnswer[AccountRegistered]:
    return versioned(_registered(found, who), version_of_account(found))

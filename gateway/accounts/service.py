"""Create, change, list and name accounts, and connect them to banks."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import msgspec
from sqlalchemy import literal, select, union_all

from gateway.accounts.model import (
    NO_BANK,
    AccountChange,
    AccountRequest,
    AccountSearch,
    BankChange,
    BankNumber,
    Connected,
    Connection,
    CoordinatesRequest,
    Name,
    NamesRequest,
    OwnedAccount,
    ProviderRequest,
    RecordKind,
)
from gateway.accounts.store import StoredAccounts, read_account
from gateway.audit.store import StoredAudit
from gateway.banks.connections import offered
from gateway.banks.port.capabilities import PortCall
from gateway.banks.port.providers import (
    BadReply,
    Banks,
    CredentialsRefused,
    NotFound,
    NotSupported,
    ProviderError,
    RateLimited,
    Reason,
    Refused,
    Unavailable,
    Unreachable,
)
from gateway.companies.service import find_company, known_company, require_company
from gateway.core import strict
from gateway.core.access import Requirement, Staff, requires
from gateway.core.account import (
    Account,
    BankCoordinates,
    BankSecrets,
    BankSecretsRefused,
    GivenSecrets,
)
from gateway.core.approvals import (
    Approval,
    ApprovalKind,
    NewOrder,
    OrderDocument,
    Outcome,
    VoidReason,
    Wait,
)
from gateway.core.audit import AuditEvent
from gateway.core.audit_context import AuditContext, RuleViolation, identifier, name
from gateway.core.clocks import Now
from gateway.core.permissions import Action
from gateway.core.reasons import sentence
from gateway.core.rights import Area, Right
from gateway.core.schemas import instant
from gateway.core.storage import AlreadyExists, BankAccountTaken
from gateway.core.versions import ANY_VERSION, Expected, version_of_account
from gateway.core.windows import Listed
from gateway.store.kernel.database import page
from gateway.store.tables.columns import Record
from gateway.store.tables.core import accounts, companies, credentials
from gateway.store.tables.scope import of_company

_ATTEMPTS = 3
"""More are in vain only while others never stop."""
_COORDINATES: Mapping[str, re.Pattern[str]] = {
    "bank_number": re.compile(r"\d{3}", re.ASCII),
    "ispb": re.compile(r"\d{8}", re.ASCII),
    "branch": re.compile(r"\d{1,4}", re.ASCII),
    "account": re.compile(r"\d{1,20}(?:-[0-9Xx])?", re.ASCII),
}
_HIDDEN_PARTS = frozenset({"sealed_credentials", "tax_number", "coordinates"})
_OWNED = (
    select(accounts, companies.c.name.label("company_name"))
    .outerjoin(companies, companies.c.id == accounts.c.company_id)
    .order_by(accounts.c.created_at, accounts.c.id)
)
_NAMED: Final = {
    RecordKind.ACCOUNT: (accounts.c.id, accounts.c.name, accounts.c.company_id),
    RecordKind.COMPANY: (companies.c.id, companies.c.name, companies.c.id),
    RecordKind.CREDENTIAL: (
        credentials.c.client_id,
        credentials.c.name,
        credentials.c.company_id,
    ),
}
"""What has a name: its key, its name, and the company it belongs to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Accounts:
    """
    Service for accounts.

    Attributes:
        new_id: Makes a UUID.
        seal: Encrypts a text and binds it to the account's id.
        read_secrets: Reads the secrets entered for an account; the first argument is the provider's
            name;
            raises ``BankSecretsRefused``.
        providers: The configured providers by name, each with every name of the same bank.
        listed_banks: Every bank with a COMPE number, by that number; part of the program.
    """

    store: StoredAccounts
    new_id: Callable[[], str]
    seal: Callable[[str, str], bytes]
    read_secrets: Callable[[str, GivenSecrets], BankSecrets]
    providers: Mapping[str, Collection[str]]
    listed_banks: Callable[[], Sequence[object]]

    @requires(Area.ACCOUNT, Action.READ)
    async def page(self, who: Staff, wanted: AccountSearch) -> Listed[OwnedAccount]:
        """List the accounts you may see."""
        found = _OWNED.where(*of_company(accounts.c.company_id, who.scope))
        if wanted.company_id is not None:
            found = found.where(accounts.c.company_id == wanted.company_id)
        if wanted.provider is not None:
            found = found.where(accounts.c.provider == wanted.provider)
        return await page(self.store.database, found, wanted.paging, _owned)

    @requires(Area.ACCOUNT, Action.READ)
    async def get(self, who: Staff, account: Account) -> OwnedAccount:
        """Read an account as registered."""
        company = await find_company(self.store.database, account.company_id)
        return OwnedAccount(account, "" if company is None else company.name)

    @requires(Area.ACCOUNT, Action.READ)
    async def find(self, who: Staff, account_id: str) -> Account:
        """
        Return the account with an id that a user typed.

        Raises:
            RuleViolation: when there is none in the caller's companies.
        """
        account = await self.store.find(identifier(account_id, "account"))
        if account is None or not who.scope.includes(account.company_id):
            message = f"there is no account {account_id}"
            raise RuleViolation(message, "account_unknown", field="account_id")
        return account

    @requires(Area.ACCOUNT, Action.READ)
    async def every(self, who: Staff, company_id: str | None = None) -> Sequence[Account]:
        """
        Return all accounts, or those of one company, oldest first.

        Raises:
            RuleViolation: the company is unknown.
        """
        if company_id is not None:
            company_id = (await known_company(self.store.database, company_id)).id
        found = await self.store.list(company_id)
        return [each for each in found if who.scope.includes(each.company_id)]

    @requires(Area.ACCOUNT, Action.WRITE)
    async def create(
        self, who: Staff, wanted: AccountRequest, bank: ProviderRequest | None = None
    ) -> Account:
        """
        Add an account to a company.

        With a bank it also needs the right to connect accounts to banks.

        Raises:
            ServiceError: ``FORBIDDEN`` for a bank without that right.
            RuleViolation: no such company or provider, a wrong field, or an id that is taken.
        """
        require_company(who.scope, wanted.company_id)
        bank = bank or NO_BANK
        if bank.provider:
            who.require(_CONNECTS)
        company = await known_company(self.store.database, wanted.company_id)
        chosen = identifier(wanted.id, "account", "id") if wanted.id else self.new_id()
        shown = self._secrets(bank)
        account = Account(
            id=chosen,
            company_id=company.id,
            name=name(wanted.name),
            tax_number=_tax_number(wanted.tax_number),
            active=wanted.active,
            verified=wanted.verified,
            provider=bank.provider,
            provider_account=_provider_account(bank),
            sealed_credentials=self._sealed(shown, chosen),
            certificate_ends_at=shown.certificate_ends_at,
            coordinates=_merged(BankCoordinates(), wanted),
            created_at=who.acting.now(),
        )
        event = who.acting.event("account.created", f"account:{chosen}", _summary(account))
        try:
            await self.store.add(account, event, self._same_bank(account))
        except AlreadyExists as problem:
            raise _taken(chosen, problem) from problem
        return account

    @requires(Area.ACCOUNT, Action.WRITE)
    async def change(
        self,
        who: Staff,
        account: Account,
        wanted: AccountChange,
        expected: Expected = ANY_VERSION,
        bank: ProviderRequest | None = None,
    ) -> Account:
        """
        Change an account: activate or deactivate it, note that it is verified.

        An update that changes nothing is not written, nor audited. Who changed it in between is
        not undone: the update is made of what they left.

        Raises:
            RuleViolation: no such account or provider, or a field that does not fit.
            ServiceError: ``SVC.GTW.011`` when it is of none of the versions expected.
        """
        return await self._update(who, account, wanted, bank, expected)

    @requires(Area.PROVIDER, Action.WRITE)
    async def move(
        self,
        who: Staff,
        account: Account,
        bank: ProviderRequest | BankChange,
        expected: Expected = ANY_VERSION,
    ) -> Account:
        """
        Stand an account at a bank; raises as ``change``.

        Without credentials the stored ones stay, but only where provider and account stay too:
        no bank is ever shown another one's.
        """
        return await self._update(who, account, AccountChange(), bank, expected)

    @requires(Area.PROVIDER, Action.WRITE)
    async def moved(
        self,
        who: Staff,
        account: Account,
        bank: ProviderRequest | BankChange,
    ) -> Account:
        """Return an account as ``move`` leaves it, without storing it; raises as ``move``."""
        after = self._moved(account, bank)
        if after != account:
            try:
                await self.store.require_own_bank(after, self._same_bank(after))
            except BankAccountTaken as problem:
                raise _taken(after.id, problem) from problem
        return after

    @requires(Area.ACCOUNT, Action.READ)
    async def names(self, who: Staff, wanted: NamesRequest) -> list[Name]:
        """
        Read the names of accounts, companies and credentials by their ids.

        Those that the caller may see, in any order; another id is left out.
        """
        shown = [
            (kind, *columns)
            for kind, columns in _NAMED.items()
            if kind is not RecordKind.CREDENTIAL or who.may(_READS_CREDENTIALS)
        ]
        parts = [
            select(literal(kind.value).label("kind"), key.label("id"), called.label("name")).where(
                key.in_(set(wanted.ids)), *of_company(owner, who.scope)
            )
            for kind, key, called, owner in shown
        ]
        if not wanted.ids:
            return []
        rows = await self.store.database.rows(union_all(*parts))
        return [Name(RecordKind(row.kind), row.id, row.name) for row in rows]

    @requires(Area.PAYOUT, Action.READ)
    async def bank_numbers(self, who: Staff) -> list[BankNumber]:
        """List Brazilian banks by their COMPE number, with their ISPB."""
        return [
            msgspec.convert(each, BankNumber, from_attributes=True) for each in self.listed_banks()
        ]

    async def _update(
        self,
        who: Staff,
        account: Account,
        wanted: AccountChange,
        bank: ProviderRequest | BankChange | None,
        expected: Expected,
    ) -> Account:
        for _ in range(_ATTEMPTS):
            before = await self.find(Staff(who.acting), account.id)
            expected.check(version_of_account(before))
            after = _changed(before if bank is None else self._moved(before, bank), wanted)
            if after == before:
                return before
            changes = _differences(before, after)
            event = who.acting.event("account.updated", f"account:{before.id}", changes)
            if await self._replace(before, after, event):
                return after
        message = "others change the account at this moment; try again"
        raise RuleViolation(message, "changed_meanwhile")

    async def _replace(self, before: Account, after: Account, event: AuditEvent) -> bool:
        """Store a change; False when another change was stored first."""
        try:
            return await self.store.replace(after, event, before, self._same_bank(after))
        except BankAccountTaken as problem:
            raise _taken(after.id, problem) from problem

    def _moved(self, before: Account, bank: ProviderRequest | BankChange) -> Account:
        """
        Return the account at another bank, without the secrets of the former bank.

        An account without a bank keeps its former name at the bank, as a sign that it had one.
        """
        self._provider(bank.provider)
        if isinstance(bank, BankChange):
            return dataclasses.replace(
                before,
                provider=bank.provider,
                provider_account=bank.provider_account,
                sealed_credentials=bank.sealed_credentials,
                certificate_ends_at=bank.certificate_ends_at,
            )
        there = _provider_account(bank)
        after = dataclasses.replace(
            before,
            provider=bank.provider,
            provider_account=there if bank.provider else before.provider_account,
        )
        if bank.credentials is None and after == before:
            return before
        if bank.credentials is None and bank.provider:
            message = "the account moves to another bank account: its credentials are needed"
            raise RuleViolation(message, "bank_credentials_missing", field="credentials")
        shown = self._secrets(bank)
        return dataclasses.replace(
            after,
            sealed_credentials=self._sealed(shown, before.id),
            certificate_ends_at=shown.certificate_ends_at,
        )

    def _same_bank(self, account: Account) -> Collection[str]:
        """Return every name of an account's bank; only the provider's own if unconfigured."""
        return self.providers.get(account.provider, (account.provider,))

    def _provider(self, chosen: str) -> None:
        if chosen and chosen not in self.providers:
            known = ", ".join(sorted(self.providers)) or "none"
            message = f"no provider {chosen!r} is configured (configured: {known})"
            raise RuleViolation(message, "provider_unknown", field="provider")

    def _secrets(self, bank: ProviderRequest) -> BankSecrets:
        """Read the secrets for a configured provider; an empty text where nothing was entered."""
        self._provider(bank.provider)
        if not bank.credentials or not bank.provider:
            return BankSecrets(text="")
        try:
            return self.read_secrets(bank.provider, bank.credentials)
        except BankSecretsRefused as problem:
            place = f"credentials.{problem.field}" if problem.field else "credentials"
            message = sentence(problem.reason, place)
            raise RuleViolation(message, problem.reason, field=place) from problem

    def _sealed(self, shown: BankSecrets, account_id: str) -> bytes:
        return self.seal(shown.text, account_id) if shown.text else b""


_CONNECTS: Final = Requirement(Right(Area.PROVIDER, Action.WRITE))
_READS_CREDENTIALS: Final = Right(Area.CREDENTIAL, Action.READ)


def _owned(row: Record) -> OwnedAccount:
    return OwnedAccount(read_account(row), row.company_name or "")


def _changed(before: Account, wanted: AccountChange) -> Account:
    return dataclasses.replace(
        before,
        name=before.name if wanted.name is None else name(wanted.name),
        tax_number=(
            before.tax_number if wanted.tax_number is None else _tax_number(wanted.tax_number)
        ),
        active=before.active if wanted.active is None else wanted.active,
        verified=before.verified if wanted.verified is None else wanted.verified,
        coordinates=_merged(before.coordinates, wanted),
    )


def _tax_number(text: str) -> str:
    try:
        return strict.tax_number(text)
    except ValueError as problem:
        message = "the tax number is no valid CPF or CNPJ"
        raise RuleViolation(message, "tax_number_form", field="tax_number") from problem


def _provider_account(bank: ProviderRequest) -> str:
    """Require the provider's name of the account if and only if there is a provider."""
    if bank.provider and not bank.provider_account:
        message = "a provider needs its own name of the account"
        raise RuleViolation(message, "missing", field="provider_account")
    if not bank.provider and (bank.provider_account or bank.credentials):
        message = "the account has no provider; name one"
        raise RuleViolation(message, "missing", field="provider")
    try:
        return strict.visible_text(bank.provider_account)
    except ValueError as problem:
        message = "the provider's account has characters that are not seen, or outer blanks"
        raise RuleViolation(message, "account_name_form", field="provider_account") from problem


def _taken(account_id: str, problem: AlreadyExists) -> RuleViolation:
    """Return the conflict: the bank's account, or the id."""
    if isinstance(problem, BankAccountTaken):
        message = "the bank's account stands behind an account of another company"
        return RuleViolation(message, "bank_account_taken", field="provider_account")
    message = f"the account {account_id} exists already"
    return RuleViolation(message, "taken", field="id")


def _merged(before: BankCoordinates, wanted: CoordinatesRequest) -> BankCoordinates:
    given = {part: text for part in _COORDINATES if (text := getattr(wanted, part))}
    for part, text in given.items():
        if _COORDINATES[part].fullmatch(text) is None:
            message = f"{part.replace('_', ' ')} has another form: {text!r}"
            raise RuleViolation(message, "form", field=part)
    return msgspec.structs.replace(before, **given)


def _summary(account: Account) -> dict[str, str]:
    return {
        "company": account.company_id,
        "name": account.name,
        "active": _word(account.active),
        "verified": _word(account.verified),
        "provider": account.provider,
    }


def _differences(before: Account, after: Account) -> dict[str, str]:
    """Return the changed fields, with both values unless they are secret or personal."""
    changes: dict[str, str] = {}
    for part in (each.name for each in dataclasses.fields(Account) if each.compare):
        old, new = getattr(before, part), getattr(after, part)
        if old == new:
            continue
        changes[part] = "changed" if part in _HIDDEN_PARTS else f"{_word(old)} -> {_word(new)}"
    return changes


def _word(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


SENTENCES: Final[Mapping[Connected, str]] = {
    Connected.WORKS: "The bank knows the account and accepts its credentials.",
    Connected.NO_PROVIDER: "No configured bank stands behind the account.",
    Connected.NO_CREDENTIALS: "The bank asks for credentials of the account, and there are none.",
    Connected.NO_CERTIFICATE: "The account has no certificate that is valid now.",
    Connected.CREDENTIALS_REFUSED: "The bank does not accept the account's credentials.",
    Connected.ACCOUNT_UNKNOWN: "The bank does not know the account by this name.",
    Connected.REFUSED: "The bank does not tell us the balance of this account.",
    Connected.NOT_OFFERED: "The bank offers nothing that would answer this.",
    Connected.BUSY: "The bank asks us to call less often.",
    Connected.UNREACHABLE: "The bank could not be reached.",
    Connected.NO_ANSWER: "The bank did not answer in time, or answered with an error of its own.",
    Connected.NOT_UNDERSTOOD: "The bank's answer could not be read.",
}

_BY_FAILURE: Final[Mapping[type[ProviderError], Connected]] = {
    CredentialsRefused: Connected.CREDENTIALS_REFUSED,
    NotFound: Connected.ACCOUNT_UNKNOWN,
    Refused: Connected.REFUSED,
    NotSupported: Connected.NOT_OFFERED,
    RateLimited: Connected.BUSY,
    Unreachable: Connected.UNREACHABLE,
    Unavailable: Connected.NO_ANSWER,
    BadReply: Connected.NOT_UNDERSTOOD,
}

_BY_REASON: Final[Mapping[str, Connected]] = {
    Reason.CERTIFICATE_EXPIRED: Connected.NO_CERTIFICATE,
    Reason.CERTIFICATE_MISSING: Connected.NO_CERTIFICATE,
    Reason.CERTIFICATE_REFUSED: Connected.CREDENTIALS_REFUSED,
    Reason.CREDENTIALS_UNFIT: Connected.NO_CREDENTIALS,
}
"""What says more than the kind of the failure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountBanks:
    """
    Service for the banks behind accounts: changes by order, and connection tests.

    Attributes:
        wait: Lets an order wait for a second person.
        takes_two: Whether every bank after an account's first needs two people.
    """

    accounts: Accounts
    wait: Wait
    takes_two: bool
    banks: Banks
    audit: StoredAudit

    @requires(Area.PROVIDER, Action.WRITE)
    async def attach(
        self, who: Staff, account: Account, wanted: ProviderRequest, expected: Expected
    ) -> Account | Approval:
        """
        Connect an account to a bank, with the credentials that the bank requires.

        To change the bank of an account needs a second user's approval.

        Raises:
            ServiceError: ``SVC.GTW.011`` when the account is of none of the versions expected.
            RuleViolation: as ``Accounts.move`` does.
        """
        before = await self.accounts.find(who, account.id)
        version = version_of_account(before)
        expected.check(version)
        if who.person is None or not (self.takes_two and before.had_bank):
            return await self.accounts.move(who, before, wanted, Expected(frozenset({version})))
        after = await self.accounts.moved(who, before, wanted)
        if after == before:
            return before
        order = BankChange(
            account_id=before.id,
            provider=after.provider,
            provider_account=after.provider_account,
            provider_before=before.provider,
            provider_account_before=before.provider_account,
            sealed_before=before.sealed_credentials,
            sealed_credentials=after.sealed_credentials,
            certificate_ends_at=after.certificate_ends_at,
        )
        new = NewOrder(
            kind=ApprovalKind.ACCOUNT_BANK,
            text=msgspec.json.encode(order).decode(),
            company_id=before.company_id,
            account_id=before.id,
            subject=before.id,
        )
        return await self.wait(who.person, new)

    @requires(Area.PROVIDER, Action.WRITE)
    async def test(self, who: Staff, account: Account) -> Connection:
        """
        Test the connection to the account's bank; no money moves.

        The balance is read from the bank and not stored.

        Raises:
            StoreUnavailable: the test could not be written to the audit log.
        """
        came = await self._try(account)
        details = {"provider": account.provider, "outcome": came.value}
        event = who.acting.event("account.provider_tested", f"account:{account.id}", details)
        await self.audit.append(event)
        return Connection(came is Connected.WORKS, came, SENTENCES[came])

    async def _try(self, account: Account) -> Connected:
        try:
            bank = self.banks.of(account)
            if bank is None:
                return Connected.NO_PROVIDER
            if bank.lacks_credentials:
                return Connected.NO_CREDENTIALS
            await offered(bank, PortCall.GET_BALANCE).get_balance(bank.account)
        except ProviderError as problem:
            listed = _BY_REASON.get(problem.reason)
            if listed is not None:
                return listed
            kinds = (kind for kind in _BY_FAILURE if isinstance(problem, kind))
            return _BY_FAILURE[next(kinds, BadReply)]
        return Connected.WORKS


@dataclass(frozen=True, slots=True)
class BankChanges:
    """Executes approved bank changes in the name of the user who ordered them."""

    accounts: Accounts
    now: Now

    async def check_again(self, approval: Approval, text: str) -> VoidReason:
        """Refuse an order that is impossible by now; return the reason of a void order."""
        order, who = _read(text), self._staff(approval)
        account = await self.accounts.find(who, order.account_id)
        if not order.still_fits(account):
            return VoidReason.BANK_CHANGED
        await self.accounts.moved(who, account, order)
        return VoidReason.NONE

    async def carry_out(self, approval: Approval, text: str) -> Outcome:
        """Move an account to another bank, unless the account has changed since the order."""
        order, who = _read(text), self._staff(approval)
        account = await self.accounts.find(who, order.account_id)
        if not order.still_fits(account):
            message = "the bank of the account, or its credentials there, changed since"
            raise RuleViolation(message, "changed_meanwhile")
        seen = Expected(frozenset({version_of_account(account)}))
        await self.accounts.move(who, account, order, seen)
        return Outcome.DONE

    def order_document(self, text: str) -> OrderDocument:
        """Return the order as a document."""
        order = _read(text)
        return {
            "account_id": order.account_id,
            "provider": order.provider,
            "provider_account": order.provider_account,
            "provider_before": order.provider_before,
            "provider_account_before": order.provider_account_before,
            "with_credentials": bool(order.sealed_credentials),
            "certificate_ends_at": instant(order.certificate_ends_at),
        }

    def _staff(self, approval: Approval) -> Staff:
        """Return the user who gave the order, whose rights were checked then."""
        return Staff(AuditContext(approval.orderer, self.now))


def _read(text: str) -> BankChange:
    return msgspec.json.decode(text, type=BankChange)

"""Accounts: what a partner acts on, and the bank behind each."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import msgspec

from gateway.companies.model import KnownCompany
from gateway.domain.accounts.accounts import (
    Account,
    Accounts,
    BankCoordinates,
    BankSecrets,
    BankSecretsRefused,
    GivenSecrets,
)
from gateway.domain.kernel import strict
from gateway.domain.kernel.audit import AuditEvent
from gateway.domain.kernel.storage import AlreadyExists, BankAccountTaken
from gateway.domain.requests.reasons import sentence
from gateway.domain.requests.versions import ANY_VERSION, Expected, version_of_account
from gateway.operations.kernel.audit_context import AuditContext, RuleViolation, identifier, name

_ATTEMPTS = 3
"""More are in vain only while others never stop."""
_COORDINATES: Mapping[str, re.Pattern[str]] = {
    "bank_number": re.compile(r"\d{3}", re.ASCII),
    "ispb": re.compile(r"\d{8}", re.ASCII),
    "branch": re.compile(r"\d{1,4}", re.ASCII),
    "account": re.compile(r"\d{1,20}(?:-[0-9Xx])?", re.ASCII),
}
_NOT_TOLD = frozenset({"sealed_credentials", "tax_number", "coordinates"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderChoice:
    """
    The bank behind an account.

    Attributes:
        name: Of a configured provider; empty for none.
        account: The provider's own name of the account.
        credentials: What the provider wants from us, in clear: one text, or texts by
            the names of fields. Sealed before it is stored. None keeps the stored
            ones, empty is for a provider that wants none.
    """

    name: str = ""
    account: str = ""
    credentials: GivenSecrets | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class SealedBank:
    """
    The bank behind an account, as the account keeps it.

    Attributes:
        provider: Of a configured provider; empty for none.
        sealed_credentials: Sealed for this account alone.
    """

    provider: str
    provider_account: str
    sealed_credentials: bytes = field(repr=False)
    certificate_ends_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountOrder:
    """An account to be made; an empty ``id`` chooses one. A new one may not act: see the flags."""

    company_id: str
    name: str
    tax_number: str
    id: str = ""
    active: bool = False
    verified: bool = False
    provider: ProviderChoice = field(default_factory=ProviderChoice)
    coordinates: BankCoordinates = field(default_factory=BankCoordinates)


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountUpdate:
    """
    What is to change; None leaves a thing as it is.

    Attributes:
        provider: Always whole. Without credentials the stored ones stay, but
            only where provider and account stay too: no bank is ever shown
            another one's.
        bank: Likewise, of an order that was looked at and sealed before.
        coordinates: Empty fields of it leave what is there.
    """

    name: str | None = None
    tax_number: str | None = None
    active: bool | None = None
    verified: bool | None = None
    provider: ProviderChoice | None = None
    bank: SealedBank | None = None
    coordinates: BankCoordinates | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountRecords:
    """
    The register of accounts.

    Attributes:
        new_id: Makes a UUID.
        seal: Encrypts a text, bound to the account's id.
        read_secrets: Reads what was entered for an account of a provider, named first;
            raises ``BankSecretsRefused``.
        providers: The configured providers by name, each with every name of the same bank.
    """

    known_company: KnownCompany
    accounts: Accounts
    acting: AuditContext
    new_id: Callable[[], str]
    seal: Callable[[str, str], bytes]
    read_secrets: Callable[[str, GivenSecrets], BankSecrets]
    providers: Mapping[str, Collection[str]]

    async def create(self, order: AccountOrder) -> Account:
        """
        Add an account to a company.

        Raises:
            RuleViolation: no such company or provider, a wrong field, or an id that is taken.
        """
        company = await self.known_company(order.company_id, "company_id")
        chosen = identifier(order.id, "account", "id") if order.id else self.new_id()
        shown = self._secrets(order.provider)
        account = Account(
            id=chosen,
            company_id=company.id,
            name=name(order.name),
            tax_number=self._tax_number(order.tax_number),
            active=order.active,
            verified=order.verified,
            provider=order.provider.name,
            provider_account=_provider_account(order.provider),
            sealed_credentials=self._sealed(shown, chosen),
            certificate_ends_at=shown.certificate_ends_at,
            coordinates=_checked(order.coordinates),
            created_at=self.acting.now(),
        )
        event = self.acting.event("account.created", f"account:{chosen}", _summary(account))
        try:
            await self.accounts.add(account, event, self._same_bank(account))
        except AlreadyExists as problem:
            raise _taken(chosen, problem) from problem
        return account

    async def update(
        self, account_id: str, update: AccountUpdate, expected: Expected = ANY_VERSION
    ) -> Account:
        """
        Change an account; an update that changes nothing is not written, nor audited.

        Who changed it in between is not undone: the update is made of what they left.

        Raises:
            RuleViolation: no such account or provider, or a field that does not fit.
            ServiceError: ``SVC.GTW.011`` when it is of none of the versions expected.
        """
        for _ in range(_ATTEMPTS):
            before = await self.find(account_id)
            expected.check(version_of_account(before))
            after = self.updated(before, update)
            if after == before:
                return before
            changes = _differences(before, after)
            event = self.acting.event("account.updated", f"account:{before.id}", changes)
            if await self._replace(before, after, event):
                return after
        message = "others change the account at this moment; try again"
        raise RuleViolation(message, "changed_meanwhile")

    async def find(self, account_id: str) -> Account:
        """
        Return one.

        Raises:
            RuleViolation: when there is none.
        """
        account = await self.accounts.find(identifier(account_id, "account"))
        if account is None:
            raise _absent(account_id)
        return account

    async def list(self, company_id: str | None = None) -> Sequence[Account]:
        """Return all, or those of one company, oldest first; RuleViolation for an unknown one."""
        if company_id is None:
            return await self.accounts.list()
        return await self.accounts.list((await self.known_company(company_id, "company_id")).id)

    async def require_own_bank(self, account: Account) -> None:
        """Refuse a bank's account that another company has; RuleViolation as ``update`` raises."""
        try:
            await self.accounts.require_own_bank(account, self._same_bank(account))
        except BankAccountTaken as problem:
            raise _taken(account.id, problem) from problem

    async def _replace(self, before: Account, after: Account, event: AuditEvent) -> bool:
        """Store a change; False when somebody else was quicker."""
        try:
            return await self.accounts.replace(after, event, before, self._same_bank(after))
        except BankAccountTaken as problem:
            raise _taken(after.id, problem) from problem

    def updated(self, before: Account, update: AccountUpdate) -> Account:
        """Return an account as an update leaves it, without storing it; raises as ``update``."""
        after = before if update.provider is None else self._moved(before, update.provider)
        if update.bank is not None:
            self._provider(update.bank.provider)
            after = dataclasses.replace(after, **dataclasses.asdict(update.bank))
        if update.name is not None:
            after = dataclasses.replace(after, name=name(update.name))
        if update.tax_number is not None:
            after = dataclasses.replace(after, tax_number=self._tax_number(update.tax_number))
        return dataclasses.replace(
            after,
            active=before.active if update.active is None else update.active,
            verified=before.verified if update.verified is None else update.verified,
            coordinates=_merged(before.coordinates, update.coordinates),
        )

    def _moved(self, before: Account, choice: ProviderChoice) -> Account:
        """
        Stand the account at a bank; what was shown to another one is forgotten.

        Without a bank it keeps the name it had there: so it is known that it had one.
        """
        there = _provider_account(choice)
        after = dataclasses.replace(
            before,
            provider=self._provider(choice.name),
            provider_account=there if choice.name else before.provider_account,
        )
        if choice.credentials is None and after == before:
            return before
        if choice.credentials is None and choice.name:
            message = "the account moves to another bank account: its credentials are needed"
            raise RuleViolation(message, "bank_credentials_missing", field="credentials")
        shown = self._secrets(choice)
        return dataclasses.replace(
            after,
            sealed_credentials=self._sealed(shown, before.id),
            certificate_ends_at=shown.certificate_ends_at,
        )

    def _same_bank(self, account: Account) -> Collection[str]:
        """Return every name of an account's bank; one that is not configured has its own alone."""
        return self.providers.get(account.provider, (account.provider,))

    def _provider(self, chosen: str) -> str:
        if chosen and chosen not in self.providers:
            known = ", ".join(sorted(self.providers)) or "none"
            message = f"no provider {chosen!r} is configured (configured: {known})"
            raise RuleViolation(message, "provider_unknown", field="provider")
        return chosen

    def _secrets(self, choice: ProviderChoice) -> BankSecrets:
        """Read what a configured bank is to be shown; an empty text where nothing was entered."""
        self._provider(choice.name)
        if not choice.credentials or not choice.name:
            return BankSecrets(text="")
        try:
            return self.read_secrets(choice.name, choice.credentials)
        except BankSecretsRefused as problem:
            place = f"credentials.{problem.field}" if problem.field else "credentials"
            message = sentence(problem.reason, place)
            raise RuleViolation(message, problem.reason, field=place) from problem

    def _sealed(self, shown: BankSecrets, account_id: str) -> bytes:
        return self.seal(shown.text, account_id) if shown.text else b""

    def _tax_number(self, text: str) -> str:
        try:
            return strict.tax_number(text)
        except ValueError as problem:
            message = "the tax number is no valid CPF or CNPJ"
            raise RuleViolation(message, "tax_number_form", field="tax_number") from problem


def _provider_account(choice: ProviderChoice) -> str:
    """Demand the provider's own name of the account where there is a provider, and only there."""
    if choice.name and not choice.account:
        message = "a provider needs its own name of the account"
        raise RuleViolation(message, "missing", field="provider_account")
    if not choice.name and (choice.account or choice.credentials):
        message = "the account has no provider; name one"
        raise RuleViolation(message, "missing", field="provider")
    try:
        return strict.visible_text(choice.account)
    except ValueError as problem:
        message = "the provider's account has characters that are not seen, or outer blanks"
        raise RuleViolation(message, "account_name_form", field="provider_account") from problem


def _taken(account_id: str, problem: AlreadyExists) -> RuleViolation:
    """Say what is taken: the bank's account, or the id."""
    if isinstance(problem, BankAccountTaken):
        message = "the bank's account stands behind an account of another company"
        return RuleViolation(message, "bank_account_taken", field="provider_account")
    message = f"the account {account_id} exists already"
    return RuleViolation(message, "taken", field="id")


def _checked(coordinates: BankCoordinates) -> BankCoordinates:
    for part, pattern in _COORDINATES.items():
        text = getattr(coordinates, part)
        if text and pattern.fullmatch(text) is None:
            message = f"{part.replace('_', ' ')} has another form: {text!r}"
            raise RuleViolation(message, "form", field=part)
    return coordinates


def _merged(before: BankCoordinates, update: BankCoordinates | None) -> BankCoordinates:
    if update is None:
        return before
    given = {part: getattr(update, part) for part in _COORDINATES if getattr(update, part)}
    return _checked(msgspec.structs.replace(before, **given))


def _absent(account_id: str) -> RuleViolation:
    message = f"there is no account {account_id}"
    return RuleViolation(message, "account_unknown", field="account_id")


def _summary(account: Account) -> dict[str, str]:
    return {
        "company": account.company_id,
        "name": account.name,
        "active": _word(account.active),
        "verified": _word(account.verified),
        "provider": account.provider,
    }


def _differences(before: Account, after: Account) -> dict[str, str]:
    """Name what changed, with both values unless they are secret or personal."""
    told: dict[str, str] = {}
    for part in (each.name for each in dataclasses.fields(Account) if each.compare):
        old, new = getattr(before, part), getattr(after, part)
        if old == new:
            continue
        told[part] = "changed" if part in _NOT_TOLD else f"{_word(old)} -> {_word(new)}"
    return told


def _word(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)

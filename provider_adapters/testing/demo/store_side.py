"""The demo in the store: companies, accounts and credentials."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from gateway.domain.accounts.accounts import Account, Accounts, Companies, Company
from gateway.domain.accounts.credentials import Credential, Credentials, SecretDigest
from gateway.domain.kernel.storage import AlreadyExists
from gateway.operations.accounts.credentials import CredentialSource
from gateway.operations.kernel.audit_context import AuditContext
from provider_adapters.testing.demo import bank_side, contents
from provider_adapters.testing.demo.contents import DemoAccount, DemoCredential
from provider_adapters.testing.demo.document import Demo, Pair


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoRecords:
    """
    The store, and what is needed to write into it.

    Attributes:
        seal: Encrypts a text, bound to an account's id.
        unseal: Opens it again; None when the key is another one by now.
        matches: Whether a secret is one of these and lives.
    """

    companies: Companies
    accounts: Accounts
    credentials: Credentials
    acting: AuditContext
    source: CredentialSource
    seal: Callable[[str, str], bytes]
    unseal: Callable[[bytes, str], str | None]
    matches: Callable[[str, Sequence[SecretDigest], datetime], bool]


async def replacements(records: DemoRecords, demo: Demo) -> Mapping[str, Pair]:
    """
    Return new pairs for credentials that do not open the door any more.

    That is one revoked or rotated by somebody, or made under another pepper.
    """
    new: dict[str, Pair] = {}
    for wanted in contents.CREDENTIALS:
        kept = demo["credentials"].get(wanted.role)
        if kept is None or not await _holds(records, wanted, kept):
            new[wanted.role] = new_pair(records.source)
    return new


def new_pair(source: CredentialSource) -> Pair:
    """Make a client id and a secret."""
    return Pair(client_id=source.client_id(), client_secret=source.client_secret())


async def ensure(records: DemoRecords, demo: Demo) -> None:
    """Make what the store lacks of the demo and put right what was changed; safe to repeat."""
    for company in contents.COMPANIES:
        await _company(records, demo["companies"][company.role]["id"], company.name)
    for account in contents.ACCOUNTS:
        await _account(records, demo, account)
    for credential in contents.CREDENTIALS:
        await _credential(records, demo, credential)


async def _company(records: DemoRecords, company_id: str, name: str) -> None:
    if await records.companies.find(company_id) is not None:
        return
    event = records.acting.event("company.created", f"company:{company_id}", {"name": name})
    with suppress(AlreadyExists):  # another process is making the same demo
        await records.companies.add(Company(company_id, name, records.acting.now()), event)


async def _account(records: DemoRecords, demo: Demo, wanted: DemoAccount) -> None:
    account_id = demo["accounts"][wanted.role]["id"]
    found = await records.accounts.find(account_id)
    account = _as_wanted(records, demo, wanted, found)
    if account == found:
        return
    act = "account.created" if found is None else "account.updated"
    event = records.acting.event(act, f"account:{account_id}", {"demo": wanted.role})
    if found is not None:
        await records.accounts.replace(account, event)
        return
    with suppress(AlreadyExists):  # see above
        await records.accounts.add(account, event)


def _as_wanted(
    records: DemoRecords, demo: Demo, wanted: DemoAccount, found: Account | None
) -> Account:
    """Describe the account; sealed again only where what is sealed cannot be read as it should."""
    account_id = demo["accounts"][wanted.role]["id"]
    holder = next(each for each in contents.COMPANIES if each.role == wanted.company)
    token = bank_side.token(account_id) if wanted.provider else ""
    sealed = found.sealed_credentials if found else b""
    if token and not (sealed and records.unseal(sealed, account_id) == token):
        sealed = records.seal(token, account_id)
    return Account(
        id=account_id,
        company_id=demo["companies"][wanted.company]["id"],
        name=f"{holder.name} ({wanted.called})" if wanted.called else holder.name,
        tax_number=holder.tax_number,
        active=wanted.active,
        verified=wanted.verified,
        provider=wanted.provider,
        provider_account=account_id if wanted.provider else "",
        sealed_credentials=sealed if token else b"",
        coordinates=contents.coordinates(account_id),
        created_at=found.created_at if found else records.acting.now(),
    )


async def _credential(records: DemoRecords, demo: Demo, wanted: DemoCredential) -> None:
    pair = demo["credentials"][wanted.role]
    found = await records.credentials.find(pair["client_id"])
    subject = f"credential:{pair['client_id']}"
    if found is None:
        found = _new(records, demo, wanted)
        event = records.acting.event("credential.issued", subject, {"demo": wanted.role})
        with suppress(AlreadyExists):  # see above
            await records.credentials.add(found, event)
    if wanted.revoked and found.revoked_at is None:
        event = records.acting.event("credential.revoked", subject, {"demo": wanted.role})
        await records.credentials.revoke(pair["client_id"], records.acting.now(), event)


def _new(records: DemoRecords, demo: Demo, wanted: DemoCredential) -> Credential:
    pair, now = demo["credentials"][wanted.role], records.acting.now()
    key_id, digest = records.source.digest(pair["client_secret"])
    return Credential(
        client_id=pair["client_id"],
        company_id=demo["companies"][wanted.company]["id"],
        account_id=demo["accounts"][wanted.account]["id"] if wanted.account else None,
        name=f"demo {wanted.role}",
        permissions=wanted.permissions,
        secrets=(SecretDigest(key_id=key_id, digest=digest, created_at=now),),
        created_at=now,
    )


async def _holds(records: DemoRecords, wanted: DemoCredential, kept: Pair) -> bool:
    """Say whether a kept pair is, or can still be made, what it is printed as."""
    found = await records.credentials.find(kept["client_id"])
    if found is None or wanted.revoked:
        return True
    return found.revoked_at is None and records.matches(
        kept["client_secret"], found.secrets, records.acting.now()
    )

"""The demo in the store: companies, accounts and credentials."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from gateway.app.build_backoffice import credential_source
from gateway.cli.context import AdminContext
from gateway.domain.accounts.accounts import Account, Company
from gateway.domain.accounts.credentials import Credential, SecretDigest
from gateway.domain.kernel.storage import AlreadyExists
from gateway.security.sealing import SealBroken, Sealer
from provider_adapters.testing.demo import bank_side, contents
from provider_adapters.testing.demo.contents import DemoAccount, DemoCredential
from provider_adapters.testing.demo.document import Demo, Pair


async def replacements(office: AdminContext, demo: Demo) -> Mapping[str, Pair]:
    """
    Return new pairs for credentials that do not open the door any more.

    That is one revoked or rotated by somebody, or made under another pepper.
    """
    new: dict[str, Pair] = {}
    for wanted in contents.CREDENTIALS:
        kept = demo["credentials"].get(wanted.role)
        if kept is None or not await _holds(office, wanted, kept):
            new[wanted.role] = new_pair(office)
    return new


def new_pair(office: AdminContext) -> Pair:
    """Make a client id and a secret."""
    source = credential_source(office.kernel.keys)
    return Pair(client_id=source.client_id(), client_secret=source.client_secret())


async def ensure(office: AdminContext, demo: Demo) -> None:
    """Make what the store lacks of the demo and put right what was changed; safe to repeat."""
    for company in contents.COMPANIES:
        await _company(office, demo["companies"][company.role]["id"], company.name)
    for account in contents.ACCOUNTS:
        await _account(office, demo, account)
    for credential in contents.CREDENTIALS:
        await _credential(office, demo, credential)


async def _company(office: AdminContext, company_id: str, name: str) -> None:
    if await office.kernel.store.companies.find(company_id) is not None:
        return
    event = office.acting.event("company.created", f"company:{company_id}", {"name": name})
    with suppress(AlreadyExists):  # another process is making the same demo
        await office.kernel.store.companies.add(
            Company(company_id, name, office.acting.now()), event
        )


async def _account(office: AdminContext, demo: Demo, wanted: DemoAccount) -> None:
    account_id = demo["accounts"][wanted.role]["id"]
    found = await office.kernel.store.accounts.find(account_id)
    account = _as_wanted(office, demo, wanted, found)
    if account == found:
        return
    act = "account.created" if found is None else "account.updated"
    event = office.acting.event(act, f"account:{account_id}", {"demo": wanted.role})
    if found is not None:
        await office.kernel.store.accounts.replace(account, event)
        return
    with suppress(AlreadyExists):  # see above
        await office.kernel.store.accounts.add(account, event)


def _as_wanted(
    office: AdminContext, demo: Demo, wanted: DemoAccount, found: Account | None
) -> Account:
    """Describe the account; sealed again only where what is sealed cannot be read as it should."""
    account_id = demo["accounts"][wanted.role]["id"]
    holder = next(each for each in contents.COMPANIES if each.role == wanted.company)
    token = bank_side.token(account_id) if wanted.provider else ""
    sealed = found.sealed_credentials if found else b""
    sealer = office.kernel.keys.sealer
    if token and not (sealed and unsealed(sealer, sealed, account_id) == token):
        sealed = sealer.seal(token, account_id)
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
        created_at=found.created_at if found else office.acting.now(),
    )


async def _credential(office: AdminContext, demo: Demo, wanted: DemoCredential) -> None:
    pair = demo["credentials"][wanted.role]
    found = await office.kernel.store.credentials.find(pair["client_id"])
    subject = f"credential:{pair['client_id']}"
    if found is None:
        found = _new(office, demo, wanted)
        event = office.acting.event("credential.issued", subject, {"demo": wanted.role})
        with suppress(AlreadyExists):  # see above
            await office.kernel.store.credentials.add(found, event)
    if wanted.revoked and found.revoked_at is None:
        event = office.acting.event("credential.revoked", subject, {"demo": wanted.role})
        await office.kernel.store.credentials.revoke(pair["client_id"], office.acting.now(), event)


def _new(office: AdminContext, demo: Demo, wanted: DemoCredential) -> Credential:
    pair, now = demo["credentials"][wanted.role], office.acting.now()
    key_id, digest = credential_source(office.kernel.keys).digest(pair["client_secret"])
    return Credential(
        client_id=pair["client_id"],
        company_id=demo["companies"][wanted.company]["id"],
        account_id=demo["accounts"][wanted.account]["id"] if wanted.account else None,
        name=f"demo {wanted.role}",
        permissions=wanted.permissions,
        secrets=(SecretDigest(key_id=key_id, digest=digest, created_at=now),),
        created_at=now,
    )


async def _holds(office: AdminContext, wanted: DemoCredential, kept: Pair) -> bool:
    """Say whether a kept pair is, or can still be made, what it is printed as."""
    found = await office.kernel.store.credentials.find(kept["client_id"])
    if found is None or wanted.revoked:
        return True
    return found.revoked_at is None and office.kernel.keys.digester.matches(
        kept["client_secret"], found.secrets, office.acting.now()
    )


def unsealed(sealer: Sealer, sealed: bytes, bound_to: str) -> str | None:
    """Open what is sealed; None when it was changed, moved or sealed under another key."""
    try:
        return sealer.open(sealed, bound_to)
    except SealBroken:
        return None

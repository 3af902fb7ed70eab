"""The demo, made once and found again: in a file, in the store and at the bank."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from gateway.app.build_identity import build_identity
from gateway.app.commands.context import AdminContext
from gateway.app.services import credential_source
from gateway.cli.configuration import sandbox_only
from gateway.companies.model import Company
from gateway.companies.service import add_company
from gateway.config.settings import Settings
from gateway.core.account import Account
from gateway.core.rights import Role
from gateway.core.storage import AlreadyExists
from gateway.core.user import Totp, User
from gateway.credentials.model import Credential
from gateway.identity.context import IdentityContext
from gateway.identity.passwords import COST, Cost, PasswordHasher
from gateway.identity.second_factors import totp_row
from gateway.security.secrets import SecretDigest
from provider_adapters.testing.demo import bank_side, contents
from provider_adapters.testing.demo.document import Demo, DemoFile, DemoUrls, Pair


async def made_demo(office: AdminContext, urls: DemoUrls | None = None, cost: Cost = COST) -> Demo:
    """
    Make what is missing of the demo, and return it; ids and secrets stay the same.

    The file comes first: after a crash the next run finishes what is named there. ``urls`` are
    those of the configuration by default; only tests have a reason for a lower ``cost``.

    Raises:
        RuleViolation: in production; or the file cannot be read, or the bank is away or refuses.
    """
    settings, keys = office.kernel.settings, office.kernel.keys
    sandbox_only(settings)
    urls = urls or urls_of(settings)
    kept = demo_file(settings)
    identity = build_identity(office.kernel, PasswordHasher(keys.password_peppers, cost))
    try:
        demo = kept.read() or kept.begin(_fresh(office, identity.context, urls))
        async with bank_side.controlling(urls["sandbox_control_url"]) as control:
            await bank_side.ensure(control, demo, office.acting.now)
        await _accounts(office, demo)
        credentials = {role: await _credential(office, demo, role) for role in contents.CREDENTIALS}
        await _users(identity.context, demo)
    finally:
        await identity.close()
    current: Demo = {**demo, **urls, "credentials": credentials}
    if current != demo:
        kept.replace(current)
    return current


def demo_file(settings: Settings) -> DemoFile:
    """Return the file that keeps the demo: ``demo.json`` in the folder ``var``."""
    return DemoFile(settings.folder / "demo.json")


def urls_of(settings: Settings) -> DemoUrls:
    """Return the addresses that the configuration says."""
    return DemoUrls(
        base_url=f"http://{settings.server.host}:{settings.server.port}",
        ops_url=f"http://{settings.admin.host}:{settings.admin.port}",
        sandbox_bank_url=settings.sandbox_bank.url,
        sandbox_control_url=settings.sandbox_bank.control_url,
    )


def _fresh(office: AdminContext, identity: IdentityContext, urls: DemoUrls) -> Demo:
    """Choose ids and secrets; nothing exists yet."""
    new_id = office.kernel.new_id
    accounts = {role: {"id": new_id()} for role in contents.ACCOUNTS}
    users = {}
    for name, role in contents.PEOPLE.items():
        password = identity.crypto.opaque.make()[:24]
        users[name] = {"email": f"{name}@example.com", "password": password}
        if role is not Role.VIEWER:
            users[name]["totp_secret"] = identity.crypto.one_time.new_secret()
    return Demo(
        **urls,
        companies={role: {"id": new_id()} for role in contents.COMPANIES},
        accounts=accounts,
        credentials={role: _new_pair(office) for role in contents.CREDENTIALS},
        pix_keys={
            role: [key.public_id(account_id) for key in contents.pix_keys(account_id)]
            for role in contents.WITH_PIX_KEYS
            for account_id in (accounts[role]["id"],)
        },
        charges={
            role: contents.reference(role, accounts[charge.account]["id"])
            for role, charge in contents.CHARGES.items()
        },
        users=users,
    )


def _new_pair(office: AdminContext) -> Pair:
    source = credential_source(office.kernel.keys)
    return Pair(client_id=source.client_id(), client_secret=source.client_secret())


async def _accounts(office: AdminContext, demo: Demo) -> None:
    """Add missing companies and accounts to the store."""
    store, acting = office.kernel.store, office.acting
    for role, holder in contents.COMPANIES.items():
        company = Company(demo["companies"][role]["id"], holder.name, acting.now())
        event = acting.event("company.created", f"company:{company.id}", {"name": holder.name})
        with suppress(AlreadyExists):
            await add_company(store.database, company, event)
    for role, wanted in contents.ACCOUNTS.items():
        account_id, holder = demo["accounts"][role]["id"], contents.COMPANIES[wanted.company]
        sealed = office.kernel.keys.sealer.seal(contents.token(account_id), account_id)
        account = Account(
            id=account_id,
            company_id=demo["companies"][wanted.company]["id"],
            name=f"{holder.name} ({wanted.label})" if wanted.label else holder.name,
            tax_number=holder.tax_number,
            active=wanted.active,
            verified=wanted.verified,
            provider=wanted.provider,
            provider_account=account_id if wanted.provider else "",
            sealed_credentials=sealed if wanted.provider else b"",
            coordinates=contents.coordinates(account_id),
            created_at=acting.now(),
        )
        event = acting.event("account.created", f"account:{account_id}", {"demo": role})
        with suppress(AlreadyExists):
            await store.accounts.add(account, event)


async def _credential(office: AdminContext, demo: Demo, role: str) -> Pair:
    """
    Return a credential that works, or the revoked one; add it to the store if it is missing.

    A new one takes the place of one revoked or rotated, or made under another pepper.
    """
    store, keys, now = office.kernel.store, office.kernel.keys, office.acting.now()
    wanted, pair = contents.CREDENTIALS[role], demo["credentials"][role]
    found = await store.credentials.find(pair["client_id"])
    if found is not None:
        works = keys.digester.matches(pair["client_secret"], found.secrets, now)
        if wanted.revoked or (works and found.revoked_at is None):
            return pair
        pair = _new_pair(office)
    key_id, digest = keys.digester.digest(pair["client_secret"])
    credential = Credential(
        client_id=pair["client_id"],
        company_id=demo["companies"][wanted.company]["id"],
        account_id=demo["accounts"][wanted.account]["id"] if wanted.account else None,
        name=f"demo {role}",
        permissions=wanted.permissions,
        secrets=(SecretDigest(key_id=key_id, digest=digest, created_at=now),),
        created_at=now,
        revoked_at=now if wanted.revoked else None,
    )
    subject = f"credential:{credential.client_id}"
    event = office.acting.event("credential.issued", subject, {"demo": role})
    with suppress(AlreadyExists):  # another process is making the same demo
        await store.credentials.add(credential, event)
    return pair


async def _users(identity: IdentityContext, demo: Demo) -> None:
    """Add missing users to the store, and restore those whose password is not the printed one."""
    users, hashing = identity.stores.users, identity.crypto.hashing
    for name, role in contents.PEOPLE.items():
        printed, now = demo["users"][name], identity.now()
        found = await users.find_by_email(printed["email"])
        if found is not None and await hashing.matches(printed["password"], found.password):
            continue
        user = User(
            id=found.id if found else identity.new_id(),
            email=printed["email"],
            name=f"Demo {name}",
            password=await hashing.make(printed["password"]),
            roles=frozenset({role}),
            created_at=found.created_at if found else now,
            updated_at=now,
        )
        if secret := printed.get("totp_secret"):
            sealed = identity.crypto.sealing.seal(secret, totp_row(user.id))
            user = replace(user, totp=Totp(sealed_secret=sealed, confirmed_at=now))
        word = "user.updated" if found else "user.created"
        event = identity.audit_event("system", word, f"user:{user.id}", demo=role.value)
        with suppress(AlreadyExists):
            await (users.replace(user, event) if found else users.add(user, event))

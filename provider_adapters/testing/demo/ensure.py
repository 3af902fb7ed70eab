"""The demo: created at the sandbox bank and in the store, kept in a file, and its first calls."""

from __future__ import annotations

import json
import os
import shlex
import tempfile
import uuid
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from datetime import date, timedelta
from pathlib import Path
from typing import TypedDict
from urllib.parse import quote

import msgspec
import pyotp

from gateway.app.build_identity import build_identity
from gateway.app.commands.context import AdminContext
from gateway.app.services import credential_source
from gateway.banks.port.refunds import refund_key
from gateway.cli.configuration import sandbox_only
from gateway.companies.model import Company
from gateway.companies.service import add_company
from gateway.config.settings import Settings
from gateway.core.access import Staff
from gateway.core.account import Account, Environment
from gateway.core.audit_context import AuditContext, RuleViolation
from gateway.core.clocks import Now
from gateway.core.rights import Role
from gateway.core.storage import AlreadyExists
from gateway.core.user import Totp
from gateway.credentials.model import Credential
from gateway.identity.context import IdentityContext
from gateway.identity.model import InvitationBody
from gateway.identity.passwords import COST, Cost, PasswordHasher
from gateway.identity.second_factor_codes import totp_row
from gateway.identity.services import IdentityServices
from gateway.security.secrets import SecretDigest
from provider_adapters.testing.bank.control_client import BankControl, ControlRefused
from provider_adapters.testing.demo import contents


class Pair(TypedDict):
    """A credential with its secret in clear: the demo's alone are ever kept so."""

    client_id: str
    client_secret: str


class DemoUrls(TypedDict):
    """Addresses of this deployment's parts, without a trailing slash."""

    base_url: str
    ops_url: str
    sandbox_bank_url: str
    sandbox_control_url: str


class Demo(DemoUrls):
    """
    Everything a first call or a test needs, by role in ``contents``.

    Companies and accounts have an ``id``; ``pix_keys`` are ids of the banking surface, by account;
    users have ``email``, ``password`` and, but for the viewer, ``totp_secret`` of an app.
    """

    companies: dict[str, dict[str, str]]
    accounts: dict[str, dict[str, str]]
    credentials: dict[str, Pair]
    pix_keys: dict[str, list[str]]
    charges: dict[str, str]
    users: dict[str, dict[str, str]]


@dataclass(frozen=True, slots=True)
class DemoFile:
    """The demo in one JSON file, with its secrets; a reader sees the old or the new, never half."""

    path: Path

    def read(self) -> Demo | None:
        """Return the stored demo; None when there is no file."""
        try:
            return msgspec.json.decode(self.path.read_bytes(), type=Demo)
        except FileNotFoundError:
            return None
        except (OSError, msgspec.DecodeError) as problem:
            message = f"{self.path} cannot be read as a demo; remove it to make another"
            raise RuleViolation(message) from problem

    def begin(self, demo: Demo) -> Demo:
        """Keep the first demo; return that of another process if it was faster."""
        written = self._written(demo)
        try:
            self.path.hardlink_to(written)
        except FileExistsError:
            return self.read() or demo
        finally:
            written.unlink()
        return demo

    def replace(self, demo: Demo) -> None:
        """Keep another state of it."""
        self._written(demo).replace(self.path)

    def _written(self, demo: Demo) -> Path:
        text = msgspec.json.format(msgspec.json.encode(demo), indent=2) + b"\n"
        return write_beside(self.path, text, 0o600)


def write_beside(file: Path, content: bytes, mode: int) -> Path:
    """Write a file that can replace another in one step; RuleViolation if that is not possible."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        number, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}-")
        with os.fdopen(number, "wb") as written:
            written.write(content)
            written.flush()
            os.fsync(number)
            os.fchmod(number, mode)
    except OSError as problem:
        message = f"{file} cannot be written: {problem.strerror}"
        raise RuleViolation(message) from problem
    return Path(name)


def curl_lines(demo: Demo, today: date, reference: str = "") -> list[str]:
    """
    Write one ``curl`` per banking operation, in the order of contract 4.1.

    Above each stands a comment with its number, by which documents refer to it. ``today`` is in
    UTC; ``reference`` is that of the payout, a fresh one when empty.
    """
    reference = reference or f"first-{uuid.uuid4().hex[:8]}"
    charge = quote(demo["charges"]["paid"], safe="")
    payout = f"/withdraw/{quote(reference, safe='')}"
    window = f"?init={today - timedelta(days=6)}&ends={today}"
    calls = [
        _curl(demo, "the balance, live from the bank", "/balance"),
        _curl(demo, "the account's PIX keys", "/pix/keys"),
        _curl(demo, "one of them", f"/pix/keys/{demo['pix_keys']['main'][0]}"),
        _curl(demo, "a charge, with the text to copy and paste", f"/pix/qrcode/{charge}"),
        _curl(demo, "the payment of that charge", f"/pix/transactions/{charge}"),
        _curl(demo, "the statement of a week", f"/transactions{window}"),
        _curl(demo, "pay R$ 10.50 to a PIX key", "/withdraw", _order(reference, today)),
        _curl(demo, "that payout: a moment later it is paid", payout),
        _curl(demo, "the payouts of a week", f"/withdraws{window}"),
        _curl(demo, "cancelling is not available: always 501", payout, ["-X", "DELETE"]),
    ]
    return [f"# {number}. {call}" for number, call in enumerate(calls, 1)]


def _curl(demo: Demo, meaning: str, path: str, options: list[str] | None = None) -> str:
    pair = demo["credentials"]["full"]
    url = f"{demo['base_url']}/baas/v1/account/{demo['accounts']['main']['id']}{path}"
    user = f"{pair['client_id']}:{pair['client_secret']}"
    return f"{meaning}\n{shlex.join(['curl', '-sS', '-u', user, *(options or []), url])}"


def _order(reference: str, today: date) -> list[str]:
    body = (
        f'{{"method": "pix", "reference": {json.dumps(reference)}, "value": 10.50, '
        f'"date": "{today}", '
        '"destination": {"name": "Maria Silva", "tax_number": "529.982.247-25", '
        '"key_type": "email", "key": "maria@example.com"}}'
    )
    return ["-H", "Content-Type: application/json", "-d", body]


@asynccontextmanager
async def controlling(url: str) -> AsyncIterator[BankControl]:
    """Open a bank's control interface; RuleViolation if the bank is away or refuses a call."""
    try:
        async with BankControl(url) as control:
            yield control
    except ControlRefused as problem:
        raise RuleViolation(str(problem)) from problem


async def ensure_at_bank(control: BankControl, demo: Demo, now: Now) -> None:
    """Make missing parts of the demo at the bank; safe to repeat."""
    ids = {role: account["id"] for role, account in demo["accounts"].items()}
    for role, account in contents.ACCOUNTS.items():
        if account.provider:
            opened = {
                "id": ids[role],
                "token": contents.token(ids[role]),
                "account": contents.coordinates(ids[role]).account,
                "balance": account.opening,
            }
            holder = contents.COMPANIES[account.company]
            await _add(control, "accounts", body={**opened, **holder._asdict()})
    for role in contents.WITH_PIX_KEYS:
        for key in contents.pix_keys(ids[role]):
            body = {"type": key.type.value, "key": key.key, "id": key.provider_id}
            await _add(control, "accounts", ids[role], "keys", body=body)
    for role, charge in contents.CHARGES.items():
        account_id = ids[charge.account]
        wanted = {
            "reference": demo["charges"][role],
            "state": charge.state,
            "type": "Static" if charge.reusable else "Dynamic",
            "value": charge.value,
            "reusable": charge.reusable,
            "description": f"Demo: {role}",
        }
        made = await _add(control, "accounts", account_id, "charges", body=wanted)
        # No reference prevents a second history: the charge shows that there is one.
        if made and charge.reusable:
            await _history(control, account_id, now)


async def _add(control: BankControl, *segments: str, body: Mapping[str, object]) -> bool:
    """Create a record; False when it exists."""
    try:
        await control.post(*segments, body=body)
    except ControlRefused as problem:
        if problem.code not in {"ALREADY_EXISTS", "KEY_IN_USE", "REFERENCE_IN_USE"}:
            raise
        return False
    return True


async def _history(control: BankControl, account_id: str, now: Now) -> None:
    """Make the statement of some days, with a refund under the key that the gateway would use."""
    for each in contents.HISTORY:
        is_pix = each.kind == contents.PIX_IN
        booked = {
            "kind": each.kind,
            "value": each.value,
            "payer" if is_pix else "counterparty": each.other._asdict(),
            "description": each.description,
            "at": f"{now() - each.ago:%Y-%m-%dT%H:%M:%S}.000Z",
        }
        where = "incoming" if is_pix else "movements"
        made = await control.post("accounts", account_id, where, body=booked)
        if each.refunded is not None:
            reference = contents.reference("refund", account_id)
            refund = {
                "key": refund_key(Environment.SANDBOX, account_id, reference),
                "reference": reference,
                "e2e_id": made["e2e_id"],
                "value": each.refunded,
                "description": "Desconto esquecido",
            }
            await control.post("accounts", account_id, "refunds", body=refund)
    fee = {"kind": "fee", "value": contents.FEE}
    await control.post("accounts", account_id, "movements", body=fee)


async def made_demo(office: AdminContext, urls: DemoUrls | None = None, cost: Cost = COST) -> Demo:
    """
    Make missing parts of the demo, and return it; ids and secrets stay the same.

    The file comes first: after a crash the next run finishes its entries. ``urls`` are
    the configuration's by default; only tests have a reason for a lower ``cost``.

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
        async with controlling(urls["sandbox_control_url"]) as control:
            await ensure_at_bank(control, demo, office.acting.now)
        await _accounts(office, demo)
        credentials = {role: await _credential(office, demo, role) for role in contents.CREDENTIALS}
        await _users(identity, demo)
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
            users[name]["totp_secret"] = pyotp.random_base32()
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
    store, acting = office.kernel.store, office.acting
    for role, holder in contents.COMPANIES.items():
        company = Company(demo["companies"][role]["id"], holder.name, acting.now(), "")
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
    # a demo of an earlier version lacks newer roles
    wanted, pair = contents.CREDENTIALS[role], demo["credentials"].get(role) or _new_pair(office)
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
        limits=wanted.limits,
    )
    subject = f"credential:{credential.client_id}"
    event = office.acting.event("credential.issued", subject, {"demo": role})
    with suppress(AlreadyExists):  # another process is making the same demo
        await store.credentials.add(credential, event)
    return pair


async def _users(identity: IdentityServices, demo: Demo) -> None:
    """Add missing users to the store, and restore those whose password is not the printed one."""
    context, system = identity.context, Staff(AuditContext("system", identity.context.now))
    users, crypto = context.stores.users, context.crypto
    for name, role in contents.PEOPLE.items():
        printed, now = demo["users"][name], context.now()
        found = await users.find_by_email(printed["email"])
        if found is None:
            wanted = InvitationBody(email=printed["email"], name=f"Demo {name}", roles=[role])
            try:
                found = await identity.users.create(system, wanted)
            except RuleViolation:  # another process is making the same demo
                continue
        elif await crypto.hashing.matches(printed["password"], found.password):
            continue
        totp = None
        if secret := printed.get("totp_secret"):
            sealed = crypto.sealing.seal(secret, totp_row(found.id))
            totp = Totp(sealed_secret=sealed, confirmed_at=now)
        user = replace(
            found,
            name=f"Demo {name}",
            password=await crypto.hashing.make(printed["password"]),
            roles=frozenset({role}),
            companies=frozenset(),
            active=True,
            totp=totp,
            factor_reset=False,
            updated_at=now,
        )
        event = context.audit_event("system", "user.updated", f"user:{user.id}", demo=role.value)
        await users.replace(user, event)

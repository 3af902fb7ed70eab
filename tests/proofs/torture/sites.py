"""What pays: sites with their store, their gateways, and an account for every kind of bank."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from yarl import URL

from gateway.app.commands.context import AdminContext
from gateway.app.commands.store import opened_store
from gateway.app.kernel import Kernel
from gateway.app.services import Services, build_credentials
from gateway.cli.configuration import settings_of
from gateway.companies.model import CompanyRequest
from gateway.core.access import Staff
from gateway.core.audit_context import AuditContext
from gateway.core.permissions import EVERY_PERMISSION
from gateway.credentials.model import CredentialBody, Issued
from gateway.security.keys import load_keys
from provider_adapters.testing import simulators
from provider_adapters.testing.bank.accounts import PayoutKind
from provider_adapters.testing.bank.control_client import BankControl
from provider_adapters.testing.bank.dialect import BankAddress, Simulator
from provider_adapters.testing.commands.banks import running_bank
from provider_adapters.testing.commands.demo_bank import account_request
from tests.proofs.torture.processes import Command
from tests.world.gateway.world import basic

_TAX_NUMBER = "11222333000181"
NAMED = "bank-by-name"
"""The provider that needs a name server; it is the same bank."""
PATIENT = {
    "connect_timeout_s": 50.0,
    "waiting_s": 50.0,
    "read_timeout_s": 60.0,
    "payout_timeout_s": 60.0,
}
"""For a test that expects a good answer: a busy machine must not look like a bank that fails."""
LOSING = {
    "connect_timeout_s": 2.5,
    "waiting_s": 2.5,
    "read_timeout_s": 3.0,
    "payout_timeout_s": 3.0,
}
"""For one in which the bank keeps some answers to itself, and the others must come in time."""
_FREE = {"rate": 1_000_000, "burst": 1_000_000}


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """An account a partner pays from, and the header that lets the partner in."""

    id: str
    provider: str
    kind: str
    authorization: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetBank:
    """
    The simulated bank that is paid from, as gateways reach it.

    Attributes:
        address: Its own; gateways reach it at another port where there is a road between.
    """

    simulator: Simulator
    address: BankAddress

    def through(self, port: int) -> TargetBank:
        url = str(URL(self.address.url).with_port(port)).rstrip("/")
        return TargetBank(
            simulator=self.simulator, address=msgspec.structs.replace(self.address, url=url)
        )

    def named(self, name: str) -> TargetBank:
        urls = {"url": self.address.url, "token_url": self.address.token_url}
        by_name = {
            field: str(URL(url).with_host(name)).rstrip("/") for field, url in urls.items() if url
        }
        return TargetBank(
            simulator=self.simulator, address=msgspec.structs.replace(self.address, **by_name)
        )


def target_bank(name: str, folder: Path) -> TargetBank:
    return TargetBank(simulator=simulators.find(name), address=running_bank(folder, name))


@dataclass(slots=True, kw_only=True)
class Site:
    """
    One store and the gateways on it.

    Attributes:
        store: Its address, around every road.
        commands: The gateways, each with its public address.
        workers: What follows up where the gateways do not.
    """

    name: str
    store: str
    config: Path
    commands: dict[str, Command]
    accounts: list[Account]
    workers: list[Command]


def write_config(file: Path, store: str, bank: TargetBank, **changed: object) -> None:
    """Write the configuration of a site, in which time is short and nothing is scarce."""
    document = {
        "environment": "sandbox",
        "var": str(file.parent / "var"),
        "server": {
            "port": "${PIXGATE_PORT:-0}",
            "connections_per_address": 2_000,
            "drain_accept_s": 0,
            "drain_s": 90,
        },
        "admin": {"port": "${PIXGATE_OPS_PORT:-0}"},
        "database": {"url": store, "migrate": "always", "auth_timeout_s": 2.0},
        "limits": {"loop_lag_s": 3_600},
        "ratelimits": {"read": _FREE, "payout": _FREE, "company": _FREE},
        "payouts": {
            "look_first": "${PIXGATE_LOOK_FIRST:-false}",
            "hold_above": "${PIXGATE_HOLD_ABOVE:-1000000.00}",
            "hold_s": 20,
        },
        "providers": providers(bank),
        **changed,
    }
    file.write_bytes(msgspec.yaml.encode(document))


def providers(bank: TargetBank, **changed: object) -> dict[str, object]:
    """Describe the bank once for each kind of account it has."""
    return {
        f"bank-{kind}": _provider(bank, more) | changed
        for kind, more in bank.simulator.kinds.items()
    }


def named_provider(bank: TargetBank, name: str) -> dict[str, object]:
    """Describe the bank once more, by a name; its accounts are of the kind that asks for most."""
    provider = _provider(bank.named(name), bank.simulator.kinds[named_kind(bank)])
    # Connecting takes longer than a look-up is waited for, which is a second.
    patient = {"connect_timeout_s": 2.0, "read_timeout_s": 2.5, "payout_timeout_s": 2.5}
    return {NAMED: provider | patient}


def named_kind(bank: TargetBank) -> PayoutKind:
    """Return the last kind of account that the bank has; the sandbox bank's ignores our keys."""
    return list(bank.simulator.kinds)[-1]


def _provider(bank: TargetBank, more: Mapping[str, object]) -> dict[str, object]:
    made = bank.simulator.provider(bank.address)
    return {
        **made,
        "settings": {**bank.simulator.settings(bank.address), **more},
        "connect_timeout_s": 0.5,
        "read_timeout_s": 1.0,
        "payout_timeout_s": 1.5,
        "waiting_s": 0.5,
        "account_limits": {"rates": {"*": None}},
        "breaker": {
            "consecutive": 8,
            "share": 0.8,
            "open_s": 0.3,
            "longest_open_s": 1.0,
        },
    }


async def furnish(config: Path, control: BankControl, site: str, bank: TargetBank) -> list[Account]:
    settings = settings_of(config)
    keys = load_keys(settings)
    async with opened_store(settings, migrate=True, keys=keys) as store:
        acting = AuditContext("torture", lambda: datetime.now(UTC))
        kernel = Kernel(settings=settings, store=store, keys=keys, now=acting.now)
        office = AdminContext(kernel, acting)
        company = await Services(kernel).companies.create(
            Staff(acting), CompanyRequest(name=f"Torture {site}")
        )
        issued = await build_credentials(office.kernel).issue(
            Staff(office.acting),
            CredentialBody(
                name="torture",
                company_id=company.id,
                permissions=[str(each) for each in EVERY_PERMISSION],
            ),
        )
        assert isinstance(issued, Issued)
        pair = {
            "client_id": issued.credential.client_id,
            "client_secret": issued.client_secret,
        }
        kinds = {f"bank-{kind}": kind for kind in bank.simulator.kinds}
        if NAMED in settings.providers:
            kinds[NAMED] = named_kind(bank)
        return [
            Account(
                id=await _account(office, control, company.id, provider, kind),
                provider=provider,
                kind=kind,
                authorization=basic(pair),
            )
            for provider, kind in kinds.items()
        ]


async def _account(
    office: AdminContext, control: BankControl, company_id: str, provider: str, kind: str
) -> str:
    opened = await control.post(
        "accounts",
        body={
            "name": f"Torture {provider}",
            "tax_number": _TAX_NUMBER,
            "payout_kind": kind,
            "balance": 900_000_000,
        },
    )
    accounts = Services(office.kernel).accounts
    wanted = account_request(company_id, provider, opened)
    return (await accounts.create(Staff(office.acting), *wanted)).id

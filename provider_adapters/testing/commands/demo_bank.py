"""``pixgate demo --bank``: an account at a simulated bank, attached to this gateway."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from gateway.app.build_bank import connect
from gateway.app.build_callbacks import path_of, prover_of, secrets_of
from gateway.cli.configuration import sandbox_only, settings_of
from gateway.cli.context import AdminContext, reached
from gateway.config.settings import Settings
from gateway.domain.accounts.accounts import BankCoordinates
from gateway.domain.accounts.credentials import EVERY_PERMISSION
from gateway.domain.bank.capabilities import PortCall
from gateway.domain.bank.provider_callbacks import CallbackOrder
from gateway.domain.kernel.money import Money
from gateway.operations.accounts.accounts import AccountOrder, ProviderChoice
from gateway.operations.accounts.credentials import CredentialOrder
from gateway.operations.backoffice.callbacks.at_banks import CallbackRegistrations
from gateway.operations.kernel.audit_context import RuleViolation
from gateway.runtime.kernel import SilentObserver
from gateway.telemetry import trace
from provider_adapters.testing import simulators
from provider_adapters.testing.bank.control.client import BankControl, Reply
from provider_adapters.testing.bank.simulator import BankAddress
from provider_adapters.testing.commands.bank_control import controlling
from provider_adapters.testing.commands.banks import FOLDER, BankFolder
from provider_adapters.testing.commands.provider_block import block, write_provider
from provider_adapters.testing.demo.document import Pair

_NAME: Final = "Loja Exemplo Ltda"
_TAX_NUMBER: Final = "11222333000181"
_BALANCE: Final = Money(100_000_00)
CHARGE: Final = "demo00000000000000000000000001"
"""The reference of the charge that an attached account has: one that is a txid, as banks of API Pix
have no other."""


async def attach(office: AdminContext, bank: str) -> Mapping[str, object]:
    """
    Open an account at a simulated bank, and attach it to a company of its own.

    The bank must run, and the configuration must have a provider for it. What is returned names
    both accounts, the credential, a charge that is paid there, and whether the bank has been told
    where its callbacks go.

    Raises:
        RuleViolation: one of them is not so; or this is production.
    """
    settings = office.kernel.settings
    sandbox_only(settings)
    address = BankFolder(settings.folder / FOLDER).address(bank)
    provider = provider_of(settings, bank, address)
    async with controlling(address.control_url) as control:
        opened = await open_account(control)
        await _furnish(control, str(opened["id"]))
    account_id, credential = await _attached(office, provider, opened)
    return {
        "bank": bank,
        "provider": provider,
        "account_id": account_id,
        "bank_account": str(opened["id"]),
        "control_url": address.control_url,
        "credential": credential,
        "charge": CHARGE,
        "callbacks": await _told(office, provider, account_id),
    }


def configure(file: Path, bank: str) -> str:
    """
    Write a provider for a running bank into a configuration file that has none.

    Returns:
        Its name; empty where there was one.

    Raises:
        RuleViolation: the bank does not run; or the file cannot be changed so.
    """
    settings = settings_of(file)
    sandbox_only(settings)
    address = BankFolder(settings.folder / FOLDER).address(bank)
    if _configured(settings, bank, address):
        return ""
    name = _free_name(settings, bank)
    write_provider(file, name, simulators.find(bank).provider(address))
    return name


def provider_of(settings: Settings, bank: str, address: BankAddress) -> str:
    """
    Return the provider that is configured for a running bank.

    Raises:
        RuleViolation: there is none; the message says what to add.
    """
    found = _configured(settings, bank, address)
    if found is not None:
        return found
    lines = block(_free_name(settings, bank), simulators.find(bank).provider(address))
    message = (
        f"the configuration has no provider for the simulated bank {bank}. Add this to it and"
        f" start the gateway again, or have it written by --configure:\n\n{lines}"
    )
    raise RuleViolation(message)


def _configured(settings: Settings, bank: str, address: BankAddress) -> str | None:
    """Return the first provider with a bank's adapter and address."""
    simulator = simulators.find(bank)
    wanted = simulator.settings(address).items()
    for name, provider in settings.providers.items():
        if provider.adapter == simulator.adapter and wanted <= provider.settings.items():
            return name
    return None


def _free_name(settings: Settings, bank: str) -> str:
    """Return a name for a bank's provider that no other has."""
    return f"{bank}-simulated" if bank in settings.providers else bank


async def open_account(control: BankControl, **wanted: object) -> Reply:
    """Open an account at a simulated bank; the answer has its id and ``credentials``."""
    body = {"name": _NAME, "tax_number": _TAX_NUMBER, "balance": _BALANCE, **wanted}
    return await control.post("accounts", body=body)


async def _furnish(control: BankControl, account_id: str) -> None:
    """Let there be something to read: a key, a charge that is paid, money that came in."""
    await control.post("accounts", account_id, "keys", body={"type": "evp"})
    charge = {"reference": CHARGE, "value": Money(10_50), "state": "paid"}
    await control.post("accounts", account_id, "charges", body=charge)
    await control.post("accounts", account_id, "incoming", body={"value": Money(25_00)})


async def _attached(office: AdminContext, provider: str, opened: Reply) -> tuple[str, Pair]:
    """Make a company, its account at the bank, and a credential that may do everything."""
    company = await office.admin.companies.create(f"Demo {provider}")
    account = await office.admin.accounts.create(account_order(company.id, provider, opened))
    issued = await office.admin.credentials.issue(
        CredentialOrder(
            name=f"demo {provider}", company_id=company.id, permissions=frozenset(EVERY_PERMISSION)
        )
    )
    pair = Pair(client_id=issued.credential.client_id, client_secret=issued.client_secret)
    return account.id, pair


def account_order(company_id: str, provider: str, opened: Reply) -> AccountOrder:
    """Say what account of ours stands for one that was opened at a bank."""
    given: str | Mapping[str, str] = opened["credentials"]
    return AccountOrder(
        company_id=company_id,
        name=str(opened["name"]),
        tax_number=str(opened["tax_number"]),
        active=True,
        verified=True,
        provider=ProviderChoice(name=provider, account=str(opened["id"]), credentials=given),
        coordinates=BankCoordinates(
            bank_number=str(opened["bank_number"]),
            ispb=str(opened["ispb"]),
            branch=str(opened["branch"]),
            account=str(opened["account"]).replace("-", ""),
        ),
    )


async def _told(office: AdminContext, provider: str, account_id: str) -> bool:
    """Have the bank send its callbacks to this gateway, where its interface allows that."""
    kernel = office.kernel
    adapter = connect(provider, kernel.settings, SilentObserver()).adapter
    can_be_told = PortCall.REGISTER_CALLBACK in adapter.capabilities.calls
    if prover_of(adapter) is None or not can_be_told:
        return False
    derivation = kernel.keys.derivation
    secrets = secrets_of(provider, kernel.settings, derivation).shared_or_derived
    order = CallbackOrder(
        url=kernel.settings.origin + path_of(provider, derivation),
        secret=secrets[0] if secrets else b"",
    )
    async with reached(office) as banks:
        trace.begin(trace.new_trace_id())
        registrations = CallbackRegistrations(
            accounts=kernel.store.accounts,
            banks=banks,
            audit=kernel.store.audit,
            acting=office.acting,
        )
        await registrations.register(await registrations.account(account_id), order)
    return True

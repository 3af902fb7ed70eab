"""``pixgate demo --bank``: an account at a simulated bank, attached to this gateway."""

from __future__ import annotations

import os
import re
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import yaml

from gateway.accounts.model import AccountRequest, ProviderRequest
from gateway.app.banks import connect
from gateway.app.commands.context import AdminContext
from gateway.app.kernel import SilentObserver
from gateway.app.services import Services, build_credentials
from gateway.banks.port.capabilities import PortCall
from gateway.callbacks.cli import register_callback
from gateway.cli.configuration import settings_of
from gateway.companies.model import CompanyRequest
from gateway.config.reading import ConfigError, settings_from
from gateway.core.access import Staff
from gateway.core.audit_context import RuleViolation
from gateway.core.money import Money
from gateway.core.permissions import EVERY_PERMISSION
from gateway.credentials.model import CredentialBody, Issued
from provider_adapters.testing import simulators
from provider_adapters.testing.bank.control_client import BankControl, Reply
from provider_adapters.testing.commands.banks import FOLDER, running_bank
from provider_adapters.testing.demo.contents import LOJA
from provider_adapters.testing.demo.ensure import Pair, controlling, write_beside

_PROVIDERS: Final = re.compile(r"^providers:[ \t]*(#.*)?\n", re.MULTILINE)
CHARGE: Final = "demo00000000000000000000000001"
"""Reference of an attached account's charge. It is a txid: banks of API Pix have no other."""


def provider_for(file: Path, bank: str, *, configure: bool) -> str:
    """
    Return the provider of a configuration file that reaches a running simulated bank.

    Raises:
        RuleViolation: the bank does not run; or the file has no such provider, and the message says
            the lines to add. With ``configure`` they are written instead, if the file allows that.
    """
    settings, simulator = settings_of(file), simulators.find(bank)
    address = running_bank(settings.folder / FOLDER, bank)
    wanted = simulator.settings(address).items()
    for name, each in settings.providers.items():
        if each.adapter == simulator.adapter and wanted <= each.settings.items():
            return name
    name = f"{bank}-simulated" if bank in settings.providers else bank
    provider = simulator.provider(address)
    if configure:
        write_provider(file, name, provider)
        return name
    lines = yaml.safe_dump({"providers": {name: provider}}, sort_keys=False)
    message = (
        f"the configuration has no provider for the simulated bank {bank}. Add this to it and"
        f" start the gateway again, or have it written by --configure:\n\n{lines}"
    )
    raise RuleViolation(message)


def write_provider(file: Path, name: str, provider: Mapping[str, object]) -> None:
    """Write a provider as the first of a file, or raise RuleViolation; all else stays as it was."""
    text = file.read_text(encoding="utf-8")
    lines = textwrap.indent(yaml.safe_dump({name: dict(provider)}, sort_keys=False), "  ")
    written = _PROVIDERS.sub(lambda found: found[0] + lines, text, count=1)
    try:
        was, now = (settings_from(each, os.environ).providers for each in (text, written))
    except ConfigError:
        was = now = {}
    if now.keys() - was.keys() != {name}:
        message = f"{file} has no plain section of providers to write into"
        raise RuleViolation(message)
    write_beside(file, written.encode(), file.stat().st_mode).replace(file)


async def attach(office: AdminContext, bank: str, provider: str) -> Mapping[str, object]:
    """
    Open an account at a running simulated bank, and attach it to a company of its own.

    The account has a key, a paid charge and a payment received. The answer names both accounts, a
    credential that may do everything, the charge, and whether callbacks are registered.

    Raises:
        RuleViolation: the bank does not run, or refuses.
    """
    address = running_bank(office.kernel.settings.folder / FOLDER, bank)
    async with controlling(address.control_url) as control:
        opened = await open_account(control)
        there = str(opened["id"])
        await control.post("accounts", there, "keys", body={"type": "evp"})
        charge = {"reference": CHARGE, "value": Money(10_50), "state": "paid"}
        await control.post("accounts", there, "charges", body=charge)
        await control.post("accounts", there, "incoming", body={"value": Money(25_00)})
    who, kernel = Staff(office.acting), office.kernel
    company = await Services(kernel).companies.create(who, CompanyRequest(name=f"Demo {provider}"))
    account = await Services(kernel).accounts.create(
        who, *account_request(company.id, provider, opened)
    )
    issued = await build_credentials(kernel).issue(
        who,
        CredentialBody(
            name=f"demo {provider}",
            company_id=company.id,
            permissions=[str(each) for each in EVERY_PERMISSION],
        ),
    )
    if not isinstance(issued, Issued):  # no command waits for a second person
        raise TypeError(issued)
    return {
        "bank": bank,
        "provider": provider,
        "account_id": account.id,
        "bank_account": there,
        "control_url": address.control_url,
        "credential": Pair(
            client_id=issued.credential.client_id, client_secret=issued.client_secret
        ),
        "charge": CHARGE,
        "callbacks": await _registered(office, provider, account.id),
    }


async def open_account(control: BankControl, **wanted: object) -> Reply:
    """Open an account at a simulated bank; the answer has its id and ``credentials``."""
    body = {**LOJA._asdict(), "balance": Money(100_000_00), **wanted}
    return await control.post("accounts", body=body)


def account_request(
    company_id: str, provider: str, opened: Reply
) -> tuple[AccountRequest, ProviderRequest]:
    """Return the request for an account of ours with an account opened at a bank."""
    wanted = AccountRequest(
        company_id=company_id,
        name=str(opened["name"]),
        tax_number=str(opened["tax_number"]),
        active=True,
        verified=True,
        bank_number=str(opened["bank_number"]),
        ispb=str(opened["ispb"]),
        branch=str(opened["branch"]),
        account=str(opened["account"]).replace("-", ""),
    )
    bank = ProviderRequest(
        provider=provider, provider_account=str(opened["id"]), credentials=opened["credentials"]
    )
    return wanted, bank


async def _registered(office: AdminContext, provider: str, account_id: str) -> bool:
    """Have the bank send its callbacks here; False where its interface has no such call."""
    adapter = connect(provider, office.kernel.settings, SilentObserver()).adapter
    if PortCall.REGISTER_CALLBACK not in adapter.capabilities.calls:
        return False
    await register_callback(office, account_id)
    return True

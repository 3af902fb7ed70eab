"""The demo, made with real parts: this store, this bank, and a file for its owner alone."""

from __future__ import annotations

from gateway.app.build_identity import build_identity
from gateway.cli.configuration import sandbox_only
from gateway.cli.context import AdminContext
from gateway.config.settings import Settings
from gateway.operations.kernel.audit_context import RuleViolation
from gateway.security.identity.passwords import COST, Cost, PasswordHasher
from provider_adapters.testing.commands.bank_control import controlling
from provider_adapters.testing.demo.document import Demo, DemoFile, DemoUrls
from provider_adapters.testing.demo.ensure import DemoParts, ensure_demo

FILE = "demo.json"
"""The demo with its secrets, in the folder ``var``, mode 0600."""


async def made_demo(office: AdminContext, urls: DemoUrls | None = None, cost: Cost = COST) -> Demo:
    """
    Make or find the demo of an opened store; the sandbox bank must be running.

    Args:
        office: The store, and who acts on it.
        urls: Where everything listens, if not where the configuration says.
        cost: Of a password's digest; only tests have a reason to take less.

    Raises:
        RuleViolation: in production, or when the bank does not answer or refuses.
        StoreUnavailable: as every store does.
    """
    settings = office.kernel.settings
    sandbox_only(settings)
    listening = urls or urls_of(settings)
    identity = build_identity(
        office.kernel, PasswordHasher(office.kernel.keys.password_peppers, cost)
    )
    async with controlling(listening["sandbox_control_url"]) as control:
        parts = DemoParts(
            office=office,
            people=identity.context,
            bank=control,
            kept=DemoFile(settings.folder / FILE),
            urls=listening,
        )
        try:
            return await ensure_demo(parts)
        finally:
            await identity.close()


def kept_demo(settings: Settings) -> Demo:
    """
    Return the demo as it was made.

    Raises:
        RuleViolation: in production, or where none was made yet.
    """
    sandbox_only(settings)
    kept = DemoFile(settings.folder / FILE).read()
    if kept is None:
        problem = "there is no demo yet: `pixgate demo` makes it"
        raise RuleViolation(problem)
    return kept


def urls_of(settings: Settings) -> DemoUrls:
    """Return where the configuration says that everything listens."""
    return DemoUrls(
        base_url=f"http://{settings.server.host}:{settings.server.port}",
        ops_url=f"http://{settings.admin.host}:{settings.admin.port}",
        sandbox_bank_url=settings.sandbox_bank.url,
        sandbox_control_url=settings.sandbox_bank.control_url,
    )

"""
The sandbox bank as the gateway asks for it: in its own process, controlled, and with the demo.

The gateway loads this module by the entry point ``sandbox`` of ``pixgate.simulators``, and in the
sandbox alone. Each function imports its banks and commands itself.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from gateway.app.banks import path_of, secrets_of
from gateway.app.kernel import Kernel
from gateway.config.settings import Settings
from gateway.core.audit_context import AuditContext, RuleViolation
from gateway.sandbox.control import ABSENT, AWAY, Reply
from gateway.security.keys import Derivation

if TYPE_CHECKING:
    from provider_adapters.testing.bank.callbacks import CallbackListener
    from provider_adapters.testing.bank.control_client import BankControl, ControlRefused
    from provider_adapters.testing.demo.ensure import DemoUrls
    from provider_adapters.testing.sandbox import SandboxBank


def make_bank(
    settings: Settings,
    derivation: Derivation,
    now: Callable[[], datetime],
    gateway: Callable[[], str],
) -> SandboxBank:
    """Make the bank that is configured; nothing is opened. See ``listener_of``."""
    from provider_adapters.testing.sandbox import SandboxBank

    bank = settings.sandbox_bank
    return SandboxBank(
        db_path=str(settings.bank_file),
        host=bank.host,
        port=bank.port,
        control_port=bank.control_port,
        settle_after_s=bank.settle_after_s,
        now=now,
        listener=listener_of(settings, derivation, gateway),
    )


def listener_of(
    settings: Settings, derivation: Derivation, gateway: Callable[[], str]
) -> CallbackListener | None:
    """
    Return where the sandbox bank sends callbacks; None if no provider has its adapter.

    ``gateway`` returns our address as the bank reaches it; it is called for each callback.
    """
    from provider_adapters.testing.bank.callbacks import CallbackListener

    providers = settings.providers.items()
    name = next((name for name, each in providers if each.adapter == "sandbox"), None)
    if name is None:
        return None
    path = path_of(name, derivation)
    secret = secrets_of(name, settings, derivation).shared_or_derived[0]
    return CallbackListener(lambda: gateway() + path, secret.hex())


@dataclass(frozen=True, slots=True)
class ControlPort:
    """``SandboxControl`` over loopback; a connection for each call, which people make by hand."""

    url: Callable[[], str]

    async def get(self, *segments: str) -> Reply:
        """Read something."""
        return await self._with(lambda control: control.get(*segments))

    async def post(
        self, *segments: str, body: Mapping[str, object], query: Mapping[str, str] | None = None
    ) -> Reply:
        """Make something happen."""
        return await self._with(lambda control: control.post(*segments, body=body, query=query))

    async def delete(self, *segments: str) -> Reply:
        """Delete something."""
        return await self._with(lambda control: control.delete(*segments))

    async def _with(self, call: Callable[[BankControl], Awaitable[Reply]]) -> Reply:
        """Call the control interface; raises ``RuleViolation`` if it refuses or no bank runs."""
        from provider_adapters.testing.bank.control_client import BankControl, ControlRefused

        try:
            async with BankControl(self.url()) as control:
                return await call(control)
        except ControlRefused as problem:
            raise _refusal(problem) from problem


def _refusal(problem: ControlRefused) -> RuleViolation:
    """Return a refusal of the bank's, in its own words where there are some."""
    if problem.code == "BALANCE_LIMIT":
        message = "the account would hold more than an amount can be"
        return RuleViolation(message, "balance_limit", field="value")
    if problem.code == "NOT_FOUND":
        return RuleViolation("the bank knows no such thing", ABSENT)
    if not problem.code:
        return RuleViolation("the sandbox bank does not answer", AWAY)
    return RuleViolation(problem.why or "the sandbox bank refuses")


async def first_calls(kernel: Kernel, actor: str, urls: DemoUrls) -> Sequence[str]:
    """Make or find the demo, and say how the first calls are made; see ``made_demo``."""
    from gateway.app.commands.context import AdminContext
    from provider_adapters.testing.commands.demo import summary
    from provider_adapters.testing.demo.ensure import made_demo

    office = AdminContext(kernel, AuditContext(actor, kernel.now))
    return summary(await made_demo(office, urls), kernel.now().date())

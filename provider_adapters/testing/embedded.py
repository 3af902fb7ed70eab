"""
The sandbox bank as the gateway asks for it: in its own process, controlled, and with the demo.

The gateway loads this module by the entry point ``sandbox`` of ``pixgate.simulators``, and in the
sandbox alone. Each function loads what it needs: banks, commands.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final

from gateway.app.build_callbacks import path_of, secrets_of
from gateway.config.settings import Settings
from gateway.operations.backoffice.money.sandbox_tools import Reply
from gateway.operations.kernel.audit_context import AuditContext, RuleViolation
from gateway.runtime.kernel import Kernel
from gateway.security.keys import Derivation

if TYPE_CHECKING:
    from provider_adapters.testing.bank.callbacks import CallbackListener
    from provider_adapters.testing.bank.control.client import BankControl
    from provider_adapters.testing.demo.document import DemoUrls
    from provider_adapters.testing.sandbox.dialect import SandboxBank

_ADAPTER: Final = "sandbox"


def make_bank(
    settings: Settings,
    derivation: Derivation,
    now: Callable[[], datetime],
    gateway: Callable[[], str] | None,
) -> SandboxBank:
    """
    Make the bank that is configured; nothing is opened.

    Args:
        settings: Of the gateway that it tells of what happens.
        derivation: Its keys.
        now: The wall clock, aware UTC.
        gateway: See ``listener_of``; None tells nobody.
    """
    from provider_adapters.testing.sandbox.dialect import SandboxBank

    bank = settings.sandbox_bank
    listener = None if gateway is None else listener_of(settings, derivation, gateway)
    return SandboxBank(
        db_path=str(settings.bank_file),
        host=bank.host,
        port=bank.port,
        control_port=bank.control_port,
        settle_after_s=bank.settle_after_s,
        now=now,
        listener=listener,
    )


def listener_of(
    settings: Settings, derivation: Derivation, gateway: Callable[[], str]
) -> CallbackListener | None:
    """
    Say where the sandbox bank tells a gateway of what happens; None where no provider is its.

    Args:
        settings: Of the gateway that is told.
        derivation: Its keys.
        gateway: Its address as the bank reaches it, without a slash at the end;
            asked for each time.
    """
    from provider_adapters.testing.bank.callbacks import CallbackListener

    providers = settings.providers.items()
    name = next((name for name, each in providers if each.adapter == _ADAPTER), None)
    if name is None:
        return None
    path = path_of(name, derivation)
    secret = secrets_of(name, settings, derivation).shared_or_derived[0]
    return CallbackListener(lambda: gateway() + path, secret.hex())


@dataclass(frozen=True, slots=True)
class ControlPort:
    """
    ``SandboxControl`` over loopback; a connection for each call, which people make by hand.

    Attributes:
        url: Where the bank is controlled; asked for each time, since it may take a free port.
    """

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
        """Call it; raises ``RuleViolation`` for what it refuses, and where no bank runs."""
        from provider_adapters.testing.bank.control.client import BankControl, ControlRefused

        try:
            async with BankControl(self.url()) as control:
                return await call(control)
        except ControlRefused as problem:
            raise RuleViolation(_SAID.get(problem.code, _REFUSED)) from problem


_SAID: Final[Mapping[str, str]] = {
    "": "the sandbox bank does not answer",
    "NOT_FOUND": "the bank knows no such thing",
}
_REFUSED: Final = "the sandbox bank refuses: it is paid, cancelled, expired, or needs a value"


async def first_calls(kernel: Kernel, actor: str, urls: DemoUrls) -> Sequence[str]:
    """Make or find the demo, and say how the first calls are made; see ``made_demo``."""
    from gateway.cli.context import AdminContext
    from provider_adapters.testing.commands.demo import summary
    from provider_adapters.testing.commands.demo_factory import made_demo

    office = AdminContext(kernel, AuditContext(actor, kernel.now))
    return summary(await made_demo(office, urls), kernel.now().date())

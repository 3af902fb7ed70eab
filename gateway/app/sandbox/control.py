"""The sandbox bank's control interface, as the back office uses it; loaded in the sandbox alone."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from gateway.domain.accounts.accounts import Environment
from gateway.operations.backoffice.money.sandbox_tools import Reply, SandboxTools
from gateway.operations.kernel.audit_context import RuleViolation
from gateway.runtime.kernel import Kernel

if TYPE_CHECKING:
    from provider_adapters.simulated_bank.control.client import BankControl


@dataclass(slots=True)
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
        from provider_adapters.simulated_bank.control.client import (  # noqa: PLC0415 - production has none
            BankControl,
            ControlRefused,
        )

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


def build_sandbox_tools(kernel: Kernel) -> SandboxTools | None:
    """Build the tools; None in production."""
    settings = kernel.settings
    if settings.environment is not Environment.SANDBOX:
        return None
    bank = settings.sandbox_bank
    control = ControlPort(lambda: f"http://{bank.host}:{bank.control_port}")
    return SandboxTools(control=control, records=kernel.store.office.scoped)


def at_taken_port(tools: SandboxTools | None, url: Callable[[], str]) -> None:
    """Have the tools ask the bank of this process where it listens."""
    if tools is not None and isinstance(tools.control, ControlPort):
        tools.control.url = url

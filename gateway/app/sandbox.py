"""The sandbox bank, loaded by an entry point, and only in the sandbox environment."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from importlib.metadata import entry_points
from typing import Final, Protocol

from gateway.app.kernel import Kernel
from gateway.config.settings import Settings
from gateway.core.account import Environment
from gateway.core.audit_context import RuleViolation
from gateway.sandbox.control import SandboxControl
from gateway.sandbox.service import SandboxTools
from gateway.security.keys import Derivation

GROUP: Final = "pixgate.simulators"
"""The entry-point group in which the package of simulated banks names its ``Simulator``."""


class SandboxBank(Protocol):
    """A simulated bank; its ports are known once it is started."""

    host: str
    port: int
    control_port: int

    @property
    def control_url(self) -> str:
        """URL of the control interface."""
        ...

    async def start(self) -> None:
        """Listen; raises ``OSError`` where a port is taken."""
        ...

    async def close(self) -> None:
        """Stop."""
        ...


class Simulator(Protocol):
    """Interface of the sandbox bank's package, ``provider_adapters.testing``."""

    def make_bank(
        self,
        settings: Settings,
        derivation: Derivation,
        now: Callable[[], datetime],
        gateway: Callable[[], str],
    ) -> SandboxBank:
        """Build the configured bank; ``gateway`` returns our address and is called each time."""
        ...

    def ControlPort(self, url: Callable[[], str]) -> SandboxControl:  # noqa: N802 - a class there
        """Return the control interface; ``address`` is called each time."""
        ...

    async def first_calls(
        self, kernel: Kernel, actor: str, urls: Mapping[str, str]
    ) -> Sequence[str]:
        """Create or find the demo, and return the first calls to try."""
        ...


def simulator() -> Simulator:
    """
    Load the sandbox bank's package.

    Raises:
        RuleViolation: none is installed, or more than one.
    """
    points = [*entry_points(group=GROUP, name="sandbox")]
    if len(points) != 1:
        found = ", ".join(point.value for point in points) or "none; install pixgate again"
        problem = f"a sandbox needs one entry point {GROUP}: sandbox, and found {found}"
        raise RuleViolation(problem)
    loaded: Simulator = points[0].load()
    return loaded


def build_sandbox_tools(kernel: Kernel) -> SandboxTools | None:
    """Build the tools; None in production."""
    settings = kernel.settings
    if settings.environment is not Environment.SANDBOX:
        return None
    control = simulator().ControlPort(lambda: settings.sandbox_bank.control_url)
    return SandboxTools(control=control, accounts=kernel.store.accounts)


def sandbox_providers(settings: Settings) -> Sequence[str]:
    """Return the configured providers whose bank the sandbox bank is."""
    return [name for name, each in settings.providers.items() if each.adapter == "sandbox"]


def build_bank(
    kernel: Kernel, gateway: Callable[[], str], tools: SandboxTools | None
) -> SandboxBank | None:
    """
    Build the sandbox bank of this process, if configured; never in production.

    Args:
        kernel: This gateway's kernel.
        gateway: Returns our address; called each time.
        tools: They read this bank's ports.
    """
    settings = kernel.settings
    if tools is None or not settings.sandbox_bank.start:
        return None
    plugin = simulator()
    bank = plugin.make_bank(settings, kernel.keys.derivation, kernel.now, gateway)
    tools.control = plugin.ControlPort(lambda: bank.control_url)
    return bank

"""``pixgate callbacks``: where banks tell us of what happened, the sandbox bank among them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import click

from gateway.cli.console import Row, Terminal, reading, run
from gateway.operations.kernel.audit_context import RuleViolation

if TYPE_CHECKING:
    from gateway.config.settings import Settings
    from provider_adapters.sandbox.bank.callbacks import CallbackListener

_COLUMNS = ("provider", "url")


@click.command("callbacks")
@reading
def callbacks(terminal: Terminal) -> None:
    """
    Show the address that each bank is given for its callbacks.

    Its last step is made from the sealing key. After that is replaced, the former address
    goes on answering while the former key is in sealing.retired_keys.
    """

    async def work() -> list[Row]:
        from gateway.app.build_callbacks import path_of
        from gateway.cli.context import keys_of, settings_of

        settings = settings_of(terminal.config)
        derivation = keys_of(settings).derivation
        return [
            {"provider": name, "url": settings.origin + path_of(name, derivation)}
            for name in sorted(_senders(settings))
        ]

    terminal.show_all(run(work()), _COLUMNS)


def _senders(settings: Settings) -> list[str]:
    """Name the providers whose banks send callbacks; raises ``RuleViolation``."""
    from gateway.app.build_bank import connect
    from gateway.app.build_callbacks import prover_of
    from gateway.runtime.kernel import SilentObserver
    from provider_adapters.kit.factory import AdapterRefused

    try:
        adapters = {
            name: connect(name, settings, SilentObserver()).adapter for name in settings.providers
        }
    except AdapterRefused as problem:
        raise RuleViolation(str(problem)) from problem
    return [name for name, each in adapters.items() if prover_of(each) is not None]


def told(config: Path, gateway: str) -> CallbackListener:
    """
    Say where and how a sandbox bank in another process tells a gateway of what happens.

    Args:
        config: The gateway's configuration.
        gateway: The gateway's address, ``http://host:port``.

    Raises:
        RuleViolation: that is no address; or the configuration is of production,
            names no provider of the sandbox bank, or cannot be used.
    """
    from gateway.app.build_callbacks import listener_of
    from gateway.cli.context import keys_of, settings_of
    from gateway.cli.sandbox.demo_factory import sandbox_only

    settings = settings_of(config)
    sandbox_only(settings)
    base = _base(gateway)
    found = listener_of(settings, keys_of(settings).derivation, lambda: base)
    if found is None:
        message = f"{config} names no provider of the adapter sandbox"
        raise RuleViolation(message)
    return found


def _base(gateway: str) -> str:
    """Read an address without a path."""
    try:
        address = urlsplit(gateway)
        known = address.scheme in {"http", "https"} and address.hostname and address.port != 0
    except ValueError:  # a port that is none
        known = False
    if not known or gateway.rstrip("/") != f"{address.scheme}://{address.netloc}":
        message = f"{gateway!r} is no address of a gateway, such as http://127.0.0.1:8080"
        raise RuleViolation(message)
    return gateway.rstrip("/")

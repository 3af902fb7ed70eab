"""Adapters as the registry makes them."""

from __future__ import annotations

from collections.abc import Mapping

from gateway.core.account import Environment
from gateway.telemetry.records import Observer
from provider_adapters.kit.factory import AdapterContext
from provider_adapters.sandbox.adapter import SandboxAdapter
from provider_adapters.sandbox.factory import SandboxFactory
from tests.world.banks.witness import Witness


def made(
    settings: Mapping[str, object],
    environment: Environment = Environment.SANDBOX,
    observer: Observer | None = None,
) -> SandboxAdapter:
    """The adapter of a provider called ``bank``."""
    context = AdapterContext(name="bank", environment=environment, observer=observer or Witness())
    return SandboxFactory()(settings, context)

"""Stages by the name of their adapter: ours, and those that other packages bring along."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from importlib.metadata import entry_points
from typing import Final

from provider_adapters import registry
from provider_adapters.checks import refused_if_raised
from provider_adapters.kit.factory import AdapterRefused
from provider_adapters.testing.verify.stage import GROUP
from provider_adapters.testing.verify.trial import MakeStage, Subject

STAGES: Final[Mapping[str, str]] = {
    "sandbox": "provider_adapters.testing.sandbox.stage:SandboxStage",
    "starkbank": "provider_adapters.testing.starkbank.stage:StarkBankStage",
    "asaas": "provider_adapters.testing.asaas.stage:AsaasStage",
    "apipix": "provider_adapters.testing.apipix.stage:EfiStage",
    "woovi": "provider_adapters.testing.woovi.stage:WooviStage",
}
"""Where our stages are; a simulator is loaded by those alone who verify its adapter."""


def subject_of(adapter: str, stage: str = "") -> Subject:
    """
    Find an adapter and its stage.

    Args:
        adapter: Its name.
        stage: ``MODULE:NAME`` of the stage's class; empty for the one that its package
            names in the entry-point group ``pixgate.provider_stages``.

    Raises:
        AdapterRefused: there is no such adapter or stage, or it does not load.
    """
    factory = registry.find(adapter)
    others = [point.value for point in entry_points(group=GROUP, name=adapter)]
    where = next(filter(None, [stage, STAGES.get(adapter), *others]), "")
    if not where:
        message = (
            f"adapter {adapter!r} has no stage: name one in the entry-point group {GROUP},"
            " or with --stage MODULE:NAME"
        )
        raise AdapterRefused(message)
    module, _, name = where.partition(":")
    with refused_if_raised(f"stage {where} does not load: it"):
        made: MakeStage = getattr(importlib.import_module(module), name)
    return Subject(name=adapter, factory=factory, make_stage=made)

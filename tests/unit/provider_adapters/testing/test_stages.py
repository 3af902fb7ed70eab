"""Where a stage is found: ours, another package's, or the one that is named."""

import importlib.metadata

import pytest

from provider_adapters.kit.factory import AdapterRefused
from provider_adapters.registry import ADAPTERS
from provider_adapters.testing import stages
from provider_adapters.testing.stages import STAGES, SandboxStage, subject_of
from tests.world.tables import cases


def test_every_built_in_adapter_has_a_stage():
    assert STAGES.keys() == ADAPTERS.keys()
    for name in ADAPTERS:
        assert callable(subject_of(name).make_stage)


def test_a_stage_can_be_named():
    named = subject_of("sandbox", "provider_adapters.testing.stages:SandboxStage")

    assert named.make_stage is SandboxStage


@cases("where", ["nowhere.stage:Stage", "provider_adapters.testing.stages:Nothing"])
def test_an_unloadable_stage_is_refused(where: str):
    with pytest.raises(AdapterRefused, match="does not load"):
        subject_of("sandbox", where)


def test_another_package_can_provide_a_stage(monkeypatch: pytest.MonkeyPatch):
    point = importlib.metadata.EntryPoint(
        "sandbox", "provider_adapters.testing.stages:SandboxStage", stages.GROUP
    )
    monkeypatch.setattr(stages, "STAGES", {})
    with pytest.raises(AdapterRefused, match="has no stage"):
        subject_of("sandbox")
    monkeypatch.setattr(stages, "entry_points", lambda **_: [point])

    assert subject_of("sandbox").make_stage is SandboxStage


def test_an_adapter_that_is_not_installed_is_refused():
    with pytest.raises(AdapterRefused, match="not installed"):
        subject_of("nobody")

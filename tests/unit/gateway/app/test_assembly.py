"""The assembly: every part from the configuration, or one clear refusal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from jinja2 import Environment

from gateway.app.assembly import Gateway, assemble
from gateway.banks.checked_adapter import CheckedAdapter
from gateway.config.listeners import Admin
from gateway.config.reading import ConfigError
from gateway.config.settings import Database
from gateway.config.upstream import Provider, SandboxBank
from gateway.core.storage import StoreUnavailable
from gateway.http.panel.pages.visit import Language
from gateway.process.process import OFFSET
from provider_adapters.kit.factory import AdapterRefused
from provider_adapters.sandbox.adapter import SandboxAdapter
from tests.world.gateway.world import sandbox

pytestmark = pytest.mark.slow


def brief(adapter: str = "sandbox", **changed: Any) -> Provider:
    """A provider that is given up before the listener is."""
    return Provider(adapter=adapter, read_timeout_s=2.5, payout_timeout_s=2.5, **changed)


def test_assembling_opens_no_listener(tmp_path: Path):
    """Ports are bound at the start."""
    gateway = assemble(sandbox(tmp_path), {})

    assert sorted(gateway.connections) == ["sandbox", "sandbox-read-only"]
    assert gateway.bank is not None
    assert (gateway.public.port, gateway.operations.port) == (0, 0)
    assert gateway.readiness.started is False


def test_overload_is_judged_by_waits_for_the_store_too(tmp_path: Path):
    gateway = assemble(sandbox(tmp_path), {})
    gateway.kernel.store.database.usage.waited_s = 0.7

    assert gateway.telemetry.lag.take_longest_wait() == 0.7


def test_templates_are_registered_with_the_served_application(tmp_path: Path):
    """Where users of aiohttp-jinja2 expect them."""
    gateway = assemble(sandbox(tmp_path), {})
    served = gateway.public._runner.app

    found = [served[key] for key in served if isinstance(served[key], Environment)]

    templates = gateway.services.panel.templates
    assert found == [templates.environment(language) for language in Language]
    assert {each.globals["app"] for each in found} == {served}


def adapter_of(gateway: Gateway, name: str) -> SandboxAdapter:
    """Every answer of an adapter is checked before it is returned."""
    checked = gateway.connections[name].adapter
    assert isinstance(checked, CheckedAdapter)
    assert isinstance(checked.checked, SandboxAdapter)
    return checked.checked


def test_a_provider_s_limits_reach_its_adapter(tmp_path: Path):
    """The client uses the configured limits."""
    provider = Provider(adapter="sandbox", read_timeout_s=2.25, payout_timeout_s=2.5, in_flight=5)
    settings = sandbox(tmp_path, providers={"slow": provider})

    adapter = adapter_of(assemble(settings, {}), "slow")

    limits = adapter.client._parts.limits
    assert (limits.read_s, limits.payout_s, limits.bulkhead.in_flight) == (2.25, 2.5, 5)


def test_an_adapter_s_own_limits_take_precedence(tmp_path: Path):
    own = {"limits": {"read_s": 7}}
    settings = sandbox(tmp_path, providers={"slow": brief(settings=own)})

    adapter = adapter_of(assemble(settings, {}), "slow")

    assert adapter.client._parts.limits.read_s == 7


@pytest.mark.parametrize(
    ("bank", "with_bank"),
    [(SandboxBank(start=False), True), (SandboxBank(start=True, port=0, control_port=0), False)],
    ids=["not asked for", "another process has it"],
)
def test_the_sandbox_bank_is_not_started_when_it_runs_elsewhere(
    tmp_path: Path, bank: SandboxBank, with_bank: bool
):
    gateway = assemble(sandbox(tmp_path, sandbox_bank=bank), {}, with_bank=with_bank)

    assert gateway.bank is None


@pytest.mark.parametrize(("timeout_s", "whole_s"), [(2, 10), (60, 120)])
def test_the_database_timeout_covers_connection_and_statement(
    tmp_path: Path, timeout_s: float, whole_s: float
):
    gateway = assemble(sandbox(tmp_path, database=Database(timeout_s=timeout_s)), {})

    assert gateway.kernel.store.database.whole_s == whole_s


def test_the_sandbox_clock_offset_shifts_the_kernel_s_clock(tmp_path: Path):
    """When it is configured."""
    right = assemble(sandbox(tmp_path / "a"), {})
    wrong = assemble(sandbox(tmp_path / "b"), {OFFSET: "86400"})

    assert (wrong.kernel.now() - right.kernel.now()).days in {0, 1}
    assert (wrong.kernel.now() - right.kernel.now()).total_seconds() > 86_000


@pytest.mark.parametrize(
    ("changed", "refusal", "says"),
    [
        ({"admin": Admin(host="0.0.0.0", port=0)}, (ConfigError, ValueError), "admin"),  # noqa: S104
        ({"providers": {"a": brief(adapter="nobody")}}, (ConfigError, AdapterRefused), "nobody|a"),
        (
            {"providers": {"a": brief(settings={"speed": 1})}},
            AdapterRefused,
            "providers.a",
        ),
        (
            {"providers": {"a": brief(settings={"base_url": "http://8.8.8.8"})}},
            AdapterRefused,
            "providers.a",
        ),
    ],
    ids=["public operations", "unknown adapter", "unknown setting", "a bank elsewhere"],
)
def test_contradictory_settings_are_refused(
    tmp_path: Path,
    changed: dict[str, object],
    refusal: type[Exception] | tuple[type[Exception], ...],
    says: str,
):
    """In one line with the name of the setting."""
    with pytest.raises(refusal, match=says):
        assemble(sandbox(tmp_path, **changed), {})


def test_a_store_without_a_location_is_refused(tmp_path: Path):
    file = tmp_path / "file"
    file.write_text("")
    settings = msgspec.structs.replace(sandbox(tmp_path), var=str(file / "below"))

    with pytest.raises((StoreUnavailable, ConfigError, OSError)):
        assemble(settings, {})

"""Each setting that can be taken is in force without a restart."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from gateway.app.assembly import Gateway, assemble
from gateway.app.commands.reload import Reload
from gateway.app.lifecycle import running
from gateway.config.effective import config_digest
from gateway.config.reading import ConfigError
from gateway.config.reloading import RELOADABLE, Reloading, reloaded
from gateway.config.settings import Admin, Limits, RateLimits, Server, Settings, Telemetry
from gateway.core.limits import CallRate
from gateway.process.process import Part
from gateway.telemetry.metrics import series
from tests.world.gateway.world import sandbox
from tests.world.metrics import shown
from tests.world.waiting import until

CHANGED = RateLimits(**{name: CallRate(rate=7, burst=70) for name in RateLimits.__struct_fields__})


def changed(settings: Settings) -> Settings:
    """Change everything that can be taken."""
    return msgspec.structs.replace(
        settings,
        limits=msgspec.structs.replace(settings.limits, in_flight=11, loop_lag_s=9.5),
        ratelimits=CHANGED,
        server=Server(
            port=settings.server.port,
            drain_accept_s=settings.server.drain_accept_s,
            connections=12,
            connections_per_address=2,
            header_deadline_s=3,
            header_line_bytes=4000,
            headers=20,
            keep_alive_s=5,
            request_line_bytes=5000,
            trusted_peers="10.0.0.0/8",
        ),
        telemetry=Telemetry(level="warning"),
    )


async def asked(gateway: Gateway, read: Callable[[], Settings]) -> Reload:
    """Ask for it once."""
    reload = Reload(gateway, read)
    reload.asked.set()
    await reload.run_once()
    return reload


async def test_every_reloadable_setting_takes_effect(tmp_path: Path):
    settings = sandbox(tmp_path, server=Server(port=0, drain_accept_s=0))
    gateway = assemble(settings, {}, with_bank=False)
    fresh = changed(settings)
    found: Reloading = reloaded(settings, fresh)
    async with running(gateway):
        await asked(gateway, lambda: fresh)
        limits = gateway.public.connections.limits
        meters = gateway.services.quota._meters
        levels = logging.getLogger().level
        digest = shown(gateway.telemetry.values, series.CONFIG_INFO, config_digest(fresh))
        most = shown(gateway.telemetry.values, series.CONNECTIONS_LIMIT)
        in_flight = shown(gateway.telemetry.values, series.IN_FLIGHT_LIMIT, "payouts")

    taken = {
        each for each in RELOADABLE if any(f"{path}.".startswith(each) for path in found.taken)
    }
    assert taken == set(RELOADABLE)
    assert found.left == ()
    assert (limits.connections, limits.connections_per_address, limits.headers) == (12, 2, 20)
    assert (limits.header_deadline_s, limits.keepalive_s) == (3, 5)
    assert (limits.request_line_bytes, limits.header_line_bytes) == (5000, 4000)
    assert [str(each) for each in limits.trusted_peers] == ["10.0.0.0/8"]
    assert {meter._policy.partition(";")[2] for meter in meters.values()} == {"q=70;w=10"}
    assert levels == logging.WARNING
    assert (most, in_flight) == (12, 6)
    assert digest == 1


@pytest.mark.parametrize(
    "problem",
    [ConfigError("server.port: is none"), OSError("cannot be read"), ValueError("no")],
    ids=lambda problem: type(problem).__name__,
)
async def test_an_unusable_configuration_changes_nothing(
    tmp_path: Path, problem: Exception, caplog: pytest.LogCaptureFixture
):
    def fail() -> Settings:
        raise problem

    settings = sandbox(tmp_path)
    gateway = assemble(settings, {}, with_bank=False)

    reload = await asked(gateway, fail)

    assert reload.settings == settings
    assert caplog.messages == [f"SIGHUP: nothing was reloaded: {problem}"]
    successful = [shown(gateway.telemetry.values, series.RELOAD_SUCCESSFUL)]
    reload._read = lambda: settings
    reload.asked.set()
    await reload.run_once()
    successful.append(shown(gateway.telemetry.values, series.RELOAD_SUCCESSFUL))
    assert successful == [0, 1]
    assert shown(gateway.telemetry.values, series.RELOAD_AT) > 0


async def test_contradictory_settings_change_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    settings = sandbox(tmp_path)
    gateway = assemble(settings, {}, with_bank=False)
    public = msgspec.structs.replace(settings.admin, host="0.0.0.0")  # noqa: S104 - to be refused

    reload = await asked(gateway, lambda: msgspec.structs.replace(settings, admin=public))

    assert reload.settings == settings
    assert "nothing was reloaded" in caplog.text


async def test_a_worker_accepts_a_changed_public_port(tmp_path: Path):
    settings = sandbox(tmp_path)
    gateway = assemble(settings, {}, with_bank=False, part=Part(serves=False))
    same = msgspec.structs.replace(settings, server=Server(port=9090), admin=Admin(port=9090))

    await asked(gateway, lambda: same)

    assert shown(gateway.telemetry.values, series.RELOAD_SUCCESSFUL) == 1


async def test_each_hangup_reloads_the_configuration(tmp_path: Path):
    settings = sandbox(tmp_path)
    gateway = assemble(settings, {}, with_bank=False)
    turns: list[Settings] = []
    gateway.kernel.reloads.append(turns.append)
    reads = [
        msgspec.structs.replace(settings, limits=Limits(in_flight=number)) for number in (1, 2, 3)
    ]
    reload = Reload(gateway, lambda: reads[len(turns)])

    async with reload.running():
        for number in (1, 2, 3):
            reload.asked.set()
            await until(lambda done=number: len(turns) == done)

    assert [each.limits.in_flight for each in turns] == [1, 2, 3]

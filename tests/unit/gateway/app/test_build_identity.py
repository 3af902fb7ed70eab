"""Identity assembled."""

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from gateway.app.build_identity import IdentityServices, build_identity
from gateway.app.kernel import Kernel
from gateway.app.retention import delete_old_sign_ins
from gateway.app.store import Store, prepare
from gateway.config.identity import Identity, Tries
from gateway.config.settings import Settings
from gateway.core.account import Environment
from gateway.core.browsers import PanelSession, PanelState
from gateway.security.keys import load_keys
from tests.world.kernel import kernel_on
from tests.world.standing import Clock
from tests.world.store import migrated, open_store


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return replace(
        Settings(),
        var=str(tmp_path),
        identity=Identity(origin="https://pix.example", access_s=120, tries=Tries(account_ip=2)),
    )


def kernel_of(settings: Settings, store: Store, clock: Clock) -> Kernel:
    return kernel_on(store, clock, settings=settings, keys=load_keys(settings))


@pytest.fixture
async def people(
    settings: Settings, tmp_path: Path, clock: Clock
) -> AsyncIterator[IdentityServices]:
    """Identity on a store of its own, started."""
    store = open_store(migrated(tmp_path / "pixgate.db"))
    await prepare(store, Environment.SANDBOX, migrate=True, now=clock.now)
    made = build_identity(kernel_of(settings, store, clock))
    await made.signing_keys.ensure()
    yield made
    await made.close()
    await store.close()


async def test_identity_settings_reach_the_rules(people):
    rules = people.context.settings

    assert rules.origin == "https://pix.example"
    assert rules.access == timedelta(seconds=120)
    assert rules.throttles.account_ip == 2


@pytest.fixture
async def same_store(people, settings: Settings) -> AsyncIterator[Store]:
    """The same store, opened once more."""
    store = open_store(settings.store_url)
    yield store
    await store.close()


async def test_idle_browser_sessions_are_deleted(same_store, clock):
    """An hour after the last call, which is the longest idle time."""
    panel = PanelSession(
        id_hash="h",
        state=PanelState.ANONYMOUS,
        csrf="c",
        created_at=clock.now(),
        seen_at=clock.now(),
        ends_at=clock.now() + timedelta(hours=8),
    )
    panels = same_store.identity.panels
    await panels.add(panel)

    clock.passes(3600)
    await delete_old_sign_ins(same_store.identity, clock.now())
    assert await panels.find("h")
    clock.passes(1)
    await delete_old_sign_ins(same_store.identity, clock.now())
    assert await panels.find("h") is None

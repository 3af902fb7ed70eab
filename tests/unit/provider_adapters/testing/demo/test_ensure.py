"""The demo, made once and found again."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import pytest

from gateway.config.reading import settings_from
from gateway.core.permissions import Action
from gateway.core.rights import RIGHTS, Area, Right
from gateway.identity.passwords import PasswordHasher
from gateway.security.secrets import SecretDigester
from provider_adapters.testing.demo.ensure import urls_of
from tests.world import registers
from tests.world.identity import LITTLE
from tests.world.kernel import KEYS
from tests.world.shell import CONFIG
from tests.world.stores.samples import event

pytestmark = pytest.mark.slow


async def test_creating_the_demo_again_returns_it_and_writes_nothing(make, office):
    """Changing a user would end their sessions."""
    first = await make()
    before = await office.acts()

    assert await make() == first
    assert await office.acts() == before


async def test_the_demo_file_is_updated_with_the_current_address(make, tmp_path):
    await make()

    demo = await make(base_url="http://127.0.0.1:9")

    assert demo["base_url"] == "http://127.0.0.1:9"
    assert json.loads((tmp_path / "demo.json").read_text()) == demo


def test_the_demo_addresses_are_those_of_the_configuration():
    settings = settings_from(CONFIG.read_text(), {"PIXGATE_PORT": "18080"})

    assert urls_of(settings) == {
        "base_url": "http://127.0.0.1:18080",
        "ops_url": "http://127.0.0.1:9090",
        "sandbox_bank_url": "http://127.0.0.1:8090",
        "sandbox_control_url": "http://127.0.0.1:8091",
    }


async def test_a_lost_store_is_recreated_from_the_demo_file(make, tmp_path):
    """With the ids and secrets of the file."""
    demo = await make()
    (tmp_path / "new").mkdir()

    async with registers.opened(tmp_path / "new") as office:
        assert await make(office) == demo
        found = await office.found(demo["accounts"]["main"]["id"])
        assert found.active


async def test_concurrent_creation_makes_one_demo(make):
    first, second = await asyncio.gather(make(), make())

    assert first == second


async def test_a_lost_demo_file_makes_another_demo_in_the_same_store(make, tmp_path, office):
    """Secrets are stored nowhere else, so they cannot be printed again."""
    first = await make()
    (tmp_path / "demo.json").unlink()

    second = await make()

    assert not {*first["charges"].values()} & {*second["charges"].values()}
    await assert_signs_in(office, second, "admin")


async def test_a_revoked_demo_credential_is_issued_again(make, office, tmp_path):
    demo = await make()
    await office.revoke(demo["credentials"]["full"]["client_id"])

    again = await make()

    pair = again["credentials"]["full"]
    found = await office.store.credentials.find(pair["client_id"])
    assert office.digester.matches(pair["client_secret"], found.secrets, office.clock())
    assert {**again["credentials"], "full": ""} == {**demo["credentials"], "full": ""}
    assert json.loads((tmp_path / "demo.json").read_text()) == again


async def test_a_changed_pepper_replaces_every_working_credential(make):
    """Except the revoked one."""
    demo = await make()

    again = await make(keys=replace(KEYS, digester=SecretDigester({"p2": b"P" * 32}, "p2")))

    kept = {
        role for role, pair in demo["credentials"].items() if again["credentials"][role] == pair
    }
    assert kept == {"revoked"}


async def test_three_demo_users_may_judge_a_payout(make, office):
    """Two for the two opinions, and a third one in case they differ."""
    await make()

    users = await office.store.identity.users.list()

    judging = Right(Area.REVIEW, Action.WRITE)
    judges = [each for each in users if any(judging in RIGHTS[role] for role in each.roles)]
    assert [each.name for each in judges] == ["Demo approver", "Demo approver2", "Demo approver3"]


async def test_a_changed_demo_user_is_restored(make, office):
    demo = await make()
    users = office.store.identity.users
    admin = await users.find_by_email("admin@example.com")
    changed = replace(admin, password="$argon2id$other", active=False, totp=None)
    await users.replace(changed, event())

    await make()

    mended = await assert_signs_in(office, demo, "admin")
    assert (mended.id, mended.active, mended.has_factor) == (admin.id, True, True)


async def assert_signs_in(office, demo, name):
    """Demand that the printed password is a user's, and return the user."""
    printed = demo["users"][name]
    user = await office.store.identity.users.find_by_email(printed["email"])
    hasher = PasswordHasher(KEYS.password_peppers, LITTLE)
    assert await hasher.matches(printed["password"], user.password)
    hasher.close()
    return user

"""The demo, made once and found again."""

import asyncio
from dataclasses import replace

import pytest

from provider_adapters.testing.demo.ensure import ensure_demo
from provider_adapters.testing.demo.people_side import PEOPLE
from tests.unit.provider_adapters.testing.demo.conftest import people_of, records_of
from tests.world import registers

pytestmark = pytest.mark.slow


ROLES = {"pending", "paid", "expired", "anonymous", "canceled", "other_company"}


async def test_the_second_time_gives_the_same(parts):
    assert await ensure_demo(parts) == await ensure_demo(parts)


async def test_everything_has_a_name(parts):
    demo = await ensure_demo(parts)

    assert set(demo["companies"]) == {"main", "other"}
    assert set(demo["pix_keys"]) == {"main", "other_company"}
    assert set(demo["charges"]) >= ROLES
    assert len(demo["accounts"]) == 8
    assert len(demo["credentials"]) == 5 + 15
    assert set(demo["users"]) == set(PEOPLE)


async def test_addresses_are_today_s(parts):
    await ensure_demo(parts)
    moved = replace(parts, urls={**parts.urls, "base_url": "http://127.0.0.1:9"})

    demo = await ensure_demo(moved)

    assert demo["base_url"] == "http://127.0.0.1:9"
    assert parts.kept.read() == demo


async def test_a_lost_store_is_made_again(parts, tmp_path):
    """The file says what it held."""
    demo = await ensure_demo(parts)
    (tmp_path / "new").mkdir()

    async with registers.opened(tmp_path / "new") as office:
        lost = replace(parts, office=records_of(office), people=people_of(office, tmp_path))
        again = await ensure_demo(lost)

        assert again == demo
        found = await office.accounts.find(demo["accounts"]["main"]["id"])
        assert found.active


async def test_a_credential_that_does_not_work_any_more_is_issued_anew(parts, office):
    demo = await ensure_demo(parts)
    await office.credentials.revoke(demo["credentials"]["full"]["client_id"])

    again = await ensure_demo(parts)

    pair = again["credentials"]["full"]
    found = await office.store.credentials.find(pair["client_id"])
    assert office.digester.matches(pair["client_secret"], found.secrets, office.clock())
    assert {**again["credentials"], "full": ""} == {**demo["credentials"], "full": ""}
    assert parts.kept.read() == again


async def test_two_at_once_make_one(parts):
    first, second = await asyncio.gather(ensure_demo(parts), ensure_demo(parts))

    assert first == second


async def test_a_lost_file_makes_another_demo_beside_the_first(parts, tmp_path):
    """Secrets are kept nowhere else, so the first one's cannot be printed again."""
    first = await ensure_demo(parts)
    (tmp_path / "demo.json").unlink()

    second = await ensure_demo(parts)

    assert not {*first["charges"].values()} & {*second["charges"].values()}

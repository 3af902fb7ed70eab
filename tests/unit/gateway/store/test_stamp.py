"""Whose store it is; on both databases in ``tests/contract/stores/test_schema_window.py``."""

from pathlib import Path

import pytest

from gateway.domain.accounts.accounts import Environment
from gateway.store.engine import open_store
from gateway.store.stamp import Stamp, StoreRefused, check_environment, compatible_with
from tests.world.stores.samples import NOW

SANDBOX, PRODUCTION = Environment.SANDBOX, Environment.PRODUCTION
STAMP = Stamp(environment=SANDBOX, id="id-1", created_at=NOW)


@pytest.mark.parametrize("stamp", [None, STAMP])
def test_a_store_of_ours_or_of_nobody_is_taken(stamp: Stamp | None) -> None:
    check_environment(stamp, SANDBOX)


def test_the_other_environment_s_store_is_refused() -> None:
    with pytest.raises(StoreRefused, match=r"^The store belongs to sandbox"):
        check_environment(STAMP, PRODUCTION)


async def test_a_store_without_tables_tells_of_no_window(tmp_path: Path) -> None:
    store = open_store(f"sqlite:///{tmp_path / 'store.db'}")

    assert await compatible_with(store.database) is None

    await store.close()

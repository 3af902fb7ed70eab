"""Whose store it is; on both databases in ``tests/contract/stores/test_schema_window.py``."""

import pytest

from gateway.core.account import Environment
from gateway.store.stamp import Stamp, StoreRefused, check_environment
from tests.world.stores.samples import NOW

SANDBOX, PRODUCTION = Environment.SANDBOX, Environment.PRODUCTION
STAMP = Stamp(environment=SANDBOX, id="id-1", created_at=NOW)


@pytest.mark.parametrize("stamp", [None, STAMP])
def test_a_store_of_this_or_no_environment_is_accepted(stamp: Stamp | None) -> None:
    check_environment(stamp, SANDBOX)


def test_the_other_environment_s_store_is_refused() -> None:
    with pytest.raises(StoreRefused, match=r"^The store belongs to sandbox"):
        check_environment(STAMP, PRODUCTION)

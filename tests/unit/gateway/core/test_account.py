"""The two deployments by name, and what is made of an account's record."""

from dataclasses import replace

from gateway.core.account import Environment
from tests.world.stores.samples import account


def test_environments_keep_their_names():
    """A changed name would orphan every store and every derived key."""
    assert [each.value for each in Environment] == ["sandbox", "production"]


def test_an_account_has_a_short_name_in_the_logs():
    """It is stable, and appears only in log lines: it can be derived from the id."""
    held = replace(account(), id="0f8fad5b-d9cb-469f-a165-708677289501")

    assert [held.log_hash, held.log_hash] == ["ee9717818e7803e9"] * 2


def test_derived_values_are_not_shared_between_records():
    held = account()
    held.derived.bank = "opened"
    changed = replace(held, sealed_credentials=b"rotated")

    assert changed.derived.bank is None
    assert replace(held) == held
    assert "opened" not in repr(held)

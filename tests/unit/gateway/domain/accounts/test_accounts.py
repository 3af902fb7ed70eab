"""The two deployments by name; the rest of the module is data."""

from gateway.domain.accounts.accounts import Environment


def test_the_environments_have_the_names_that_stores_and_provider_keys_are_made_with():
    """A word changed here would orphan every store and every derived key."""
    assert [each.value for each in Environment] == ["sandbox", "production"]

"""Companies as values."""

from msgspec.structs import replace

from tests.world.stores.samples import company


def test_a_new_name_changes_the_version():
    assert replace(company(), name="x").version() != company().version() == company().version()

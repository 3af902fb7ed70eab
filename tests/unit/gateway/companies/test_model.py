"""Companies as values."""

from msgspec.structs import replace

from tests.world.stores.samples import company


def test_another_name_is_another_version():
    assert replace(company(), name="x").version() != company().version() == company().version()

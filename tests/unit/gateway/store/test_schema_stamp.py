"""SQLite in production: only when allowed, and only with a safe library."""

import pytest

from gateway.domain.accounts.accounts import Environment
from gateway.store.schema import refuse_unsafe_sqlite
from gateway.store.stamp import StoreRefused

SANDBOX, PRODUCTION = Environment.SANDBOX, Environment.PRODUCTION
FILE, SERVER = "sqlite:///var/pixgate.db", "postgresql://db/pix"
OLD, SAFE, NEWER = (3, 51, 2), (3, 51, 3), (4, 0, 0)


def test_a_safe_store_is_let_through() -> None:
    cases = [
        (PRODUCTION, FILE, True, SAFE),
        (PRODUCTION, FILE, True, NEWER),
        (PRODUCTION, SERVER, False, OLD),
        (SANDBOX, SERVER, False, OLD),
        (SANDBOX, FILE, False, SAFE),
    ]

    for environment, url, allowed, version in cases:
        warning = refuse_unsafe_sqlite(environment, url, allowed=allowed, version=version)

        assert warning is None


def test_the_sandbox_is_told_of_an_older_library_and_that_it_may_go_on() -> None:
    said = refuse_unsafe_sqlite(SANDBOX, FILE, allowed=False, version=(3, 40, 1))

    assert said is not None
    assert said.startswith("SQLite 3.40.1 is fine for a sandbox. ")
    assert "\n" not in said


@pytest.mark.parametrize(
    ("allowed", "version", "said"),
    [(False, SAFE, "allowed explicitly"), (False, OLD, "allowed"), (True, OLD, r"is 3\.51\.2\.$")],
)
def test_production_refuses_what_is_not_allowed_or_not_safe(
    allowed: bool, version: tuple[int, int, int], said: str
) -> None:
    with pytest.raises(StoreRefused, match=said):
        refuse_unsafe_sqlite(PRODUCTION, FILE, allowed=allowed, version=version)

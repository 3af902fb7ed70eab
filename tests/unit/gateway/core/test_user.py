"""Users and their second factors."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from gateway.core.rights import Role
from gateway.core.user import Totp, User

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
USER = User(
    id="u",
    email="maria@example.com",
    name="Maria",
    password="phc",
    roles=frozenset({Role.OPERATOR}),
    companies=frozenset(),
    created_at=NOW,
    updated_at=NOW,
)


def test_a_factor_counts_after_its_confirmation():
    waiting = replace(USER, totp=Totp(sealed_secret=b"x"))
    confirmed = replace(USER, totp=Totp(sealed_secret=b"x", confirmed_at=NOW))

    assert [each.has_factor for each in (USER, waiting, confirmed)] == [False, False, True]


def test_secrets_are_not_printed():
    told = repr(replace(USER, totp=Totp(sealed_secret=b"sealed-secret")))

    assert "phc" not in told
    assert "sealed-secret" not in told

"""Users as staff see them."""

from __future__ import annotations

from dataclasses import replace

from gateway.core.rights import Role
from gateway.core.user import Totp
from gateway.identity.model import RoleName, UserRecord
from tests.world.stores.people import user


def test_roles_have_their_documented_names():
    assert set(RoleName.__args__) == set(Role)


def test_a_user_record_holds_no_secret():
    canary = "a canary in every secret field"
    secret = Totp(sealed_secret=canary.encode())
    found = replace(user("1"), password=canary, totp=secret)

    record = UserRecord.of(found)

    assert canary not in str(record)

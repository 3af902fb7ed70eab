"""Passwords looked at."""

from gateway.operations.identity.proving import Proving
from tests.unit.door import EMAIL, HOME, PASSWORD


async def test_whose_address_and_password_they_are(door, maria):
    proving = Proving(door.parts)

    assert await proving.by_email(EMAIL, PASSWORD, HOME.address) == maria
    assert await proving.by_email(EMAIL, "wrong", HOME.address) is None
    assert await proving.by_email("nobody@example.com", PASSWORD, HOME.address) is None


async def test_the_same_work_is_done_for_nobody(door, maria, monkeypatch):
    """One look-up and one digest, whoever is asked for."""
    asked: list[str] = []
    matches, find = door.hasher.matches, door.store.identity.users.find_by_email

    async def noting(password, stored):
        asked.append("digest")
        return await matches(password, stored)

    async def finding(email):
        asked.append("find")
        return await find(email)

    monkeypatch.setattr(door.hasher, "matches", noting)
    monkeypatch.setattr(door.store.identity.users, "find_by_email", finding)
    for email in (EMAIL, "nobody@example.com"):
        await Proving(door.parts).by_email(email, "wrong", HOME.address)

    assert asked == ["find", "digest"] * 2

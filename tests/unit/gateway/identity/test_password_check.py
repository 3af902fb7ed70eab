"""Passwords as they are typed, checked against those on record."""

from __future__ import annotations

import uuid
from contextlib import suppress
from dataclasses import replace

import pytest

from gateway.core.browsers import KnownBrowser
from gateway.core.errors import ServiceError
from gateway.identity.password_check import PasswordCheck, normalized_email
from tests.world.identity import EMAIL, HOME, PASSWORD


def test_a_typed_address_is_normalized_as_stored():
    assert normalized_email(" Maria@Example.COM ") == "maria@example.com"


async def test_a_password_is_checked_against_the_user_of_its_address(identity_world, maria):
    proving = PasswordCheck(identity_world.context)

    assert await proving.by_email(EMAIL, PASSWORD, HOME) == maria
    assert await proving.by_email(EMAIL, "wrong", HOME) is None
    assert await proving.by_email("nobody@example.com", PASSWORD, HOME) is None


async def test_a_browser_known_for_another_user_counts_as_unknown(identity_world, maria):
    """Attempts there count as those of an unknown browser."""
    foreign = replace(HOME, known=KnownBrowser(user_id=str(uuid.uuid4()), id="ab"))
    for _ in range(5):
        await PasswordCheck(identity_world.context).by_email(EMAIL, "wrong", foreign)

    with pytest.raises(ServiceError) as refused:
        await PasswordCheck(identity_world.context).by_email(EMAIL, PASSWORD, foreign)

    assert refused.value.reason == "account_ip"


async def test_guesses_by_strangers_do_not_block_a_signed_in_user(identity_world, maria):
    """The new password is accepted, despite guesses elsewhere."""
    caller = (await identity_world.sign_in()).person
    for _ in range(6):
        with suppress(ServiceError):
            await PasswordCheck(identity_world.context).by_email(EMAIL, "wrong", HOME)

    assert await PasswordCheck(identity_world.context).by_caller(caller, PASSWORD, HOME) == maria
    assert await PasswordCheck(identity_world.context).by_caller(caller, "wrong", HOME) is None

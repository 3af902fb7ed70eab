"""What adapters with one client have alike."""

from __future__ import annotations

import pytest

from gateway.banks.port.pix_keys import PixKey, PixKeyStatus, PixKeyType
from gateway.banks.port.providers import (
    BadReply,
    NotFound,
    ProviderAccount,
    Refused,
    Unavailable,
)
from provider_adapters.kit.adapter import key_of, made_or_read

ACCOUNT = ProviderAccount(account_id="5f1c3a52-7f0e-4c2b-9d3f-1a2b3c4d5e6f", provider_account="1")


def key(text: str) -> PixKey:
    return PixKey(
        provider_id="", key=text, type=PixKeyType.EMAIL, status=PixKeyStatus.ACTIVE, created_at=None
    )


def test_a_key_is_found_by_its_public_id():
    keys = [key("a@b.c"), key("d@e.f")]

    assert key_of(keys, ACCOUNT, keys[1].public_id(ACCOUNT.account_id)) is keys[1]
    with pytest.raises(NotFound):
        key_of(keys[:1], ACCOUNT, keys[1].public_id(ACCOUNT.account_id))


async def saying(told: object) -> str:
    if isinstance(told, Exception):
        raise told
    return str(told)


async def test_a_created_record_with_an_unreadable_answer_is_read_again():
    assert await made_or_read(saying("made"), lambda: saying("read")) == "made"
    assert await made_or_read(saying(BadReply("odd")), lambda: saying("read")) == "read"


@pytest.mark.parametrize("problem", [NotFound("x"), Unavailable("x"), BadReply("later")])
async def test_a_failed_second_read_reports_the_unreadable_answer(problem: Exception):
    with pytest.raises(BadReply, match="odd"):
        await made_or_read(saying(BadReply("odd")), lambda: saying(problem))


@pytest.mark.parametrize("problem", [Refused("x"), Unavailable("x")])
async def test_a_failed_order_is_not_read_again(problem: Exception):
    with pytest.raises(type(problem)):
        await made_or_read(saying(problem), lambda: saying("read"))

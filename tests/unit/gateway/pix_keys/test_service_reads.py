"""The PIX keys of an account, shown under ids that stay."""

import pytest

from gateway.banks.port.pix_keys import PixKey, PixKeyStatus, PixKeyType
from gateway.banks.port.providers import NotFound
from gateway.core import errors
from gateway.pix_keys.model import OwnedKey
from gateway.pix_keys.service import get_key, list_keys
from tests.unit.refusals import refused
from tests.world.payouts import OneBank, ScriptedBank
from tests.world.people import ACCOUNT, account

ID = "3c9f8e7d-6b5a-4c3d-8e2f-1a0b9c8d7e6f"


def key(provider_id: str, text: str) -> PixKey:
    return PixKey(
        provider_id=provider_id,
        key=text,
        type=PixKeyType.EMAIL,
        status=PixKeyStatus.ACTIVE,
        created_at=None,
    )


WITH_UUID, WITHOUT = key(ID.upper(), "a@example.com"), key("17", "b@example.com")


async def test_every_key_is_listed_in_the_bank_s_order_under_its_public_id():
    bank = ScriptedBank(reads={"keys": [WITHOUT, WITH_UUID]})

    found = await list_keys(OneBank(bank), account())

    assert found == [OwnedKey(WITHOUT.public_id(ACCOUNT), WITHOUT), OwnedKey(ID, WITH_UUID)]


async def test_an_id_from_the_list_finds_the_key():
    public = WITHOUT.public_id(ACCOUNT)
    bank = ScriptedBank(reads={"keys": [WITHOUT], public: WITHOUT})
    banks = OneBank(bank)

    [listed] = await list_keys(banks, account())

    assert await get_key(banks, account(), listed.id) == listed


async def test_a_key_the_bank_does_not_have_is_not_found():
    with pytest.raises(NotFound):
        await get_key(OneBank(ScriptedBank(reads={ID: NotFound("absent")})), account(), ID)


async def test_without_a_bank_there_are_none():
    banks = OneBank(ScriptedBank(), is_there=False)

    with refused(errors.PROVIDER_NOT_CONFIGURED):
        await list_keys(banks, account())
    with refused(errors.PROVIDER_NOT_CONFIGURED):
        await get_key(banks, account(), ID)

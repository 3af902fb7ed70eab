"""The PIX keys of an account, shown under ids that stay."""

from gateway.banks.port.pix_keys import PixKey, PixKeyStatus, PixKeyType
from gateway.pix_keys.model import OwnedKey
from gateway.pix_keys.service import list_keys
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

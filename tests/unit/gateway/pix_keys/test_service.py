"""Registering keys, giving them up and asking who is behind one."""

from __future__ import annotations

import uuid
from dataclasses import replace
from datetime import timedelta

import pytest

from gateway.banks.port.capabilities import PortCall
from gateway.banks.port.pix_keys import KeyOrder, KeyOwner, PixKey, PixKeyStatus, PixKeyType
from gateway.banks.port.providers import NotSupported
from gateway.core import errors
from gateway.core.audit_context import AuditContext
from gateway.pix_keys.service import KeyOwners, PixKeys
from tests.unit.offering import Log, OfferingBank, lessened, staff
from tests.unit.refusals import refused
from tests.world.exports import allowance, signed_in
from tests.world.payouts import OneBank
from tests.world.people import ACCOUNT, account
from tests.world.standing import NOON

ORDER = KeyOrder(PixKeyType.CPF, "52998224725")
KEY = PixKey(
    provider_id="CH0000000007",
    key="52998224725",
    type=PixKeyType.CPF,
    status=PixKeyStatus.ACTIVE,
    created_at=NOON,
)
LATER = timedelta(minutes=5, seconds=1)
KEY_ID = str(uuid.uuid5(uuid.UUID(ACCOUNT), KEY.key))
OWNER = KeyOwner(
    key="maria@example.com",
    type=PixKeyType.EMAIL,
    name="Maria",
    tax_number="***.982.247-**",
    ispb="88888888",
)


def at(bank: OfferingBank, log: Log | None = None, **more: bool) -> PixKeys:
    banks, recorded = OneBank(bank, **more), log or Log()
    return PixKeys(KeyOwners(banks, recorded, allowance(burst=2)))  # type: ignore[arg-type]


async def test_a_registered_key_has_its_public_id():
    log, bank = Log(), OfferingBank(reads={"create_key": KEY})

    made = await at(bank, log).create(staff(), account(), ORDER)

    assert (made.id, made.key) == (KEY_ID, KEY)
    assert log.actions == ["pix_key.create.ordered", "pix_key.create.done"]
    assert "52998224725" not in str(log.events)


async def test_a_key_look_up_reports_the_owner_and_is_audited():
    """The audit event does not contain the key, which may be a person's tax number."""
    log, bank = Log(), OfferingBank(reads={"look_up_key": OWNER})

    assert await at(bank, log).look_up(staff(), account(), "maria@example.com") == OWNER
    assert log.actions == ["pix_key.look_up.ordered", "pix_key.look_up.done"]
    assert "maria@example.com" not in str(log.events)


async def test_key_look_ups_are_rate_limited_per_user():
    """Each user has a limit; keys without an owner count, commands do not."""
    log, bank = Log(), OfferingBank(reads={"look_up_key": OWNER})
    keys = at(bank, log)

    for _ in range(2):
        await keys.look_up(signed_in(), account(), "x")
    with refused(errors.TOO_MANY_REQUESTS) as refusal:
        await keys.look_up(signed_in(), account(), "x")

    assert refusal.value.headers["Retry-After"] == "1"
    assert log.actions == ["pix_key.look_up.ordered", "pix_key.look_up.done"] * 2
    for who in (signed_in("joao"), staff(), staff(), staff()):
        assert await keys.look_up(who, account(), "x") == OWNER


async def test_key_look_ups_for_payouts_share_the_user_s_rate_limit():
    """Withdrawing the order later does not undo that the owner was revealed."""
    log = Log()
    owners = at(OfferingBank(reads={"look_up_key": OWNER}), log).owners

    for key in "ab":
        await owners.look_up_for_order(signed_in(), account(), key)
    with refused(errors.TOO_MANY_REQUESTS):
        await owners.look_up_for_order(signed_in(), account(), "c")

    assert log.actions == ["pix_key.look_up.ordered", "pix_key.look_up.done"] * 2
    assert await owners.look_up_for_order(staff(), account(), "c") == OWNER


async def test_a_payout_after_a_look_up_of_the_same_key_is_not_counted_again():
    owners = at(OfferingBank(reads={"look_up_key": OWNER})).owners
    await owners.look_up(signed_in(), account(), "a")
    await owners.look_up_for_order(signed_in(), account(), "a")
    await owners.look_up_for_order(signed_in(), account(), "a")

    for who, key in ((signed_in(), "a"), (signed_in(), "b")):
        with refused(errors.TOO_MANY_REQUESTS):
            await owners.look_up_for_order(who, account(), key)


async def test_a_payout_long_after_a_look_up_is_counted_again():
    owners = at(OfferingBank(reads={"look_up_key": OWNER})).owners
    maria = signed_in()
    later = replace(maria, acting=AuditContext(maria.acting.actor, lambda: NOON + LATER))
    await owners.look_up(maria, account(), "a")
    await owners.look_up_for_order(later, account(), "a")

    with refused(errors.TOO_MANY_REQUESTS):
        await owners.look_up_for_order(later, account(), "a")


async def test_an_unsupported_look_up_does_not_count_against_the_limit():
    lacking = OfferingBank(capabilities=lessened(PortCall.LOOK_UP_KEY))
    keys = at(lacking)

    for _ in range(3):
        with pytest.raises(NotSupported):
            await keys.owners.look_up_for_order(signed_in(), account(), "a")


async def test_a_read_only_provider_allows_key_look_ups_but_no_key_changes():
    bank = OfferingBank(reads={"look_up_key": OWNER})
    orders = at(bank, read_only=True)

    with refused(errors.PROVIDER_READ_ONLY):
        await orders.create(staff(), account(), ORDER)
    with refused(errors.PROVIDER_READ_ONLY):
        await orders.cancel(staff(), account(), KEY_ID)

    assert await orders.look_up(staff(), account(), "x") == OWNER


async def test_an_alphanumeric_cnpj_is_refused_when_the_bank_does_not_support_it():
    log, letters, bank = Log(), "12ABC34501DE35", OfferingBank()
    bank.capabilities = replace(bank.capabilities, alphanumeric_cnpj=False)
    orders = at(bank, log)

    with refused(errors.PAYLOAD_INVALID):
        await orders.create(staff(), account(), KeyOrder(PixKeyType.CNPJ, letters))
    with refused(errors.PAYLOAD_INVALID):
        await orders.look_up(staff(), account(), letters)

    assert log.events == []

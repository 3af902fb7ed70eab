"""A payout by key gets the owner that the bank names; another tax number requires a reason."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import pytest

from gateway.banks.port.capabilities import PortCall
from gateway.banks.port.pix_keys import KeyOwner, PixKeyType
from gateway.banks.port.providers import Unavailable
from gateway.core import errors
from gateway.core.access import Staff
from gateway.core.allowances import Allowance
from gateway.core.errors import ServiceError
from gateway.payouts.model import KeyPayout, NamedOwner, Payout, PayoutRequest
from gateway.payouts.order_text import payout_text, read_payout
from gateway.payouts.staff import PayoutActs, with_owner
from gateway.pix_keys.service import KeyOwners
from tests.unit.offering import Log, OfferingBank, lessened
from tests.unit.refusals import refused
from tests.world.exports import allowance, signed_in
from tests.world.payouts import PIX, OneBank, asking
from tests.world.people import CLI, account
from tests.world.stores.samples import payout

REQUEST = replace(asking(), destination=replace(PIX, name=""))
OTHERS = replace(REQUEST, destination=replace(PIX, name="", tax_number="11144477735"))
OWNER = KeyOwner(
    key=PIX.key,
    type=PixKeyType.EMAIL,
    name="Maria",
    tax_number="52998224725",
    ispb="88888888",
)
ARCHIVED = replace(payout(), destination=replace(PIX, tax_number="***.982.247-**"), archived=True)
NAMED = NamedOwner(name="Maria", tax_number="***.982.247-**", bank="88888888")


@dataclass
class Known:
    """What the reference names already."""

    payout: Payout | None = None

    async def find(self, _account_id: str, _reference: str) -> Payout | None:
        return self.payout


async def named(
    request: PayoutRequest,
    reason: str = "",
    bank: OfferingBank | None = None,
    known: Payout | None = None,
    looked_up: Allowance | None = None,
) -> PayoutRequest:
    asked = bank or OfferingBank(reads={"look_up_key": OWNER})
    owners: Any = KeyOwners(OneBank(asked), Log(), looked_up or allowance())  # type: ignore[arg-type]
    known_payouts: Any = Known(known)
    order = KeyPayout(request=request, difference_reason=reason)
    return await with_owner(owners, known_payouts, signed_in(), account(), order)


async def test_the_owner_of_the_key_and_the_reason_for_a_difference_are_in_the_order():
    """The order keeps both while it waits for approval."""
    same = await named(REQUEST, "not asked for")
    other = await named(OTHERS, "her mother's key")

    assert same.owner == NAMED
    assert other.owner == replace(NAMED, reason="her mother's key")
    assert other.destination.tax_number == "11144477735"
    for each in (same, other):
        assert read_payout(payout_text(each)) == each


async def test_the_name_of_the_owner_s_bank_is_in_the_order():
    told = {"bank_name": "Outro Banco S.A.", "bank_number": "999"}
    whole, nothing = replace(OWNER, **told), replace(OWNER, ispb="")

    kept = [await named(REQUEST, bank=_names(each)) for each in (whole, nothing)]

    assert [each.owner and each.owner.bank for each in kept] == ["Outro Banco S.A.", ""]


def _names(owner: KeyOwner) -> OfferingBank:
    return OfferingBank(reads={"look_up_key": owner})


async def test_another_person_s_tax_number_requires_a_reason():
    with pytest.raises(ServiceError) as refusal:
        await named(OTHERS)

    found = refusal.value
    assert (found.error, found.reason, found.field) == (
        errors.FIELD_MISSING,
        "owner_differs",
        "difference_reason",
    )


async def test_differing_tax_numbers_count_towards_the_look_up_limit():
    """Each refusal reveals that the key is not of that number."""
    two = allowance(burst=2)
    for _ in range(2):
        with refused(errors.FIELD_MISSING):
            await named(OTHERS, looked_up=two)

    with refused(errors.TOO_MANY_REQUESTS):
        await named(OTHERS, looked_up=two)


async def test_a_payout_is_not_ordered_when_the_owner_cannot_be_looked_up():
    with pytest.raises(Unavailable):
        await named(REQUEST, bank=OfferingBank(reads={"look_up_key": Unavailable("timeout")}))


async def test_without_owner_look_ups_or_for_a_known_reference_the_order_is_unchanged():
    lacking = OfferingBank(capabilities=lessened(PortCall.LOOK_UP_KEY))

    assert await named(OTHERS, bank=lacking) == OTHERS
    assert await named(OTHERS, known=payout()) == OTHERS


async def test_no_owner_is_looked_up_for_an_order_of_another_day():
    """It is refused whoever owns the key, so such orders cannot be used for look-ups."""
    earlier = replace(OTHERS, date=OTHERS.date - timedelta(days=1))

    assert await named(earlier, bank=OfferingBank(reads={})) == earlier


CNPJ = replace(PIX, tax_number="11222333000181")


@pytest.mark.parametrize(
    ("known", "who", "is_counted"),
    [
        (payout(), signed_in(), True),
        (replace(payout(), client_id="user:joao"), signed_in(), True),
        (replace(payout(), client_id="user:maria"), signed_in(), False),
        (replace(payout(), destination=CNPJ), signed_in(), False),
        (None, signed_in(), False),
        (payout(), CLI, False),
        (ARCHIVED, signed_in(), True),
    ],
    ids=[
        *("a partner's", "a colleague's", "their own", "of a company", "a new one", "a command"),
        "an archived one",
    ],
)
async def test_an_order_by_the_reference_of_another_is_a_search_for_its_cpf(
    known: Payout | None, who: Staff, is_counted: bool
):
    """By the answer, the number is the same or another. It is refused before it is compared."""
    compared: list[PayoutRequest] = []

    async def pay(_who: Staff, _account: object, order: PayoutRequest) -> Payout:
        compared.append(order)
        return payout()

    owners: Any = KeyOwners(OneBank(OfferingBank()), Log(), allowance(1))  # type: ignore[arg-type]
    payouts: Any = Known(known)
    nothing: Any = None
    acts = PayoutActs(payouts=payouts, follow_up=nothing, probes=nothing, pay=pay, owners=owners)
    await acts.order(who, account(), REQUEST)

    if is_counted:
        with refused(errors.TOO_MANY_REQUESTS) as refusal:
            await acts.order(who, account(), OTHERS)
        assert refusal.value.reason == "owner_lookups"
    else:
        await acts.order(who, account(), OTHERS)
    assert compared == [REQUEST, OTHERS][: 1 + (not is_counted)]

"""What came in, whole window by window, newest first."""

from __future__ import annotations

from datetime import timedelta

import pytest

from gateway.domain.bank.capabilities import PortCall
from gateway.domain.bank.providers import NotSupported, Unavailable
from gateway.domain.bank.refunds import IncomingPayment, IncomingSearch, IncomingStatus
from gateway.domain.kernel import errors
from gateway.domain.kernel.money import Money
from gateway.domain.kernel.windows import LocalWindow, Paging, Search, Window
from gateway.operations.bank.reads import Incoming
from tests.unit.charge_book import kept
from tests.unit.offering import OfferingBank, lessened
from tests.unit.refusals import refused
from tests.world.payouts import OneBank
from tests.world.people import account
from tests.world.standing import NOON, TODAY


def payment(minute: int, refunded: int = 0) -> IncomingPayment:
    return IncomingPayment(
        reference="",
        e2e_id=f"E{minute}",
        provider_id=str(minute),
        value=Money(100),
        refunded=Money(refunded),
        paid_at=NOON + timedelta(minutes=minute),
        payer=None,
    )


CAME_IN = [payment(2), payment(3, refunded=100), payment(1, refunded=1)]


def wanted(status: IncomingStatus | None = None, page: int = 1, limit: int = 25) -> IncomingSearch:
    return IncomingSearch(Search(Window(TODAY, TODAY), Paging(page, limit)), status)


def at(bank: OfferingBank, *, is_there: bool = True) -> Incoming:
    return Incoming(OneBank(bank, is_there=is_there), kept())


@pytest.mark.parametrize(
    ("status", "ids"),
    [
        (None, ["E3", "E2", "E1"]),
        (IncomingStatus.PAID, ["E2"]),
        (IncomingStatus.PARTLY_REFUNDED, ["E1"]),
        (IncomingStatus.REFUNDED, ["E3"]),
    ],
)
async def test_payments_are_found_by_status_newest_first(
    status: IncomingStatus | None, ids: list[str]
):
    found = await at(OfferingBank(reads={"list_received": CAME_IN})).search(
        account(), wanted(status)
    )

    assert [each.e2e_id for each in found.items] == ids
    assert found.total == len(ids)


async def test_a_page_is_cut_after_choosing():
    found = await at(OfferingBank(reads={"list_received": CAME_IN})).search(
        account(), wanted(page=2, limit=2)
    )

    assert ([each.e2e_id for each in found.items], found.total) == (["E1"], 3)


async def test_local_days_are_cut_before_pages_are():
    """They touch two days in UTC, with movements of the local days beside them."""
    of_tomorrow = [payment(60 * hours) for hours in (16, 17, 18)]  # 01:00 in Brasilia and later
    of_today = [payment(60 * hours) for hours in (14, -8)]  # 23:00 and 01:00
    of_yesterday = [payment(60 * -10)]  # 23:00
    bank = OfferingBank(reads={"list_received": [*of_tomorrow, *of_today, *of_yesterday]})
    search = IncomingSearch(Search(LocalWindow(TODAY, TODAY), Paging(1, 2)))

    found = await at(bank).search(account(), search)

    assert list(found.items) == of_today
    assert found.total == len(of_today)


async def test_ninety_local_days_are_two_windows_of_a_bank():
    """They touch 91 days in UTC."""
    bank = OfferingBank(reads={"list_received": CAME_IN[:1]})
    days = LocalWindow(TODAY - timedelta(days=89), TODAY)

    await at(bank).search(account(), IncomingSearch(Search(days, Paging(1, 25))))

    assert bank.asked == ["list_received"] * 2


async def test_a_bank_that_does_not_tell_is_told_as_such():
    with pytest.raises(Unavailable):
        await at(OfferingBank(reads={"list_received": Unavailable("timeout")})).search(
            account(), wanted()
        )
    with pytest.raises(NotSupported):
        await at(OfferingBank(capabilities=lessened(PortCall.LIST_RECEIVED))).search(
            account(), wanted()
        )
    with refused(errors.PROVIDER_NOT_CONFIGURED):
        await at(OfferingBank(), is_there=False).search(account(), wanted())

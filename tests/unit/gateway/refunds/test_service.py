"""What came in, whole window by window, newest first."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from gateway.approvals.money import Moved
from gateway.banks.port.capabilities import PortCall
from gateway.banks.port.charges import Payer
from gateway.banks.port.providers import NotFound, NotSupported, Unavailable
from gateway.banks.port.refunds import (
    IncomingPayment,
    IncomingStatus,
    Refund,
    RefundStatus,
    refund_key,
)
from gateway.core import errors
from gateway.core.access import Staff
from gateway.core.account import Account, Environment
from gateway.core.approvals import Approval
from gateway.core.money import Money, Sum
from gateway.core.rights import Role
from gateway.core.windows import LocalWindow, Paging, Search, Window
from gateway.refunds.orders import RefundRequest
from gateway.refunds.searches import IncomingSearch, RefundSearch
from gateway.refunds.service import Refunds
from tests.unit.charge_book import kept
from tests.unit.gateway.http.ordering import WAITING
from tests.unit.offering import OfferingBank, acting, lessened, refund, staff
from tests.unit.refusals import refused
from tests.world.exports import exports
from tests.world.payouts import OneBank
from tests.world.people import ACCOUNT, account, somebody
from tests.world.standing import NOON, TODAY
from tests.world.stores.samples import payout


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


_DAY = Search(Window(TODAY, TODAY), Paging(1, 25))


def wanted(status: IncomingStatus | None = None, page: int = 1, limit: int = 25) -> IncomingSearch:
    return IncomingSearch(Search(Window(TODAY, TODAY), Paging(page, limit)), status)


def at(
    bank: OfferingBank,
    *,
    is_there: bool = True,
    placed: Moved | Approval | None = None,
    told: list[Refund] | None = None,
) -> Refunds:
    told = [] if told is None else told

    async def place(*_order: object) -> Moved | Approval:
        assert placed
        return placed

    async def tell(_account: Account, refund: Refund) -> None:
        told.append(refund)

    return Refunds(
        banks=OneBank(bank, is_there=is_there),
        kept=kept(),
        environment=Environment.SANDBOX,
        place=place,
        tell=tell,
        exports=exports(),
    )


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
    found = await at(OfferingBank(reads={"list_received": CAME_IN})).received(
        staff(), account(), wanted(status)
    )

    assert [each.e2e_id for each in found.items] == ids
    assert found.total == len(ids)


async def test_payments_naming_a_charge_are_noted_with_their_amounts():
    """Their amounts decide whether one pays the charge; payments without a reference do not."""
    named = [replace(each, reference="pedido-1") for each in CAME_IN[:2]]
    refunds = at(OfferingBank(reads={"list_received": [*named, CAME_IN[2]]}))

    await refunds.received(staff(), account(), wanted(IncomingStatus.REFUNDED))
    await refunds.kept.notes.run_once()

    noted = refunds.kept.records.noted
    assert [(each.reference, each.e2e_id, each.paid, each.is_listed) for each in noted] == [
        ("pedido-1", "E3", Money(100), True),
        ("pedido-1", "E2", Money(100), True),
    ]


@pytest.mark.parametrize(
    ("text", "ids"),
    [("1,00", ["E3", "E2", "E1"]), ("0,01", ["E1"]), ("0,99", ["E1"]), ("0,00", [])],
)
async def test_an_amount_search_matches_received_refunded_and_net_amounts(
    text: str, ids: list[str]
):
    found = await at(OfferingBank(reads={"list_received": CAME_IN})).received(
        staff(), account(), replace(wanted(), text=text)
    )

    assert [each.e2e_id for each in found.items] == ids


async def test_totals_cover_all_payments_received_on_every_page():
    page, totals = await at(OfferingBank(reads={"list_received": CAME_IN})).received_totals(
        staff(), account(), wanted(limit=1)
    )

    assert (len(page.items), page.total) == (1, 3)
    assert (totals.value, totals.refunded, totals.net) == (Sum(300), Sum(101), Sum(199))


async def test_the_export_of_payments_received_has_every_payment_with_its_net():
    payer = Payer(name="=Maria", tax_number="52998224725")
    came_in = [*CAME_IN[:2], replace(CAME_IN[2], payer=payer)]
    file = await at(OfferingBank(reads={"list_received": came_in})).export(
        staff(), account(), wanted(limit=1)
    )
    assert file.rest is not None

    text = (file.first + b"".join([each async for each in file.rest])).decode("utf-8-sig")

    head, *lines = [each.split(";") for each in text.splitlines()]
    assert head[-3:] == ["Valor", "Valor devolvido", "Valor líquido"]
    assert [each[5:] for each in lines] == [
        ["devolvido", "1,00", "1,00", "0,00"],
        ["recebido", "1,00", "0,00", "1,00"],
        ["devolvido em parte", "1,00", "0,01", "0,99"],
    ]
    assert lines[2][1:3] == ["'=Maria", "***.982.247-**"]


async def test_payments_received_are_filtered_before_paging():
    found = await at(OfferingBank(reads={"list_received": CAME_IN})).received(
        staff(), account(), wanted(page=2, limit=2)
    )

    assert ([each.e2e_id for each in found.items], found.total) == (["E1"], 3)


async def test_payments_received_are_limited_to_local_days_before_paging():
    """Local days touch two UTC days, which contain movements of other local days."""
    of_tomorrow = [payment(60 * hours) for hours in (16, 17, 18)]  # 01:00 in Brasilia and later
    of_today = [payment(60 * hours) for hours in (14, -8)]  # 23:00 and 01:00
    of_yesterday = [payment(60 * -10)]  # 23:00
    bank = OfferingBank(reads={"list_received": [*of_tomorrow, *of_today, *of_yesterday]})
    search = IncomingSearch(Search(LocalWindow(TODAY, TODAY), Paging(1, 2)))

    found = await at(bank).received(staff(), account(), search)

    assert list(found.items) == of_today
    assert found.total == len(of_today)


async def test_ninety_local_days_are_read_in_two_bank_windows():
    """They touch 91 days in UTC."""
    bank = OfferingBank(reads={"list_received": CAME_IN[:1]})
    days = LocalWindow(TODAY - timedelta(days=89), TODAY)

    await at(bank).received(staff(), account(), IncomingSearch(Search(days, Paging(1, 25))))

    assert bank.asked == ["list_received"] * 2


async def test_an_unreadable_list_of_payments_is_an_error():
    with pytest.raises(Unavailable):
        await at(OfferingBank(reads={"list_received": Unavailable("timeout")})).received(
            staff(), account(), wanted()
        )
    with pytest.raises(NotSupported):
        await at(OfferingBank(capabilities=lessened(PortCall.LIST_RECEIVED))).received(
            staff(), account(), wanted()
        )
    with refused(errors.PROVIDER_NOT_CONFIGURED):
        await at(OfferingBank(), is_there=False).received(staff(), account(), wanted())


@pytest.mark.parametrize(
    ("status", "ids"),
    [(None, ["3", "2", "1"]), (RefundStatus.PAID, ["3", "1"]), (RefundStatus.FAILED, ["2"])],
)
async def test_refunds_are_found_by_status(status: RefundStatus | None, ids: list[str]):
    listed = [
        refund(provider_id="2", status=RefundStatus.FAILED, created_at=NOON),
        refund(provider_id="3", created_at=NOON + timedelta(minutes=1)),
        refund(provider_id="1", created_at=NOON - timedelta(minutes=1)),
    ]
    refunds = at(OfferingBank(reads={"list_refunds": listed}))

    found = await refunds.search(staff(), account(), RefundSearch(_DAY, status))

    assert [each.provider_id for each in found.items] == ids
    assert found.total == len(ids)


async def test_refunds_are_limited_to_local_days_before_paging():
    listed = [
        refund(provider_id=str(hours), created_at=NOON + timedelta(hours=hours))
        for hours in (18, 16, 14, -8, -10)
    ]
    refunds = at(OfferingBank(reads={"list_refunds": listed}))
    search = RefundSearch(Search(LocalWindow(TODAY, TODAY), Paging(1, 1)))

    found = await refunds.search(staff(), account(), search)

    assert [each.provider_id for each in found.items] == ["14"]
    assert found.total == len(["14", "-8"])


async def test_a_refund_is_read_by_its_reference():
    bank = OfferingBank()
    bank.given[refund_key(Environment.SANDBOX, ACCOUNT, "refund-1")] = refund(reference="")

    told: list[Refund] = []

    found = await at(bank, told=told).get(staff(), account(), "refund-1")

    assert found == refund(reference="refund-1")
    assert [each.return_id for each in told] == [found.return_id]
    with pytest.raises(NotFound):
        await at(bank).get(staff(), account(), "refund-2")


@pytest.mark.parametrize("said", [refund(), WAITING])
async def test_a_refund_ordered_by_a_user_is_placed_or_awaits_approval(said: Refund | Approval):
    person = Staff(acting(), person=somebody(Role.OPERATOR, has_factor=True, factor_at=NOON))
    order = RefundRequest(reference="refund-1", payment="order-1", value=Money(1050))

    assert await at(OfferingBank(), placed=said).order(person, account(), order) == said
    with pytest.raises(TypeError):
        await at(OfferingBank(), placed=payout()).order(person, account(), order)

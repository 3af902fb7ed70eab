"""Which payout a movement names, and what a statement says about money that left."""

from dataclasses import replace
from datetime import date

from gateway.banks.port.providers import Bank, Page, ProviderAccount
from gateway.banks.port.statements import Direction, Entry, MovementKind
from gateway.core.money import Money
from gateway.core.windows import Window
from gateway.payouts.matching import Execution, NamedPayouts, statement_payouts
from tests.world.movements import movement
from tests.world.payouts import PayoutWorld, ScriptedBank
from tests.world.standing import NOON, Clock

DAY = Window(date(2026, 11, 20), date(2026, 11, 20))
PAYOUT = PayoutWorld(None, ScriptedBank(), Clock())._payout()  # type: ignore[arg-type]
KEY = PAYOUT.provider_key


async def read(*pages: list[Entry], rows=()) -> list[Execution]:
    statement = {
        str(number) if number else None: Page(
            items=page, next_cursor=str(number + 1) if number + 1 < len(pages) else None
        )
        for number, page in enumerate(pages)
    }
    bank = ScriptedBank(reads={"statement": statement})
    account = ProviderAccount(account_id="a", provider_account="b")
    shown = await statement_payouts(Bank("sandbox", bank, account, False), DAY, rows)
    return list(shown.executions)


async def test_an_outgoing_pix_movement_is_an_execution():
    found = await read([movement(provider_key=KEY)])

    assert found == [Execution(key=KEY, e2e_id="E7", value=Money(1050), at=NOON)]


async def test_incoming_money_and_fees_are_no_executions():
    fee = movement(is_pix=False)
    income = movement(direction=Direction.CREDIT)

    assert await read([fee, income]) == []


async def test_a_returned_pix_is_no_execution():
    assert await read([movement(kind=MovementKind.PIX_RETURN)]) == []


async def test_executions_of_every_page_are_counted():
    assert len(await read([movement()], [], [movement(), movement()])) == 3


async def test_an_entry_without_our_key_is_matched_by_end_to_end_id():
    """For banks that do not return our key."""
    row = replace(PAYOUT, e2e_id="E7")

    found = await read([movement(), movement(e2e_id="E8"), movement(e2e_id="")], rows=[row])

    assert [each.key for each in found] == [KEY, "", ""]


async def test_an_execution_with_an_equal_credit_is_returned():
    back = movement(provider_key=KEY, direction=Direction.CREDIT)

    found = await read([back, movement(provider_key=KEY), movement(provider_key="0" * 32)])

    assert [each.returned for each in found] == [True, False]


async def test_a_credit_of_another_amount_does_not_mark_a_payout_as_returned():
    income = movement(provider_key=KEY, direction=Direction.CREDIT, value=Money(1))

    [found] = await read([income, movement(provider_key=KEY)])

    assert not found.returned


async def test_credits_that_add_up_to_the_amount_mark_a_payout_as_returned():
    parts = [
        movement(provider_key=KEY, direction=Direction.CREDIT, value=Money(centavos))
        for centavos in (400, 650)
    ]

    [whole] = await read([*parts, movement(provider_key=KEY)])
    [part] = await read([parts[0], movement(provider_key=KEY)])

    assert (whole.returned, part.returned) == (True, False)


def test_a_movement_is_matched_by_our_key_before_the_end_to_end_id():
    other = replace(PAYOUT, reference="order-2", provider_key="1" * 32, e2e_id="E7")
    payouts = NamedPayouts([PAYOUT, other])

    assert payouts.of(movement(provider_key=KEY, e2e_id="E7")) is PAYOUT
    assert payouts.every(movement(provider_key=KEY, e2e_id="E7")) == [PAYOUT, other]
    assert payouts.of(movement(e2e_id="E7")) is other
    assert payouts.of(movement(e2e_id="")) is None


def test_incoming_money_is_matched_by_our_key_alone():
    """Its end-to-end id belongs to another payment."""
    payouts = NamedPayouts([replace(PAYOUT, e2e_id="E7")])
    income = movement(direction=Direction.CREDIT)

    assert payouts.of(income) is None
    assert payouts.of(movement(direction=Direction.CREDIT, provider_key=KEY)) is not None

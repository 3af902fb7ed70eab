"""All movements of a window, those that are not Pix too."""

from __future__ import annotations

import pytest

from gateway.domain.bank.providers import Page, Unavailable
from gateway.domain.bank.statements import MovementKind
from gateway.domain.kernel import errors
from gateway.domain.kernel.windows import Window
from gateway.operations.kernel.audit_context import RuleViolation
from gateway.statements.reports import AccountMovements
from tests.unit.refusals import refused
from tests.world.movements import movement
from tests.world.payouts import OneBank, ScriptedBank
from tests.world.people import account
from tests.world.standing import NOON, TODAY

WINDOW = Window(TODAY, TODAY)
PIX = movement(is_pix=True, kind=MovementKind.PIX, created_at=NOON)
FEE = movement(is_pix=False, kind=MovementKind.FEE, created_at=NOON.replace(hour=13))
TED = movement(is_pix=False, kind=MovementKind.TED, created_at=NOON.replace(hour=11))


def at(said: object, *, is_there: bool = True, most: int = 3) -> AccountMovements:
    bank = ScriptedBank(reads={"statement": said})
    return AccountMovements(OneBank(bank, is_there=is_there), most)


async def test_nothing_is_left_out_and_the_newest_is_first():
    pages = {
        None: Page(items=[TED, PIX], next_cursor="2"),
        "2": Page(items=[FEE], next_cursor=None),
    }

    assert await at(pages).movements(account(), WINDOW) == [FEE, PIX, TED]


async def test_too_many_are_refused_as_soon_as_it_shows():
    pages = {None: Page(items=[TED, PIX], next_cursor="2"), "2": Page(items=[FEE], next_cursor="3")}

    with pytest.raises(RuleViolation, match="more than 2"):
        await at(pages, most=2).movements(account(), WINDOW)


async def test_a_bank_that_does_not_tell_is_told_as_such():
    with pytest.raises(Unavailable):
        await at({None: Unavailable("timeout")}).movements(account(), WINDOW)
    with refused(errors.PROVIDER_NOT_CONFIGURED):
        await at({}, is_there=False).movements(account(), WINDOW)

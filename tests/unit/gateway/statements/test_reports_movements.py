"""All movements of a window, those that are not Pix too."""

from __future__ import annotations

import pytest

from gateway.banks.port.providers import Page
from gateway.banks.port.statements import Entry, MovementKind
from gateway.core.audit_context import RuleViolation
from gateway.core.windows import Window
from gateway.statements.reports import movement_pages
from tests.world.movements import movement
from tests.world.payouts import OneBank, ScriptedBank
from tests.world.people import account
from tests.world.standing import NOON, TODAY

WINDOW = Window(TODAY, TODAY)
PIX = movement(is_pix=True, kind=MovementKind.PIX, created_at=NOON)
FEE = movement(is_pix=False, kind=MovementKind.FEE, created_at=NOON.replace(hour=13))
TED = movement(is_pix=False, kind=MovementKind.TED, created_at=NOON.replace(hour=11))


async def moved(said: object, *, is_there: bool = True, most: int = 3) -> list[Entry]:
    banks = OneBank(ScriptedBank(reads={"statement": said}), is_there=is_there)
    pages = movement_pages(banks, account(), WINDOW, most)
    return [entry async for page in pages for entry in page]


async def test_movements_are_read_from_all_pages():
    pages = {
        None: Page(items=[TED, PIX], next_cursor="2"),
        "2": Page(items=[FEE], next_cursor=None),
    }

    assert await moved(pages) == [TED, PIX, FEE]


async def test_too_many_movements_are_refused_early():
    pages = {None: Page(items=[TED, PIX], next_cursor="2"), "2": Page(items=[FEE], next_cursor="3")}

    with pytest.raises(RuleViolation, match="more than 2"):
        await moved(pages, most=2)

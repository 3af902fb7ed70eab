"""References that are words of our paths."""

from __future__ import annotations

import pytest

from tests.surfaces.backoffice.desk import Desk
from tests.surfaces.world import order

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.mark.parametrize("word", ["pix", "bank-account"])
async def test_a_payout_may_have_the_name_of_a_path(desk: Desk, word: str):
    """A partner chose it; an operator reads it under it."""
    world = desk.world
    await world.pay(order(word, world.today()))

    read = await desk.read(f"/withdraw/{word}")
    gone = await desk.ask("DELETE", desk.at(f"/withdraw/{word}"))

    assert read.document["reference"] == word
    assert gone.verdict == (501, "SVC.PIX.018")


async def test_what_has_the_name_of_a_path_may_be_absent(desk: Desk):
    assert (await desk.read("/pix/refunds/search")).verdict == (404, "SVC.PIX.017")
    assert (await desk.read("/pix/keys/lookup")).verdict == (400, "SVC.VAL.006")

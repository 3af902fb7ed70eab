"""References that are words of our paths."""

from __future__ import annotations

import pytest

from tests.world.backoffice.client import BackofficeClient
from tests.world.gateway.world import order

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.mark.parametrize("word", ["pix", "bank-account"])
async def test_a_payout_reference_may_equal_a_path_word(
    backoffice_client: BackofficeClient, word: str
):
    """The partner chooses it, and operators read the payout under it."""
    world = backoffice_client.world
    await world.pay(order(word, world.today()))

    read = await backoffice_client.read(f"/withdraw/{word}")
    gone = await backoffice_client.ask("DELETE", backoffice_client.at(f"/withdraw/{word}"))

    assert read.document["reference"] == word
    assert gone.verdict == (501, "SVC.PIX.018")


async def test_a_record_named_like_a_path_may_be_absent(backoffice_client: BackofficeClient):
    assert (await backoffice_client.read("/pix/refunds/search")).verdict == (404, "SVC.PIX.017")
    assert (await backoffice_client.read("/pix/keys/lookup")).verdict == (400, "SVC.VAL.006")

"""The surface of callbacks."""

from __future__ import annotations

from typing import Any

import pytest
from multidict import CIMultiDict

from gateway.domain.requests.calls import RawRequest
from gateway.http.callbacks.surface import callback_surface
from gateway.http.table import check_surfaces
from gateway.operations.backoffice.callbacks import AddressedDelivery


class Taker:
    """Takes whatever comes."""

    def __init__(self) -> None:
        self.taken: list[AddressedDelivery] = []

    async def take(self, came: AddressedDelivery) -> None:
        self.taken.append(came)


@pytest.mark.parametrize("rest", ["", "pix"])
async def test_the_very_bytes_are_handed_on(rest: str):
    """A signature is over what came, not over what was read of it."""
    taker: Any = Taker()
    (gate,) = callback_surface(taker).gates
    row = gate.rows[1 if rest else 0]
    path = {"provider": "p", "token": "t"} | ({"rest": rest} if rest else {})
    asked = RawRequest(path=path, headers=CIMultiDict({"Webhook-Id": "1"}), body=b" {}\n")
    asked.certificate = b"der"

    said = await row.serve(None, asked)

    (came,) = taker.taken
    assert said == {"status": "ok"}
    assert (came.provider, came.token) == ("p", "t")
    delivery = came.delivery
    assert (delivery.body, delivery.rest, delivery.certificate) == (b" {}\n", rest, b"der")
    assert delivery.headers.get("webhook-id") == "1"


def test_both_rows_are_open_for_a_reason():
    taker: Any = Taker()
    surface = callback_surface(taker)

    assert check_surfaces([surface]) == []
    assert surface.gates[0].opens
    assert surface.body_bytes == 64 * 1024

"""The surface of callbacks."""

from __future__ import annotations

from typing import Any

from multidict import CIMultiDict

from gateway.domain.requests.calls import RawRequest
from gateway.http.callbacks.surface import callback_surface
from gateway.http.table import check_surfaces
from gateway.operations.backoffice.callbacks import Delivery


class Taker:
    """Takes whatever comes."""

    def __init__(self) -> None:
        self.taken: list[Delivery] = []

    async def take(self, came: Delivery) -> None:
        self.taken.append(came)


async def test_the_very_bytes_are_handed_on():
    """A signature is over what came, not over what was read of it."""
    taker: Any = Taker()
    (gate,) = callback_surface(taker).gates
    (row,) = gate.rows
    headers = CIMultiDict({"Webhook-Id": "1"})
    asked = RawRequest(path={"provider": "p", "token": "t"}, headers=headers, body=b" {}\n")

    said = await row.serve(None, asked)

    (came,) = taker.taken
    assert said == {"status": "ok"}
    assert (came.provider, came.token, came.body) == ("p", "t", b" {}\n")
    assert came.headers.get("webhook-id") == "1"


def test_the_one_row_is_open_for_a_reason():
    taker: Any = Taker()
    surface = callback_surface(taker)

    assert check_surfaces([surface]) == []
    assert surface.gates[0].opens
    assert surface.body_bytes == 64 * 1024

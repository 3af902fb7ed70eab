"""The surface of callbacks."""

from __future__ import annotations

from typing import Any

import pytest
from multidict import CIMultiDict

from gateway.callbacks.reception import AddressedDelivery
from gateway.callbacks.surface import callback_surface
from gateway.core.calls import Call, RawRequest
from gateway.http.table import Table, check_surfaces

STEPS = pytest.mark.parametrize(
    ("came", "rest"),
    [
        ("", ""),
        ("/pix", "pix"),
        ("/secret/pix", "secret/pix"),
        ("/secret%2Fpix", "secret%2Fpix"),
        ("/secret%20step/pix%2F", "secret step/pix%2F"),
    ],
)


class Taker:
    def __init__(self) -> None:
        self.taken: list[AddressedDelivery] = []
        self.expected: list[tuple[str, ...]] = []

    def expect(self, *came: str) -> None:
        self.expected.append(came)

    async def take(self, came: AddressedDelivery) -> None:
        self.taken.append(came)


@STEPS
def test_the_address_is_checked_before_the_body_is_read(came: str, rest: str):
    taker: Any = Taker()
    found = Table([callback_surface(taker)]).find(f"/callbacks/p/t{came}")
    assert found is not None
    (policy,) = found.places["POST"].gate.policies

    policy(Call(asked=RawRequest(path=found.path), needs=None, quota="callback"))

    assert (taker.expected, taker.taken) == ([("p", "t", rest)], [])


@STEPS
async def test_the_body_is_passed_on_unchanged_with_the_path_suffix(came: str, rest: str):
    """A signature covers the received bytes, not what was read from them."""
    taker: Any = Taker()
    found = Table([callback_surface(taker)]).find(f"/callbacks/p/t{came}")
    assert found is not None
    asked = RawRequest(path=found.path, headers=CIMultiDict({"Webhook-Id": "1"}), body=b" {}\n")
    asked.certificate = lambda: b"der"

    said = await found.places["POST"].route.serve(None, asked)

    (taken,) = taker.taken
    assert said == {"status": "ok"}
    assert (taken.provider, taken.token) == ("p", "t")
    delivery = taken.delivery
    assert (delivery.body, delivery.rest, delivery.certificate) == (b" {}\n", rest, b"der")
    assert delivery.headers.get("webhook-id") == "1"


@pytest.mark.parametrize("came", ["/", "//pix", "/secret/", "/secret//", "/secret/pix/", "/a/b/c"])
def test_an_empty_or_additional_path_step_is_not_routed(came: str):
    taker: Any = Taker()

    assert Table([callback_surface(taker)]).find(f"/callbacks/p/t{came}") is None


def test_every_route_is_public_for_a_stated_reason():
    taker: Any = Taker()
    surface = callback_surface(taker)

    assert check_surfaces([surface]) == []
    assert surface.gates[0].opens
    assert surface.body_bytes == 64 * 1024

"""The surface for banks' callbacks: open to any caller whose callback is proven."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypedDict

import msgspec

from gateway.banks.port.provider_callbacks import Delivery
from gateway.callbacks.reception import AddressedDelivery, Reception
from gateway.core import errors
from gateway.core.calls import Input, RawRequest
from gateway.core.priority import Priority
from gateway.http.gates import admit_anybody
from gateway.http.route import OK, Gate, Surface
from gateway.http.routing import BODY_BYTES, Routes
from policies.authentication.callback import GivenAddress

NAME = "callbacks"
# The steps that may follow our address: one that an adapter makes from a secret, one of the bank.
_BELOW = ("rest", "below")
_ADDRESS = "/{provider}/{token}"
_PATHS = (
    (_ADDRESS, "take", "Receive a callback from a bank."),
    (
        f"{_ADDRESS}/{{rest}}",
        "take_below",
        "Receive a callback from a bank that adds a step to the address it was given.",
    ),
    (
        f"{_ADDRESS}/{{rest}}/{{below}}",
        "take_two_below",
        "Receive a callback from a bank that adds a step to an address with a secret one.",
    ),
)
CHALLENGE = 'Signature realm="callbacks"'


class BankBody(msgspec.Struct):
    """A bank's body; it is stored as received."""


class TakenDocument(TypedDict):
    """The callback was accepted; it is processed later."""

    status: Literal["ok"]


def callback_surface(reception: Reception) -> Surface:
    """Build the surface and its one gate."""

    def expect(path: Mapping[str, str]) -> None:
        reception.expect(path["provider"], path["token"], _rest(path))

    gate = Gate(
        policies=(GivenAddress(expect),),
        admits=admit_anybody,
        routes=_routes(reception).declared,
        opens="a bank has no credential of ours: it proves itself, as its adapter says how",
    )
    return Surface(
        name=NAME,
        prefix="/callbacks",
        gates=(gate,),
        challenge=CHALLENGE,
        body_bytes=BODY_BYTES,
    )


def _routes(reception: Reception) -> Routes:
    banks = Routes(
        NAME,
        needs=None,
        quota="callback",
        priority=Priority.PARTNERS,
        takes={"came": Input(read=_delivery, body=BankBody)},
        shows=_taken,
        raises=(errors.CREDENTIALS_INVALID, errors.ROUTE_UNKNOWN),
        status=OK,
    )
    for path, name, summary in _PATHS:
        banks.post(path, name, reception.take, summary=summary)
    return banks


def _delivery(asked: RawRequest) -> AddressedDelivery:
    """Take the request unchanged; the proof covers its exact bytes."""
    return AddressedDelivery(
        provider=asked.path["provider"],
        token=asked.path["token"],
        delivery=Delivery(
            headers=asked.headers,
            body=asked.body,
            rest=_rest(asked.path),
            certificate=asked.certificate(),
        ),
    )


def _rest(path: Mapping[str, str]) -> str:
    """Return the path segments below our address, decoded; a slash inside a segment is escaped."""
    steps = (path[name] for name in _BELOW if name in path)
    return "/".join(step.replace("/", "%2F") for step in steps)


def _taken(_done: None, _who: None) -> TakenDocument:
    return {"status": "ok"}

"""Where banks tell us what happened: open to whoever proves to be the bank."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypedDict

import msgspec

from gateway.banks.port.provider_callbacks import Delivery
from gateway.callbacks.reception import AddressedDelivery, Reception
from gateway.core import errors
from gateway.core.calls import Call, Input, RawRequest
from gateway.http.common import STORE_FAILS
from gateway.http.route import Gate, Row, RowLimits, Surface, route
from policies.authentication.callback import GivenAddress

# Far above any callback; it bounds what a stranger can make us read before the proof.
BODY_BYTES = 64 * 1024
NAME = "callbacks"
# The steps that may follow our address: one that an adapter makes from a secret, one of the bank.
_BELOW = ("rest", "below")
_ADDRESS = "/{provider}/{token}"
_PATHS = (
    (_ADDRESS, "callbacks.take", "Receive a callback from a bank."),
    (
        f"{_ADDRESS}/{{rest}}",
        "callbacks.take_below",
        "Receive a callback from a bank that adds a step to the address it was given.",
    ),
    (
        f"{_ADDRESS}/{{rest}}/{{below}}",
        "callbacks.take_two_below",
        "Receive a callback from a bank that adds a step to an address with a secret one.",
    ),
)
CHALLENGE = 'Signature realm="callbacks"'


class BankBody(msgspec.Struct):
    """Whatever the bank writes; it is kept as it came."""


class TakenDocument(TypedDict):
    """It was taken; what follows from it is found out later."""

    status: Literal["ok"]


def callback_surface(reception: Reception) -> Surface:
    """Put the one gate together."""

    def expect(path: Mapping[str, str]) -> None:
        reception.expect(path["provider"], path["token"], _rest(path))

    gate = Gate(
        policies=(GivenAddress(expect),),
        admits=_admit,
        rows=_rows(reception),
        opens="a bank has no credential of ours: it proves itself, as its adapter says how",
    )
    return Surface(
        name=NAME,
        prefix="/callbacks",
        gates=(gate,),
        challenge=CHALLENGE,
        body_bytes=BODY_BYTES,
        exempt=frozenset(),
    )


def _rows(reception: Reception) -> Sequence[Row[None]]:
    async def take(_who: None, came: AddressedDelivery) -> None:
        await reception.take(came)

    def row(path: str, name: str, summary: str) -> Row[None]:
        return route(
            "POST",
            path,
            name=name,
            summary=summary,
            needs=None,
            limits=RowLimits("callback", BODY_BYTES),
            takes=Input(read=_delivery, body=BankBody),
            runs=take,
            shows=_taken,
            fails=STORE_FAILS,
            raises=(errors.CREDENTIALS_INVALID, errors.ROUTE_UNKNOWN),
        )

    return tuple(row(*each) for each in _PATHS)


def _admit(_call: Call) -> None:
    """Let everybody on: who it is shows in what they bring."""


def _delivery(asked: RawRequest) -> AddressedDelivery:
    """Take what came as it stands; the proof is over the very bytes."""
    return AddressedDelivery(
        provider=asked.path["provider"],
        token=asked.path["token"],
        delivery=Delivery(
            headers=asked.headers,
            body=asked.body,
            rest=_rest(asked.path),
            certificate=asked.certificate,
        ),
    )


def _rest(path: Mapping[str, str]) -> str:
    """Return the steps below our address, decoded; a slash inside a step divides none."""
    steps = (path[name] for name in _BELOW if name in path)
    return "/".join(step.replace("/", "%2F") for step in steps)


def _taken(_done: None, _who: None) -> TakenDocument:
    return {"status": "ok"}

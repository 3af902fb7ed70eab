"""A payout that a user ordered as JSON, as it is kept, encrypted, until it is carried out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from datetime import date

from gateway.banks.port.payout_orders import PayoutMethod
from gateway.core.money import Money
from gateway.payouts.model import (
    NamedOwner,
    PayoutRequest,
    normal_destination,
    restored_destination,
)


def payout_text(order: PayoutRequest) -> str:
    """Serialise a payout."""
    content: dict[str, object] = {
        "reference": order.reference,
        "centavos": order.value.centavos,
        "description": order.description,
        "method": order.method.value,
        "date": order.date.isoformat(),
        "destination": normal_destination(order.destination),
        "destination_sent": dict(order.destination_sent),
    }
    if order.owner is not None:
        content["owner"] = asdict(order.owner)
    return json.dumps(content)


def read_payout(text: str) -> PayoutRequest:
    """Parse a payout that ``payout_text`` serialised."""
    content: Mapping[str, object] = json.loads(text)
    method = PayoutMethod(str(content["method"]))
    return PayoutRequest(
        reference=str(content["reference"]),
        method=method,
        value=read_value(content),
        date=date.fromisoformat(str(content["date"])),
        description=str(content["description"]),
        destination=restored_destination(method, _texts(content["destination"])),
        destination_sent=_texts(content["destination_sent"]),
        owner=NamedOwner(**_texts(content["owner"])) if "owner" in content else None,
    )


def read_value(content: Mapping[str, object]) -> Money:
    """Read the amount of an order; TypeError for anything but whole centavos."""
    centavos = content["centavos"]
    if not isinstance(centavos, int):
        raise TypeError(centavos)
    return Money(centavos)


def _texts(found: object) -> Mapping[str, str]:
    if not isinstance(found, dict):
        raise TypeError(found)
    return {str(name): str(text) for name, text in found.items()}

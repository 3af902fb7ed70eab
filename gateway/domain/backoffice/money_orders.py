"""Payouts and refunds that users order, as one JSON text: sealed while the order waits."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import date

from gateway.domain.backoffice.approvals import ApprovalKind
from gateway.domain.bank.payout_orders import (
    NamedOwner,
    PayoutMethod,
    normal_destination,
    restored_destination,
)
from gateway.domain.bank.refunds import RefundRequest
from gateway.domain.kernel.money import Money
from gateway.domain.payouts.payouts import PayoutRequest

Order = PayoutRequest | RefundRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyPayout:
    """
    A payout to a PIX key as a user orders it.

    Attributes:
        difference_reason: Why, if the tax number is not the owner's; else it is not asked for.
    """

    request: PayoutRequest
    difference_reason: str


def kind_of(order: Order) -> ApprovalKind:
    """Return what kind of order it is."""
    return ApprovalKind.PAYOUT if isinstance(order, PayoutRequest) else ApprovalKind.REFUND


def written(order: Order) -> str:
    """Write an order."""
    content: dict[str, object] = {
        "reference": order.reference,
        "centavos": order.value.centavos,
        "description": order.description,
    }
    if isinstance(order, RefundRequest):
        return json.dumps(content | {"payment": order.payment})
    content["method"] = order.method.value
    content["date"] = order.date.isoformat()
    content["destination"] = normal_destination(order.destination)
    content["destination_sent"] = dict(order.destination_sent)
    if order.owner is not None:
        content["owner"] = asdict(order.owner)
    return json.dumps(content)


def read_payout(text: str) -> PayoutRequest:
    """Read back a payout that ``written`` wrote."""
    content: Mapping[str, object] = json.loads(text)
    method = PayoutMethod(str(content["method"]))
    return PayoutRequest(
        reference=str(content["reference"]),
        method=method,
        value=_value(content),
        date=date.fromisoformat(str(content["date"])),
        description=str(content["description"]),
        destination=restored_destination(method, _texts(content["destination"])),
        destination_sent=_texts(content["destination_sent"]),
        owner=NamedOwner(**_texts(content["owner"])) if "owner" in content else None,
    )


def read_refund(text: str) -> RefundRequest:
    """Read back a refund that ``written`` wrote."""
    content: Mapping[str, object] = json.loads(text)
    return RefundRequest(
        reference=str(content["reference"]),
        payment=str(content["payment"]),
        value=_value(content),
        description=str(content["description"]),
    )


def _value(content: Mapping[str, object]) -> Money:
    centavos = content["centavos"]
    if not isinstance(centavos, int):
        raise TypeError(centavos)
    return Money(centavos)


def _texts(found: object) -> Mapping[str, str]:
    if not isinstance(found, dict):
        raise TypeError(found)
    return {str(name): str(text) for name, text in found.items()}

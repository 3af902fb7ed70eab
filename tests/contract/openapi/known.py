"""
What no schema can tell of a call: today, a valid tax number and key, an id that exists.

Every route of the documents is called with its example, and with what is made of its schema;
both must be accepted. A route that takes nothing but an account needs no word here. Any other has
an entry in ``known_banking``, ``known_events``, ``known_sandbox``, ``known_identity`` or
``known_backoffice``: a function that makes what the call needs, and returns it as ``Known``.
"""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.world.backoffice.client import BackofficeClient

Body = dict[str, Any]

TAX_NUMBER = "529.982.247-25"
KEYS = {
    "cpf": TAX_NUMBER,
    "cnpj": "11.222.333/0001-81",
    "email": "maria@example.com",
    "phone": "+5511987654321",
    "evp": "123e4567-e89b-42d3-a456-426614174000",
}
MOST = 10**18 - 1
"""The largest page and limit that are read; the document names no largest limit."""


def as_it_is(body: Body) -> Body:
    return body


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """
    What one call needs.

    Attributes:
        path: In place of parameters of the path.
        query: In place of parameters of the query that were given; required ones always are.
        body: Changes what was made of the schema into what is true here.
        by: Who asks, where it is not the first of the demo's people who may.
    """

    path: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    body: Callable[[Body], Body] = as_it_is
    by: str | None = None


Knowing = Callable[[BackofficeClient], Awaitable[Known]]


def today(backoffice_client: BackofficeClient) -> dict[str, str]:
    """Return a window of one day; that it runs forwards and is short no schema can tell."""
    return {"init": backoffice_client.world.today(), "ends": backoffice_client.world.today()}


def cents(made: float) -> float:
    """Return an amount that the bank has and no test bank answers in a special way."""
    return round(0.01 + made % 5, 2)


def paged(body: Body) -> Body:
    numbers = {name: min(body[name], MOST) for name in ("page", "limit") if name in body}
    return {**body, **numbers}


def new(reference: str) -> str:
    """Return a reference that was never used, with all that was made of the schema in it."""
    return f"{reference[:900]}{uuid.uuid4()}"


def payee(destination: Body) -> Body:
    """Return a payee with a valid tax number and key."""
    found = {**destination, "tax_number": TAX_NUMBER}
    if "key_type" in found:
        found["key"] = KEYS[found["key_type"]]
    return found


def payout(backoffice_client: BackofficeClient) -> Callable[[Body], Body]:
    """Change a payout into one of today, to an existing payee."""

    def change(body: Body) -> Body:
        return {
            **body,
            "reference": new(body["reference"]),
            "value": cents(body["value"]),
            "date": backoffice_client.world.today(),
            "destination": payee(body["destination"]),
        }

    return change

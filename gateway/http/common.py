"""Documents that several nouns share, and the error for an unavailable store."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final, Protocol, TypedDict

from gateway.core import errors, fields
from gateway.core.account import Account
from gateway.core.catalogue import ErrorCode
from gateway.core.fields import meaning
from gateway.core.storage import StoreUnavailable
from gateway.core.windows import Paging

VERSION = "1.0.0"
"""Of the interface (contract part 9), not of the software."""

Fails = Mapping[type[Exception], ErrorCode]
"""The code of each exception that a route declares."""

STORE_FAILS: Final[Fails] = {StoreUnavailable: errors.STORE_UNAVAILABLE}
"""
503 with ``Retry-After``, on every surface but banking.

Partners branch on 500 there: a payout may have been sent, and is to be read first.
"""


class Total(TypedDict):
    """The total number of items."""

    total: Annotated[int, meaning("How many rows there are in all.")]


class Meter(TypedDict):
    """Page number, page size and total."""

    page: Annotated[int, meaning("Number of the page, from 1.")]
    limit: Annotated[int, meaning("Rows a page, at most 100.", 25)]
    total: Annotated[int, meaning("How many rows there are in all.")]


class PartyDocument(TypedDict):
    """A name and a tax number."""

    name: fields.PersonName
    tax_number: fields.PersonTaxNumber


class OfAccount(Protocol):
    """A caller admitted to one account."""

    @property
    def account(self) -> Account:
        """The account of the caller."""
        ...


def meter(paging: Paging, total: int) -> Meter:
    """Return the position of a page; ``limit`` is the one used."""
    return {"page": paging.page, "limit": paging.limit, "total": total}

"""What every surface shares: its open rows, and the answer while the store is away."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, Protocol, TypedDict

from gateway.core import errors
from gateway.core.account import Account, Environment
from gateway.core.calls import Call
from gateway.core.catalogue import ErrorCode
from gateway.core.storage import StoreUnavailable
from gateway.core.windows import Paging
from gateway.http.route import Gate, Row, RowLimits, route
from policies.validation.inputs import NOTHING

VERSION = "1.0.0"
"""Of the interface (contract part 9), not of the software."""

Fails = Mapping[type[Exception], ErrorCode]
"""The code of each exception that a route declares."""

STORE_FAILS: Final[Fails] = {StoreUnavailable: errors.STORE_UNAVAILABLE}
"""
503 with ``Retry-After``, on every surface but banking.

Partners branch on 500 there: a payout may have been sent, and is to be read first.
"""

_OPEN = RowLimits("read", 0)


class InfoDocument(TypedDict):
    """Name, version and environment of this service."""

    name: str
    version: str
    environment: Literal["sandbox", "production"]


class HealthDocument(TypedDict):
    """Whether the process answers."""

    status: Literal["ok"]


class ErrorCodeDocument(TypedDict):
    """An error code with every status it travels with."""

    code: str
    status: list[int]
    message: str


class Total(TypedDict):
    """How many there are."""

    total: int


class ErrorCodeList(TypedDict):
    """The catalogue."""

    data: list[ErrorCodeDocument]
    meta: Total


@dataclass(frozen=True, slots=True)
class Introduction:
    """Answers for the surface itself."""

    environment: Environment
    catalogue: Sequence[ErrorCode]

    async def info(self, _who: None, _taken: None) -> InfoDocument:
        """Say what this is."""
        return {"name": "pixgate", "version": VERSION, "environment": self.environment.value}

    async def health(self, _who: None, _taken: None) -> HealthDocument:
        """Say that the process answers; nothing is looked at."""
        return {"status": "ok"}

    async def error_codes(self, _who: None, _taken: None) -> ErrorCodeList:
        """List every code of the surface."""
        data = codes(self.catalogue)
        return {"data": data, "meta": {"total": len(data)}}


def codes(catalogue: Iterable[ErrorCode]) -> list[ErrorCodeDocument]:
    """Gather the catalogue by public code, in its order."""
    gathered: dict[str, ErrorCodeDocument] = {}
    for error in catalogue:
        shown = gathered.setdefault(error.code, {"code": error.code, "status": [], "message": ""})
        if error.status not in shown["status"]:
            shown["status"] = sorted([*shown["status"], error.status])
        shown["message"] = f"{shown['message']} {error.message}".strip()
    return list(gathered.values())


def admit_anybody(_call: Call) -> None:
    """Let a call through that nobody was asked for."""


def common_rows(
    surface: str, environment: Environment, catalogue: Sequence[ErrorCode]
) -> Sequence[Row[None]]:
    """Return the open rows of a surface, whose codes ``catalogue`` holds."""
    introduction = Introduction(environment, catalogue)

    def opened(word: str, summary: str, runs: Callable[[None, None], Any]) -> Row[None]:
        return route(
            "GET",
            f"/{word}",
            name=f"{surface}.{word.replace('-', '_')}",
            summary=summary,
            needs=None,
            limits=_OPEN,
            takes=NOTHING,
            runs=runs,
            fails={},
            raises=(),
        )

    return (
        opened("info", "Name, version and environment.", introduction.info),
        opened(
            "health",
            "Whether the process answers: it says nothing of the store or the banks.",
            introduction.health,
        ),
        opened(
            "error-codes",
            "Every error code with its statuses and meaning.",
            introduction.error_codes,
        ),
    )


def open_gate(surface: str, environment: Environment, catalogue: Sequence[ErrorCode]) -> Gate[None]:
    """Return the gate that everybody passes."""
    return Gate(
        policies=(),
        admits=admit_anybody,
        rows=common_rows(surface, environment, catalogue),
        opens="what the service is, before anybody has a credential",
    )


class Meter(TypedDict):
    """Page number, page size and total."""

    page: int
    limit: int
    total: int


class PartyDocument(TypedDict):
    """A name and a tax number."""

    name: str
    tax_number: str


class OfAccount(Protocol):
    """Somebody who was let through to one account."""

    @property
    def account(self) -> Account:
        """The account they act on."""
        ...


def meter(paging: Paging, total: int) -> Meter:
    """Show where a page lies; ``limit`` is the one used."""
    return {"page": paging.page, "limit": paging.limit, "total": total}

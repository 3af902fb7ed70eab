"""The open routes of every surface: name, health and error codes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypedDict

from gateway.core.account import Environment
from gateway.core.catalogue import ErrorCode
from gateway.http.common import VERSION, Total
from gateway.http.routing import Routes


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


class ErrorCodeList(TypedDict):
    """The catalogue."""

    data: list[ErrorCodeDocument]
    meta: Total


@dataclass(frozen=True, slots=True)
class Introduction:
    """Answers for the surface itself."""

    environment: Environment
    catalogue: Sequence[ErrorCode]

    async def info(self) -> InfoDocument:
        """Name, version and environment."""
        return {"name": "pixgate", "version": VERSION, "environment": self.environment.value}

    async def health(self) -> HealthDocument:
        """Whether the process answers: it says nothing of the store or the banks."""
        return {"status": "ok"}

    async def error_codes(self) -> ErrorCodeList:
        """Every error code with its statuses and meaning."""
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


def routes(surface: str, environment: Environment, catalogue: Sequence[ErrorCode]) -> Routes:
    """Return the open routes of a surface, whose codes ``catalogue`` holds."""
    introduction = Introduction(environment, catalogue)
    opened = Routes(surface, needs=None, quota="read", fails={})
    opened.get("/info", "info", introduction.info)
    opened.get("/health", "health", introduction.health)
    opened.get("/error-codes", "error_codes", introduction.error_codes)
    return opened

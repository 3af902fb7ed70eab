"""The open routes of every surface: name, health and error codes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, TypedDict

from gateway.core.account import Environment
from gateway.core.catalogue import ErrorCode
from gateway.core.fields import meaning
from gateway.core.priority import Priority
from gateway.http.common import VERSION, Total
from gateway.http.routing import Routes


class InfoDocument(TypedDict):
    """Name, version and environment of this service."""

    name: Annotated[str, meaning("Name, as people know it.", "pixgate")]
    version: Annotated[str, meaning("Version of this interface.", "1.0.0")]
    environment: Annotated[
        Literal["sandbox", "production"], meaning("`sandbox` or `production`.", "sandbox")
    ]


class HealthDocument(TypedDict):
    """Whether the process answers."""

    status: Annotated[Literal["ok"], meaning("The state that it is in.")]


class ErrorCodeDocument(TypedDict):
    """An error code with every status it travels with."""

    code: Annotated[str, meaning("Code of the error; branch on status and code.", "SVC.GTW.005")]
    status: Annotated[list[int], meaning("HTTP statuses that the code comes with.", [429])]
    message: Annotated[
        str, meaning("A sentence for people; its wording may change.", "Too many requests.")
    ]


class ErrorCodeList(TypedDict):
    """The catalogue."""

    data: Annotated[list[ErrorCodeDocument], meaning("The rows of this page.")]
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
        """Whether the process answers; the store and the banks are not checked."""
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
    opened = Routes(surface, needs=None, quota="read", priority=Priority.STRANGERS, fails={})
    opened.get("/info", "info", introduction.info)
    opened.get("/health", "health", introduction.health, priority=Priority.ALWAYS)
    opened.get("/error-codes", "error_codes", introduction.error_codes)
    return opened

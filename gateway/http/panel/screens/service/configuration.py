"""The configuration in force, and the codes that callers are answered with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from gateway.domain.accounts.credentials import Action
from gateway.domain.identity import errors as identity_errors
from gateway.domain.identity.rights import Area, Right
from gateway.domain.kernel import errors
from gateway.http.panel.pages.calls import RowCalls
from gateway.http.panel.pages.page import Page, Result, Shown
from gateway.http.panel.pages.visit import Visit

_READS: Final = Right(Area.CONFIG, Action.READ)
_PARTNERS: Final = tuple(each for each in errors.CATALOGUE if each not in errors.ELSEWHERE)
_PEOPLE: Final = (
    *(each for each in errors.CATALOGUE if each in errors.ELSEWHERE),
    *identity_errors.CATALOGUE,
)


@dataclass(frozen=True, slots=True)
class ServicePages:
    """What the service is made of."""

    rows: RowCalls

    async def configuration(self, visit: Visit) -> Result:
        """Show the configuration as lines of names and values, by its parts."""
        found = await self.rows.section(visit, "backoffice.config")
        parts = _parts(found.data["config"]) if found.data else ()
        data = {"found": found, "parts": parts}
        return Shown(template="service/configuration.html", data=data)

    async def error_codes(self, visit: Visit) -> Result:
        """Show every code that fits what was typed: a part of it, or its status."""
        wanted = visit.query("q").casefold()

        def fits(code: str, status: int, message: str) -> bool:
            return wanted in f"{code} {status} {message}".casefold()

        groups = [
            [each for each in group if fits(each.code, each.status, each.message)]
            for group in (_PARTNERS, _PEOPLE)
        ]
        data = {"partners": groups[0], "people": groups[1]}
        return Shown(template="service/errors.html", data=data)


def _parts(config: Mapping[str, Any]) -> Sequence[tuple[str, Sequence[tuple[str, str]]]]:
    """Return the parts of a configuration with their lines; single settings come first."""
    single = [(name, value) for name, value in config.items() if not isinstance(value, dict)]
    nested = [(name, value) for name, value in config.items() if isinstance(value, dict)]
    parts = [(name, list(_lines(value, ""))) for name, value in nested]
    first = [("", [(name, _text(value)) for name, value in single])] if single else []
    return [*first, *((name, lines) for name, lines in parts if lines)]


def _lines(value: Mapping[str, Any], prefix: str) -> Iterable[tuple[str, str]]:
    """Write nested settings with their names joined by points."""
    for name, each in value.items():
        if isinstance(each, dict) and each:
            yield from _lines(each, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", _text(each)


def _text(value: object) -> str:
    """Write a value as the file has it; what is not set is empty."""
    match value:
        case None | {}:
            return ""
        case bool():
            return "true" if value else "false"
        case list():
            return ", ".join(map(_text, value))
        case _:
            return str(value)


def pages(rows: RowCalls) -> Sequence[Page]:
    """Return the pages."""
    does = ServicePages(rows)
    return (
        Page(
            path="/config",
            name="config",
            summary="Show the configuration in force, version and migrations.",
            needs=_READS,
            shows=does.configuration,
        ),
        Page(
            path="/errors",
            name="errors",
            summary="Show every error code, what it means and what to do.",
            shows=does.error_codes,
        ),
    )

"""The page of the current configuration."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from gateway.configuration.service import Configuration
from gateway.http.panel.pages.kit import PageContext, Pages, part
from gateway.http.panel.pages.page import Page, Result, Shown
from gateway.http.panel.pages.visit import Visit


def pages(configuration: Configuration, context: PageContext) -> Sequence[Page]:
    """Return the page."""
    panel = Pages("/config", context)

    @panel.view("", "config", configuration.read)
    async def shown(visit: Visit) -> Result:
        """Show the configuration in force, version and migrations."""
        found = await part(configuration.read(panel.staff(visit)))
        data = {"found": found, "parts": _parts(found.data.config) if found.data else ()}
        return Shown(template="service/configuration.html", data=data)

    return panel.pages


def _parts(config: Mapping[str, Any]) -> Sequence[tuple[str, Sequence[tuple[str, str]]]]:
    """Return the parts of a configuration with their lines; single settings come first."""
    single = [(name, value) for name, value in config.items() if not isinstance(value, dict)]
    nested = [(name, value) for name, value in config.items() if isinstance(value, dict)]
    parts = [(name, list(_lines(value, ""))) for name, value in nested]
    first = [("", [(name, _text(value)) for name, value in single])] if single else []
    return [*first, *((name, lines) for name, lines in parts if lines)]


def _lines(value: Mapping[str, Any], prefix: str) -> Iterable[tuple[str, str]]:
    """Flatten nested settings, with their names joined by points."""
    for name, each in value.items():
        if isinstance(each, dict) and each:
            yield from _lines(each, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", _text(each)


def _text(value: object) -> str:
    """Write a value as the file would; an unset one is empty."""
    match value:
        case None | {}:
            return ""
        case bool():
            return "true" if value else "false"
        case list():
            return ", ".join(map(_text, value))
        case _:
            return str(value)

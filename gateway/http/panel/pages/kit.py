"""Declares the pages of one noun, which call its service."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from gateway.core.access import Staff, StaffOf, requirement_of
from gateway.domain.identity.errors import SESSION_REQUIRED
from gateway.domain.kernel.errors import ServiceError
from gateway.http.backoffice.callers import explained
from gateway.http.panel.pages.page import Page, Result, Shows
from gateway.http.panel.pages.visit import Visit


class Pages:
    """
    Pages below one path; the first line of each function's docstring is its summary.

    A page is opened by the right that a service method ``requires``: the one that it calls, or
    that its form will call.

    Attributes:
        pages: Those declared so far.
    """

    def __init__(self, prefix: str, staff: StaffOf) -> None:
        self._prefix = prefix
        self._staff = staff
        self.pages: list[Page] = []

    def staff(self, visit: Visit) -> Staff:
        """Return who looks, as services know them."""
        if visit.person is None:
            raise ServiceError(SESSION_REQUIRED, "missing")
        return self._staff(visit.person)

    def may(self, visit: Visit, method: Callable[..., Any]) -> bool:
        """Say whether who looks has the right that a service method asks for."""
        return visit.may(requirement_of(method).right)

    def view(self, path: str, name: str, opens: Callable[..., Any]) -> Callable[[Shows], Shows]:
        """Declare a page that only shows."""
        return self._declare(path, name, opens, None)

    def form(
        self, path: str, name: str, opens: Callable[..., Any], shows: Shows
    ) -> Callable[[Shows], Shows]:
        """Declare what a form does; the page ``shows`` is shown again where it is refused."""
        return self._declare(path, name, opens, shows)

    def _declare(
        self, path: str, name: str, opens: Callable[..., Any], held_by: Shows | None
    ) -> Callable[[Shows], Shows]:
        def declare(run: Shows) -> Shows:
            async def explaining(visit: Visit) -> Result:
                with explained():
                    return await run(visit)

            self.pages.append(
                Page(
                    path=self._prefix + path,
                    name=name,
                    summary=(inspect.getdoc(run) or "").partition("\n")[0],
                    needs=requirement_of(opens).right,
                    shows=held_by or explaining,
                    does=explaining if held_by else None,
                )
            )
            return explaining

        return declare

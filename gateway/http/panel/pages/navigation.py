"""The side column: groups of entries, each a page that the user may open."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from gateway.http.panel.pages.page import Page
from gateway.http.panel.pages.visit import Visit
from gateway.http.panel.pages.words import _


@dataclass(frozen=True, slots=True)
class Entry:
    """
    One page in the side column.

    Attributes:
        word: Its English name, which the template translates.
        icon: Its name in the sprite.
        path: Below ``/panel``.
        count: The name of the count beside it; empty for none.
    """

    word: str
    icon: str
    path: str
    count: str = ""


GROUPS: Final[Sequence[tuple[str, Sequence[Entry]]]] = (
    ("", (Entry(_("Overview"), "layout-dashboard", ""),)),
    (
        _("Money"),
        (
            Entry(_("Payouts"), "send", "/payouts"),
            Entry(_("Files of payouts"), "file-text", "/batches"),
            Entry(_("Unresolved"), "hourglass", "/unresolved", "unresolved"),
            Entry(_("Approvals"), "check-check", "/approvals", "approvals"),
            Entry(_("Charges"), "qr-code", "/charges"),
            Entry(_("Received"), "receipt-text", "/received"),
            Entry(_("Day closings"), "calendar-clock", "/closings"),
        ),
    ),
    (
        _("Operations"),
        (
            Entry(_("Accounts"), "wallet", "/accounts"),
            Entry(_("Companies"), "building-2", "/companies"),
            Entry(_("Banks"), "landmark", "/providers"),
            Entry(_("Stops"), "octagon-x", "/stops", "stops"),
            Entry(_("Outflow guard"), "shield-check", "/outflow"),
            Entry(_("Callbacks"), "inbox", "/callbacks"),
            Entry(_("Requests"), "scroll-text", "/requests"),
            Entry(_("Trace and refusals"), "route", "/explain"),
        ),
    ),
    (
        _("Access"),
        (
            Entry(_("Credentials"), "lock", "/credentials"),
            Entry(_("Endpoints"), "bell-ring", "/endpoints"),
            Entry(_("Deliveries"), "send", "/deliveries"),
            Entry(_("Chats"), "bell-ring", "/chats"),
            Entry(_("People"), "users", "/people"),
            Entry(_("Audit"), "shield-check", "/audit"),
        ),
    ),
    (
        _("Service"),
        (
            Entry(_("Sandbox tools"), "flask-conical", "/sandbox"),
            Entry(_("Configuration"), "settings-2", "/config"),
            Entry(_("Error codes"), "triangle-alert", "/errors"),
            Entry(_("API reference"), "book-open", "/reference"),
        ),
    ),
)


class Navigation:
    """The entries of the existing pages."""

    def __init__(self, pages: Collection[Page]) -> None:
        """Leave out entries without a page."""
        self._needs = {each.path: each.needs for each in pages if each.does is None}

    def of(self, visit: Visit) -> list[tuple[str, list[Entry]]]:
        """Return the groups of entries that a user may open, without empty groups."""
        shown = (
            (name, [each for each in entries if self._opens(visit, each)])
            for name, entries in GROUPS
        )
        return [(name, entries) for name, entries in shown if entries]

    def holds(self, path: str) -> bool:
        """Return whether a page exists at a path below ``/panel``."""
        return path in self._needs

    def _opens(self, visit: Visit, entry: Entry) -> bool:
        if entry.path not in self._needs:
            return False
        needed = self._needs[entry.path]
        return needed is None or visit.may(needed)

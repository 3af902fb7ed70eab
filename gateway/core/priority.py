"""The classes of routes under overload: the last one is shed first."""

from __future__ import annotations

from enum import IntEnum


class Priority(IntEnum):
    """
    How long a request is served while the process is overloaded; declared with its route.

    A request that shows no credential where its route wants one is a stranger's.
    """

    ALWAYS = 0
    """Health, and signing out: never shed, and next to free."""
    PAYOUTS = 1
    """Payouts, whoever orders them, and partners' reads of payouts."""
    STOPS = 2
    """Stops, and the pages that make and lift them."""
    PARTNERS = 3
    """Other reads of partners, and banks' callbacks."""
    PAGES = 4
    """What people read and do, in the panel and the back office."""
    HEAVY = 5
    """Searches, files and closings: one costs as much as many pages."""
    STRANGERS = 6
    """Whoever has shown no credential: sign-ins, documents, paths that do not exist."""

    @property
    def word(self) -> str:
        """The class in metrics."""
        return self.name.lower()

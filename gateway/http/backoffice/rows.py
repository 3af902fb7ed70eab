"""Every row of the back office, by what is asked in front of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gateway.http.backoffice.callers import AccountCaller, BackOfficeCaller
from gateway.http.backoffice.routing import Routes
from gateway.http.route import Row


@dataclass(frozen=True, slots=True, kw_only=True)
class BackOfficeRows:
    """
    The rows, by what is asked in front of them.

    Attributes:
        staff: Of no account: a person, a right, a fresh factor where it needs one.
        fresh: The same, with a fresh factor whatever the right.
        visible: Of one account in the path that is shown to the person, in
            whatever state.
        banking: Of one that is also active and verified (contract 5.1).
    """

    staff: Sequence[Row[BackOfficeCaller]]
    fresh: Sequence[Row[BackOfficeCaller]]
    visible: Sequence[Row[AccountCaller]]
    banking: Sequence[Row[AccountCaller]]


def backoffice_rows(nouns: Sequence[Routes]) -> BackOfficeRows:
    """Return every row of the nouns."""
    return BackOfficeRows(
        staff=[row for each in nouns for row in each.staff],
        fresh=[row for each in nouns for row in each.fresh],
        visible=[row for each in nouns for row in each.visible],
        banking=[row for each in nouns for row in each.banking],
    )

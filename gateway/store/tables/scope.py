"""A caller's company scope as conditions of a statement."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import ColumnElement, Select, and_, func, or_, select

from gateway.core.company_scope import WIDE, CompanyScope, StopScope
from gateway.store.tables.core import accounts, companies, credentials, stops
from gateway.store.tables.identity import users

Conditions = Sequence[ColumnElement[bool]]
"""For ``where(*conditions)``; none where every company is in scope."""

_ID_AND_BLANK: Final = 37
"""The length of a UUID and of the blank between two."""


def of_company(column: ColumnElement[Any], scope: CompanyScope) -> Conditions:
    """Return the SQL condition: a record's company is in scope."""
    return () if scope.companies is None else (column.in_(scope.companies),)


def of_account(column: ColumnElement[Any], scope: CompanyScope) -> Conditions:
    """Return the SQL condition: the company of a record's account is in scope."""
    return () if scope.companies is None else (column.in_(_accounts(scope.companies)),)


def stops_in(scope: CompanyScope) -> Conditions:
    """Return the SQL condition: a stop affects these companies, alone or with others."""
    if scope.companies is None:
        return ()
    return (or_(stops.c.scope.in_([*WIDE]), _own_stops(scope.companies)),)


def stops_of(scope: CompanyScope) -> Conditions:
    """Return the SQL condition: a stop of these companies alone, which the caller may lift."""
    return () if scope.companies is None else (_own_stops(scope.companies),)


def users_in(scope: CompanyScope) -> Conditions:
    """Return the SQL condition: the user's companies are all in scope."""
    if scope.companies is None:
        return ()
    among = (
        select(func.count())
        .select_from(companies)
        .where(companies.c.id.in_(scope.companies), users.c.companies.contains(companies.c.id))
        .scalar_subquery()
    )
    return (
        users.c.companies != "",
        func.length(users.c.companies) + 1 == among * _ID_AND_BLANK,
    )


def limited_exactly(column: ColumnElement[Any], scope: CompanyScope) -> Conditions:
    """
    Return the SQL condition: sorted ids are one company in scope, or exactly all of them.

    So a user sees records of their companies, and users with the same companies.
    """
    if scope.companies is None:
        return ()
    ids = sorted(scope.companies)
    return (column.in_([*ids, " ".join(ids)] if ids else []),)


def _accounts(wanted: frozenset[str]) -> Select[tuple[Any]]:
    return select(accounts.c.id).where(accounts.c.company_id.in_(wanted))


def _own_stops(wanted: frozenset[str]) -> ColumnElement[bool]:
    theirs = select(credentials.c.client_id).where(credentials.c.company_id.in_(wanted))
    subjects = {
        StopScope.COMPANY: stops.c.subject.in_(wanted),
        StopScope.ACCOUNT: stops.c.subject.in_(_accounts(wanted)),
        StopScope.CREDENTIAL: stops.c.subject.in_(theirs),
    }
    return or_(*(and_(stops.c.scope == scope.value, chosen) for scope, chosen in subjects.items()))

"""What every row of management shares: who calls, what it may cost, how it is refused."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from aiohttp import hdrs

from gateway.domain.accounts.permissions import Action
from gateway.domain.backoffice.lists import Shown
from gateway.domain.identity.errors import NOT_FOUND, NOT_POSSIBLE
from gateway.domain.identity.rights import Area, Right
from gateway.domain.kernel import errors
from gateway.domain.kernel.errors import ServiceError
from gateway.domain.kernel.windows import Paging
from gateway.http.backoffice.callers import Staff
from gateway.http.backoffice.failures import BODY_BYTES
from gateway.http.route import Answer, Document, RowLimits, VersionedAnswer
from gateway.operations.bank.pages import Listed
from gateway.operations.kernel.audit_context import RuleViolation
from policies.traffic.person_quota import PERSON

Result = TypeVar("Result")
"""Of an act."""

Told = TypeVar("Told", bound=Document)
"""The document of an answer."""

READ = RowLimits(PERSON, 0)
ACT = RowLimits(PERSON, 0)
WRITE = RowLimits(PERSON, BODY_BYTES)
CREATED = 201
NO_CONTENT = 204

REFUSED = (NOT_POSSIBLE,)
TAKEN = (NOT_POSSIBLE, errors.ALREADY_IN_USE)
ABSENT = (NOT_FOUND,)
_TAKEN_WORDS = frozenset({"taken", "bank_account_taken"})
CHANGED = (NOT_FOUND, NOT_POSSIBLE)
CONDITIONAL = (*CHANGED, errors.VERSION_CHANGED)
"""Of changes that may be asked for on a version alone, by ``If-Match``."""


def reading(area: Area) -> Right:
    """Return the right to read."""
    return Right(area, Action.READ)


def writing(area: Area) -> Right:
    """Return the right to write."""
    return Right(area, Action.WRITE)


def managing(area: Area) -> Right:
    """Return the right to manage."""
    return Right(area, Action.MANAGE)


def shown(who: Staff, paging: Paging) -> Shown:
    """Return which page of what a person is shown."""
    return Shown(paging, who.person.companies)


def listed(paging: Paging, found: tuple[Sequence[Result], int]) -> Listed[Result]:
    """Put a page of the store together with where it lies."""
    items, total = found
    return Listed(items=items, paging=paging, total=total)


@contextmanager
def explained() -> Iterator[None]:
    """
    Tell why an act is not possible.

    Raises:
        ServiceError: ``VALIDATION_FAILED`` with the reason; ``SVC.GTW.009``
            (409) for a name that is taken.
    """
    try:
        yield
    except RuleViolation as problem:
        error = errors.ALREADY_IN_USE if problem.reason in _TAKEN_WORDS else NOT_POSSIBLE
        detail = "" if problem.field else _sentence(str(problem))
        raise ServiceError(error, problem.reason, field=problem.field, detail=detail) from problem


def versioned(document: Told, version: str) -> VersionedAnswer[Told]:
    """Show a document with the version that a change may name."""
    return VersionedAnswer(content=document, headers={hdrs.ETAG: version})


def done(_done: None, _who: Staff) -> Answer[None]:
    """Show nothing."""
    return Answer(content=None)


def _sentence(text: str) -> str:
    """Write a line of ours as a sentence."""
    return f"{text[:1].upper()}{text[1:]}."

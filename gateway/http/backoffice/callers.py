"""Who calls the back office, in which scope, and how failures reach them as codes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from aiohttp import hdrs

from gateway.core import errors
from gateway.core.access import Staff
from gateway.core.account import Account
from gateway.core.audit_context import AuditContext, RuleViolation
from gateway.core.calls import Call
from gateway.core.clocks import Now
from gateway.core.company_scope import CompanyScope
from gateway.core.errors import ServiceError
from gateway.core.sessions import SignedInUser
from gateway.core.user_errors import NOT_FOUND, NOT_POSSIBLE
from gateway.core.versions import ANY_VERSION, Expected, expected

READS: Final = (errors.PROVIDER_NOT_CONFIGURED,)
"""Of every row that asks a bank."""
CHANGES: Final = (
    *READS,
    errors.PROVIDER_READ_ONLY,
    errors.BANK_REFUSED,
    errors.ALREADY_IN_USE,
)
"""Of every row that changes something at a bank."""
REFUSED: Final = (NOT_POSSIBLE,)
TAKEN: Final = (NOT_POSSIBLE, errors.ALREADY_IN_USE)
ABSENT: Final = (NOT_FOUND,)
CHANGED: Final = (NOT_FOUND, NOT_POSSIBLE)
CONDITIONAL: Final = (*CHANGED, errors.VERSION_CHANGED)
"""Of changes that may name the version they are meant for, by ``If-Match``."""
_TAKEN_REASONS: Final = frozenset({"taken", "bank_account_taken"})


@contextmanager
def explained() -> Iterator[None]:
    """
    Turn a broken rule into a refusal that says which rule.

    Raises:
        ServiceError: ``VALIDATION_FAILED`` with the reason; ``SVC.GTW.009``
            (409) for a name that is taken.
    """
    try:
        yield
    except RuleViolation as problem:
        error = errors.ALREADY_IN_USE if problem.reason in _TAKEN_REASONS else NOT_POSSIBLE
        detail = "" if problem.field else _sentence(str(problem))
        raise ServiceError(error, problem.reason, field=problem.field, detail=detail) from problem


def _sentence(text: str) -> str:
    """Write a line of ours as a sentence."""
    return f"{text[:1].upper()}{text[1:]}."


@dataclass(frozen=True, slots=True)
class BackOfficeCaller:
    """
    A signed-in user.

    Attributes:
        scope: The companies whose records they may see and change.
        expected: The versions, of what they change, that they have seen.
    """

    person: SignedInUser
    acting: AuditContext
    scope: CompanyScope
    expected: Expected = ANY_VERSION

    @property
    def staff(self) -> Staff:
        """The user as services know them; the gate has asked for a second factor where it must."""
        return Staff(self.acting, self.scope, self.person)


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountCaller(BackOfficeCaller):
    """A signed-in user at one account, which is in their scope."""

    account: Account


def admit_staff(now: Now) -> Callable[[Call], BackOfficeCaller]:
    """Return what turns a call of a known person into what operations take."""

    def admit(call: Call) -> BackOfficeCaller:
        if call.person is None or call.scope is None:
            raise _missing()
        acting = AuditContext(call.person.actor, now)
        return BackOfficeCaller(call.person, acting, call.scope, _expected(call))

    return admit


def admit_office(now: Now) -> Callable[[Call], AccountCaller]:
    """Return what turns a call on an account into what operations take."""

    def admit(call: Call) -> AccountCaller:
        person, scope, account = call.person, call.scope, call.account
        if person is None or scope is None or account is None:
            raise _missing()
        return AccountCaller(
            person=person,
            acting=AuditContext(person.actor, now),
            scope=scope,
            account=account,
            expected=_expected(call),
        )

    return admit


def _expected(call: Call) -> Expected:
    """Read which versions a caller has seen; mostly they do not say."""
    headers = call.asked.headers.getall(hdrs.IF_MATCH, ())
    return expected(headers) if headers else ANY_VERSION


def _missing() -> RuntimeError:
    problem = "a policy of this gate is missing"
    return RuntimeError(problem)

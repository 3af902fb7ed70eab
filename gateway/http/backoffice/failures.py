"""How failures become codes on the back office, and what its rows refuse with."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from gateway.domain.bank.provider_options import OutcomeUnknown
from gateway.domain.bank.providers import NotFound, NotSupported, ProviderError, Unreachable
from gateway.domain.identity import errors as identity_errors
from gateway.domain.identity.errors import NOT_FOUND, NOT_POSSIBLE
from gateway.domain.kernel import errors
from gateway.domain.kernel.catalogue import ErrorCode
from gateway.domain.kernel.errors import ServiceError
from gateway.http.common import STORE_FAILS
from gateway.operations.kernel.audit_context import RuleViolation

Fails = dict[type[Exception], ErrorCode]

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


def bank_fails(unavailable: ErrorCode, absent: ErrorCode | None = None) -> Fails:
    """Return what a bank's failures become: the row's 502, its 404, 422 without a provider."""
    fails: Fails = {
        **STORE_FAILS,
        NotSupported: errors.PROVIDER_NOT_CONFIGURED,
        ProviderError: unavailable,
    }
    return fails if absent is None else {**fails, NotFound: absent}


REFUND_FAILS: Final[Fails] = {
    **bank_fails(identity_errors.REFUND_UNKNOWN, errors.TRANSACTION_NOT_FOUND),
    Unreachable: identity_errors.REFUND_NOT_SENT,
    OutcomeUnknown: identity_errors.REFUND_UNKNOWN,
}
"""Money may have moved unless it is certain that it did not."""


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

"""Acts at a bank that users order: each is audited before the bank is called."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Final

from gateway.audit.store import StoredAudit
from gateway.banks.port.providers import (
    IN_USE,
    WHY,
    BadReply,
    NotFound,
    OutcomeUnknown,
    ProviderError,
    Reason,
    Refused,
    Unavailable,
    Unreachable,
)
from gateway.core import errors
from gateway.core.account import Account
from gateway.core.audit_context import AuditContext
from gateway.core.errors import ServiceError
from gateway.core.reasons import REASONS
from gateway.core.storage import StoreUnavailable

_log = logging.getLogger(__name__)
_UNKNOWN: Final = "unknown"
_NOT_KNOWN: Final = (Unavailable, BadReply, OutcomeUnknown)


@dataclass(frozen=True, slots=True, kw_only=True)
class BankAct:
    """
    An act at a bank that a user ordered.

    Attributes:
        action: Such as ``pix_key.create``; the audit log adds the step.
        subject: A kind and an id without personal data.
        details: Flat texts; never a name, a tax number or a secret.
    """

    acting: AuditContext
    account: Account
    action: str
    subject: str
    details: Mapping[str, str]


@asynccontextmanager
async def recorded(audit: StoredAudit, act: BankAct) -> AsyncIterator[None]:
    """
    Wrap the bank's call: ``….ordered`` is written before, the ending after.

    Endings are ``done``, ``refused``, ``absent``, ``not_sent`` and ``unknown``. An act with only
    ``ordered`` ended with its process: its ending is unknown too.

    Raises:
        StoreUnavailable: the order could not be written; the bank was not called.
        ServiceError: ``SVC.GTW.009`` when the bank has such a thing already,
            ``SVC.GTW.008`` when it refuses.
        ProviderError: as the bank's call does.
    """
    await _write(audit, act, "ordered", {})
    try:
        yield
    except Refused as problem:
        await _end(audit, act, "refused", problem.reason)
        raise refused(problem.reason) from problem
    except ProviderError as problem:
        await _end(audit, act, _ending(problem), problem.reason)
        raise
    await _end(audit, act, "done", "")


def is_unknown(problem: ProviderError) -> bool:
    """Return whether the bank may have acted, as far as the failure proves."""
    return _ending(problem) == _UNKNOWN


def refused(reason: str) -> ServiceError:
    """Return the refusal for a fixed reason, with its sentence for the operator."""
    error = errors.ALREADY_IN_USE if reason == IN_USE else errors.BANK_REFUSED
    detail = REASONS[reason] if reason == Reason.UNSENDABLE else WHY.get(reason, "")
    return ServiceError(error, reason, detail=detail)


def _ending(problem: ProviderError) -> str:
    if isinstance(problem, Unreachable):
        return "not_sent"
    if isinstance(problem, NotFound):
        return "absent"
    return "refused" if _answered_no(problem) else _UNKNOWN


def _answered_no(problem: ProviderError) -> bool:
    """Return whether the bank's answer proves that nothing was done."""
    return not isinstance(problem, _NOT_KNOWN)


async def _end(audit: StoredAudit, act: BankAct, ending: str, reason: str) -> None:
    """Write the ending. The bank has acted, so a failed write is logged and not raised."""
    try:
        await _write(audit, act, ending, {"reason": reason} if reason else {})
    except StoreUnavailable:
        _log.warning("audit_ending_lost action=%s.%s", act.action, ending)


async def _write(audit: StoredAudit, act: BankAct, step: str, more: Mapping[str, str]) -> None:
    """Write a step with its company, which the store cannot look up for a key or a refund."""
    details = {"account": act.account.id, **act.details, **more}
    event = act.acting.event(f"{act.action}.{step}", act.subject, details)
    await audit.append(replace(event, companies=frozenset({act.account.company_id})))

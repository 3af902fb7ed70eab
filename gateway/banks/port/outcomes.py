"""
Checks of the outcomes that adapters return for calls that move money.

An outcome is stored and acted upon, so it must agree with itself and with the order:

- NotSent is no outcome of a call of which bytes have left, unless the bank's answer is listed
  as a refusal before execution, for the credential or the rate.
- Accepted and Settled are read from an answer of the bank; so is Rejected, unless no byte left.
- No outcome has another key or another amount than the order.
- Accepted is not said of a known key ("duplicate") that nobody has compared with the order.

Source: docs/providers/outcomes.md.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final, NoReturn, TypeGuard, TypeVar

from gateway.banks.port import answers
from gateway.banks.port.answers import WrongAnswer
from gateway.banks.port.payout_orders import FailureCode
from gateway.banks.port.provider_options import WHY
from gateway.banks.port.provider_reasons import Reason
from gateway.banks.port.providers import (
    Accepted,
    Evidence,
    NotSent,
    Outcome,
    Phase,
    PixReturn,
    Rejected,
    Settled,
    Unknown,
)
from gateway.core.money import Money

Said = TypeVar("Said", NotSent, Rejected, Accepted, Settled, Unknown)

REFUSED_BEFORE_EXECUTION: Final = frozenset({Reason.CREDENTIALS_REFUSED, Reason.RATE_LIMITED})
"""Why a bank may refuse a call that it has read and never executes."""

_WORDS: Final = frozenset(map(str, Reason)) | WHY.keys()
_AFTER_A_BYTE: Final = frozenset({Phase.SENT, Phase.ANSWERED})
_STATUSES: Final = range(100, 600)
_KINDS: Final = frozenset({NotSent, Rejected, Accepted, Settled, Unknown})
# Such as CBE101 or chave_nao_pertence_ao_documento; a sentence of the bank's is not kept.
_CODE: Final = re.compile(r"[0-9A-Za-z][0-9A-Za-z_.:\-]{0,63}", re.ASCII)
# A bank may close for a night; a longer wait is a mistake, and some are no number at all.
_LONGEST_WAIT_S: Final = 86_400.0
_UNREADABLE: Final = "unreadable"


def known_reason(reason: object) -> str:
    """Return a reason that is one of our words; any other text may be the bank's."""
    is_ours = isinstance(reason, str) and reason in _WORDS
    return str(reason) if is_ours else Reason.UNLISTED_REASON.value


def is_wait(seconds: object) -> TypeGuard[float]:
    """Return whether the wait is plausible: a finite number of seconds."""
    return (type(seconds) is int or type(seconds) is float) and 0 <= seconds <= _LONGEST_WAIT_S


def ordered(answer: object, provider_key: str, value: Money) -> Outcome:
    """
    Check the outcome of an order.

    Raises:
        WrongAnswer: the order's outcome is unknown, whatever the answer claims.
    """
    said = _outcome(answer, provider_key)
    if isinstance(said, Accepted):
        if said.value is not None:
            answers.same_as(said.value, value, "outcome.value")
        if said.evidence.reason == Reason.DUPLICATE:
            _refuse("outcome.not_compared")
    elif isinstance(said, Settled):
        answers.same_as(said.value, value, "outcome.value")
    return said


def looked_up(answer: object, provider_key: str) -> Outcome:
    """
    Check the result of a look-up; the caller compares the amount.

    Raises:
        WrongAnswer: the result proves nothing about the payout.
    """
    said = _outcome(answer, provider_key)
    if isinstance(said, NotSent):
        _refuse("outcome")  # what is found was sent
    if isinstance(said, Rejected):
        _answered(said.evidence)
    return said


def _outcome(answer: object, provider_key: str) -> Outcome:
    """Check an outcome, and that it is about this key."""
    if type(answer) not in _KINDS:
        _refuse("outcome")
    match answer:
        case Accepted():
            return _accepted(_told(answer), provider_key)
        case Settled():
            return _settled(_told(answer), provider_key)
        case Rejected():
            return _rejected(_told(answer), provider_key)
        case NotSent():
            return _not_sent(_told(answer))
        case Unknown():
            return _told(answer)
    return _refuse("outcome")


def _accepted(said: Accepted, provider_key: str) -> Accepted:
    """Check an accepted payout."""
    _answered(said.evidence)
    _names(said.provider_id, said.e2e_id, said.provider_key, provider_key)
    answers.instant_or_none(said.held_until, "outcome.held_until")
    return said


def _settled(said: Settled, provider_key: str) -> Settled:
    """Check a settled payout."""
    _answered(said.evidence)
    _names(said.provider_id, said.e2e_id, said.provider_key, provider_key)
    answers.amount_above_zero(said.value, "outcome.value")
    answers.instant_or_none(said.settled_at, "outcome.settled_at")
    _came_back(said.returns)
    return said


def _came_back(returns: object) -> None:
    """Check the returns of a payout."""
    for each in answers.of_type(returns, tuple, "outcome.returns"):
        found = answers.of_type(each, PixReturn, "outcome.returns")
        answers.e2e_id(found.id, "outcome.returns.id", or_empty=False)
        if not found.id.startswith("D"):
            _refuse("outcome.returns.id")
        answers.amount_above_zero(found.value, "outcome.returns.value")
        answers.instant(found.at, "outcome.returns.at")


def _rejected(said: Rejected, provider_key: str) -> Rejected:
    """Check a rejection: the bank's, or ours before the bank was called."""
    if said.evidence.bytes_left:
        _answered(said.evidence)
    _names("", "", said.provider_key, provider_key)
    answers.of_type(said.failure, FailureCode, "outcome.failure")
    answers.of_type(said.forbidden, bool, "outcome.forbidden")
    return said


def _not_sent(said: NotSent) -> NotSent:
    """Check that no byte left, or that the bank stated why it executed nothing."""
    if said.evidence.bytes_left:
        _answered(said.evidence)
        if said.evidence.reason not in REFUSED_BEFORE_EXECUTION:
            _refuse("outcome.evidence.reason")
    if said.retry_after is not None and not is_wait(said.retry_after):
        _refuse("outcome.retry_after")
    return said


def _answered(evidence: Evidence) -> None:
    """Check that the outcome comes from an answer of the bank."""
    if evidence.phase is not Phase.ANSWERED:
        _refuse("outcome.evidence.phase")


def _names(provider_id: object, e2e_id: object, told_key: object, provider_key: str) -> None:
    """Check the ids of an outcome; if it has our key, it must be the order's."""
    answers.bank_id(provider_id, "outcome.provider_id")
    answers.e2e_id(e2e_id, "outcome.e2e_id")
    if told_key != "":
        answers.same_as(told_key, provider_key, "outcome.provider_key")


def _told(said: Said) -> Said:
    """Check the evidence; unknown words in it are replaced: they prove nothing."""
    evidence = answers.of_type(said.evidence, Evidence, "outcome.evidence")
    answers.of_type(evidence.phase, Phase, "outcome.evidence.phase")
    answers.of_type(evidence.bytes_left, bool, "outcome.evidence.bytes_left")
    if evidence.bytes_left is not (evidence.phase in _AFTER_A_BYTE):
        _refuse("outcome.evidence.bytes_left")
    if evidence.http_status is not None:
        status = answers.of_type(evidence.http_status, int, "outcome.evidence.http_status")
        if status not in _STATUSES:
            _refuse("outcome.evidence.http_status")
    reason, code = known_reason(evidence.reason), _code(evidence.provider_code)
    if (reason, code) == (evidence.reason, evidence.provider_code):
        return said
    return replace(said, evidence=replace(evidence, reason=reason, provider_code=code))


def _code(code: object) -> str:
    """Return a bank's code; anything but a short word may be a text about people."""
    is_one = type(code) is str and (code == "" or _CODE.fullmatch(code) is not None)
    return str(code) if is_one else _UNREADABLE


def _refuse(field: str) -> NoReturn:
    raise WrongAnswer(field)

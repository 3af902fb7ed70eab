"""
Explanations of refusals: the check that refused, the facts, and the remedies.

The checks of the partners' interface are numbered in the order in which they are made.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Annotated, Final, NotRequired, TypedDict

from msgspec import Meta, Struct

from gateway.audit.model import AuditDocument
from gateway.core import fields
from gateway.core.fields import meaning
from gateway.core.reasons import Unsigned
from gateway.core.schemas import inline
from gateway.payouts.documents import AttemptDocument
from gateway.payouts.model import Attempt, Payout
from gateway.request_log.model import RequestDocument


class Sentence(Struct, frozen=True):
    """
    A sentence in English.

    Who says it in another language translates ``template`` and puts ``values`` in the place of
    its ``{names}``.
    """

    text: Annotated[
        str,
        Meta(
            description="A sentence for people.",
            examples=["Issue a credential with withdraw:write."],
        ),
    ]
    template: Annotated[
        str,
        Meta(
            description="The sentence with names in braces.",
            examples=["Issue a credential with {needed}."],
        ),
    ]
    values: Annotated[Mapping[str, str], meaning("What stands for the names in the sentence.")]


def sentence(template: str, values: Mapping[str, str] = MappingProxyType({})) -> Sentence:
    """Fill a template with the values of its names."""
    return Sentence(template.format_map(values), template, dict(values))


class CheckState(StrEnum):
    """Result of a check."""

    PASSED = "passed"
    REFUSED = "refused"
    NOT_REACHED = "not_reached"


class Check(Struct, frozen=True):
    """One check in the order of checks, and its result."""

    number: fields.Number
    text: Annotated[
        str,
        Meta(
            description="A sentence for people.", examples=["The credential is for this account."]
        ),
    ]
    state: Annotated[CheckState, inline(CheckState), meaning("The state that it is in.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """
    A refusal, or another answer, from the request log.

    Attributes:
        payout: The outcome of a payout request; empty for others.
    """

    surface: str
    route: str
    method: str
    status: int
    code: str = ""
    reason: str = ""
    field: str = ""
    payout: str = ""


class Explanation(Struct, frozen=True, kw_only=True):
    """
    Why a call is answered so, in sentences.

    ``step`` is the number of the check that refuses it, 0 where none of the order does.
    ``checks`` is empty for a call that is not of the partners' interface.
    """

    refused: Annotated[bool, meaning("Whether the request would be, or was, refused.")]
    status: Annotated[int, meaning("The state that it is in.", 403)]
    code: fields.ErrorCode
    reason: Annotated[
        str, Meta(description="Why; for people who read it later.", examples=["scope"])
    ]
    field: Annotated[
        str,
        Meta(
            description="The field or parameter that was refused; empty where there is none.",
            examples=[""],
        ),
    ]
    step: Annotated[int, meaning("Number of the check that refused; 0 where none did.")]
    rule: Sentence
    facts: Annotated[list[Sentence], meaning("What the decision was made by.")]
    remedies: Annotated[list[Sentence], meaning("What would allow it.")]
    checks: Annotated[
        list[Check],
        meaning("The checks of the request in their order, up to the one that refused."),
    ]


class ExplainedRequestDocument(Struct, frozen=True, kw_only=True):
    """A logged request, and why it was answered so."""

    request: RequestDocument
    explanation: Explanation


CHECKS: Final[Mapping[int, str]] = {
    1: "The HTTP request is well formed.",
    2: "The request has a trace id.",
    3: "The service is neither full nor shutting down.",
    4: "The path is known.",
    5: "The path accepts the method.",
    6: "The declared body is small enough.",
    7: "The address is within its limit of refused credentials.",
    8: "The credential is known, right and alive.",
    9: "The credential and its company are within their quotas.",
    10: "The credential has the permission.",
    11: "The ids in the path are UUIDs.",
    12: "The account exists and is of the credential's company.",
    13: "The credential is for this account.",
    14: "The account is active.",
    15: "The account is verified.",
    16: "The parameters have the documented form.",
    17: "The body has the documented form.",
    18: "The reference is new, or repeated with the same content.",
    19: "The payout is dated today in UTC.",
    20: "The account's bank offers this, and nothing stops payouts.",
    21: "The payout is stored before anything is sent.",
    22: "The call is carried out.",
}
"""What each check asks, by its number."""

_BEFORE_ROW: Final = tuple(range(1, 7))
_OF_ACCOUNT: Final = tuple(range(1, 16))
_ORDER: Final[Mapping[str, Sequence[int]]] = {
    **dict.fromkeys(("banking.info", "banking.health", "banking.error_codes"), _BEFORE_ROW),
    **dict.fromkeys(("banking.payout", "banking.payouts"), (*_OF_ACCOUNT, 16, 22)),
    "banking.payout_create": (*_OF_ACCOUNT, 17, 18, 19, 20, 21, 22),
    "banking.payout_cancel": (*_OF_ACCOUNT, 22),
}
_OF_BANK: Final = (*_OF_ACCOUNT, 16, 20, 22)
"""Of every other row of partners: it asks the account's bank."""

_BY_CODE: Final = {
    "SVC.GTW.007": 1,
    "SVC.GTW.006": 3,
    "SVC.GTW.001": 4,
    "SVC.GTW.002": 5,
    **dict.fromkeys(("SVC.AUT.001", "SVC.AUT.002", "SVC.AUT.009", "SVC.SYS.002"), 8),
    "SVC.VAL.006": 11,
    "SVC.ACC.001": 12,
    "SVC.ACC.002": 14,
    "SVC.ACC.003": 15,
    **dict.fromkeys(("SVC.PIX.012", "SVC.PIX.013", "SVC.PIX.014", "SVC.GTW.004"), 17),
    "SVC.GTW.010": 20,
}
_BY_REASON: Final = {
    "declared": 6,
    "body": 17,
    "address_blocked": 7,
    "throttled": 8,
    **dict.fromkeys(("invalid", "revoked", "expired", *Unsigned), 8),
    **dict.fromkeys(("no_caller_rule", "network", "certificate", "permission"), 10),
    "scope": 13,
    "other_content": 18,
    "not_today": 19,
    **dict.fromkeys(("no_provider", "no_bank_credentials", "read_only"), 20),
    **dict.fromkeys(("not_supported", "stopped", "similar"), 20),
}
"""Of codes that several checks refuse with."""
_NOT_CARRIED_OUT: Final = 502


def step_of(refusal: Refusal) -> int:
    """Return the number of the check that refused a partner's call; 0 without one."""
    if not refusal.code:
        return 0
    if refusal.code in _BY_CODE:
        return _BY_CODE[refusal.code]
    if refusal.code.startswith("SVC.VAL.") and refusal.reason != "not_today":
        return _form_step(refusal)
    if refusal.reason.startswith("quota_"):
        return 9
    if refusal.payout == "intent_failed":
        return 21
    # what a bank says may be one of our words, too
    return 22 if refusal.status == _NOT_CARRIED_OUT else _BY_REASON.get(refusal.reason, 22)


def _form_step(refusal: Refusal) -> int:
    """Return the check of form: below the routes, of parameters, or of the body."""
    if refusal.route == "none":
        return 1
    return 17 if refusal.method == "POST" else 16


def ladder_of(refusal: Refusal) -> list[Check]:
    """Return the checks of a call in order; empty for other surfaces than partners'."""
    if refusal.surface not in {"banking", "none"}:
        return []
    step = step_of(refusal)
    end = step or (18 if refusal.payout == "duplicate" else max(CHECKS))
    order = _BEFORE_ROW if refusal.route == "none" else _ORDER.get(refusal.route, _OF_BANK)
    return [Check(each, CHECKS[each], _state(each, step, end)) for each in order]


def _state(number: int, step: int, end: int) -> CheckState:
    if number == step:
        return CheckState.REFUSED
    return CheckState.PASSED if number <= end else CheckState.NOT_REACHED


@dataclass(frozen=True, slots=True)
class TracedAttempt:
    """An attempt to pay under a trace id, and its payout."""

    payout: Payout
    attempt: Attempt

    def to_document(self) -> TracedAttemptDocument:
        """Return the attempt, and its payout, as a document."""
        payout = self.payout
        about = {"account_id": payout.account_id, "reference": payout.reference}
        return TracedAttemptDocument.of(self.attempt, payout, state=payout.state, **about)


class TracedAttemptDocument(AttemptDocument, frozen=True, kw_only=True):
    """A try to pay that was made under the trace id, and the payout it was for."""

    account_id: fields.AccountId
    reference: fields.Reference
    state: fields.State


class TraceDocument(TypedDict):
    """
    Everything under one trace id: the newest request first, the oldest try and act first.

    ``explained`` is about the newest request that was refused, else the newest; absent without
    any. ``audit`` is absent for who may not read the audit log.
    """

    trace_id: fields.TraceId
    explained: NotRequired[ExplainedRequestDocument]
    requests: Annotated[
        list[RequestDocument], meaning("The calls with this trace id, oldest first.")
    ]
    attempts: Annotated[list[TracedAttemptDocument], meaning("Each try to send it, oldest first.")]
    audit: NotRequired[
        Annotated[list[AuditDocument], meaning("Acts on record under this trace id.")]
    ]

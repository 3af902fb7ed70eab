"""A trace id, and everything under it; why a call was refused; what a call would be answered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, NotRequired, TypedDict

import msgspec
from msgspec import Meta

from gateway.domain.backoffice.explanations import Explanation, Sentence
from gateway.domain.backoffice.lists import TracedAttempt
from gateway.domain.identity.errors import NOT_FOUND
from gateway.domain.identity.rights import Area
from gateway.http.backoffice.callers import BackOfficeCaller
from gateway.http.backoffice.cells import NO_BODY, WITH_BODY, reading
from gateway.http.backoffice.money.dossiers import AttemptDocument, attempt
from gateway.http.backoffice.oversight.audit import AuditDocument, act
from gateway.http.backoffice.oversight.requests import RequestDocument, request
from gateway.http.backoffice.oversight.what_if import Authorization, Question, WhatIf
from gateway.http.common import STORE_FAILS
from gateway.http.route import Row, route
from gateway.operations.backoffice.refusals.traces import ExplainedRequest, Trace, Traces
from policies.validation.backoffice import inputs
from policies.validation.bodies import body

_ACTS = reading(Area.AUDIT)


class TracedAttemptDocument(AttemptDocument):
    """A try to pay that was made under the trace id, and the payout it was for."""

    account_id: str
    reference: str
    state: str


class CheckDocument(TypedDict):
    """One check of the order of checks, and what became of it."""

    number: int
    text: Annotated[str, Meta(examples=["The credential is for this account."])]
    state: Literal["passed", "refused", "not_reached"]


class SentenceDocument(TypedDict):
    """
    A sentence in English.

    Who says it in another language translates ``template`` and puts ``values`` in the place of
    its ``{names}``.
    """

    text: Annotated[str, Meta(examples=["Issue a credential with withdraw:write."])]
    template: Annotated[str, Meta(examples=["Issue a credential with {needed}."])]
    values: Mapping[str, str]


class ExplanationDocument(TypedDict):
    """
    Why a call is answered so, in sentences.

    ``step`` is the number of the check that refuses it, 0 where none of the order does.
    ``checks`` is empty for a call that is not of the partners' interface.
    """

    refused: bool
    status: int
    code: str
    reason: Annotated[str, Meta(examples=["scope"])]
    field: Annotated[str, Meta(examples=[""])]
    step: int
    rule: SentenceDocument
    facts: list[SentenceDocument]
    remedies: list[SentenceDocument]
    checks: list[CheckDocument]


class ExplainedRequestDocument(TypedDict):
    """A logged request, and why it was answered so."""

    request: RequestDocument
    explanation: ExplanationDocument


class TraceDocument(TypedDict):
    """
    Everything under one trace id: the newest request first, the oldest try and act first.

    ``explained`` is about the newest request that was refused, else the newest; absent without
    any. ``audit`` is absent for who may not read the audit log.
    """

    trace_id: str
    explained: NotRequired[ExplainedRequestDocument]
    requests: list[RequestDocument]
    attempts: list[TracedAttemptDocument]
    audit: NotRequired[list[AuditDocument]]


class QuestionBody(msgspec.Struct):
    """
    A call that nobody has made.

    ``path`` is a path of the partners' interface as it is sent, with its query. ``body`` is the
    text of the body; ``address`` the caller's.
    """

    client_id: Annotated[str, Meta(min_length=1, max_length=64)]
    method: Annotated[str, Meta(min_length=1, max_length=16, examples=["GET"])]
    path: Annotated[str, Meta(max_length=4096, pattern="^/baas/v1/", examples=["/baas/v1/info"])]
    authorization: Authorization = Authorization.RIGHT
    body: Annotated[str, Meta(max_length=32_768, examples=[""])] = ""
    body_bytes: Annotated[int, Meta(ge=0, le=10**12)] = 0
    content_type: Annotated[str, Meta(max_length=200, examples=["application/json"])] = (
        "application/json"
    )
    address: Annotated[str, Meta(max_length=64)] = ""


@dataclass(frozen=True, slots=True)
class TraceActs:
    """What the rows run."""

    traces: Traces
    what_if: WhatIf

    async def read(self, who: BackOfficeCaller, trace_id: str) -> Trace:
        """Return everything under a trace id; acts for who may read the audit log."""
        return await self.traces.read(who.scope, trace_id, with_acts=who.person.may(_ACTS))

    async def explain(self, who: BackOfficeCaller, trace_id: str) -> ExplainedRequest:
        """Say why the request of a trace id was refused."""
        return await self.traces.explain(who.scope, trace_id)

    async def ask(self, who: BackOfficeCaller, body: QuestionBody) -> Explanation:
        """Say what a call would be answered."""
        question = Question(
            client_id=body.client_id,
            method=body.method.upper(),
            path=body.path,
            authorization=body.authorization,
            body=body.body.encode(),
            body_bytes=body.body_bytes,
            content_type=body.content_type,
            address=body.address,
        )
        return await self.what_if.ask(who.scope, question)


def trace_rows(acts: TraceActs) -> Sequence[Row[BackOfficeCaller]]:
    """Return the rows; none of them asks a bank."""
    return (
        route(
            "GET",
            "/traces/{trace_id}",
            name="backoffice.trace",
            summary="Read everything under a trace id: requests, tries to pay, acts.",
            needs=reading(Area.REQUEST_LOG),
            limits=NO_BODY,
            takes=inputs.word_of_path("trace_id"),
            runs=acts.read,
            shows=_trace,
            fails=STORE_FAILS,
            raises=(NOT_FOUND,),
        ),
        route(
            "GET",
            "/traces/{trace_id}/explanation",
            name="backoffice.trace_explanation",
            summary="Read why a request was refused, and what would allow it.",
            needs=reading(Area.REQUEST_LOG),
            limits=NO_BODY,
            takes=inputs.word_of_path("trace_id"),
            runs=acts.explain,
            shows=_explained,
            fails=STORE_FAILS,
            raises=(NOT_FOUND,),
        ),
        route(
            "POST",
            "/explain",
            name="backoffice.explain",
            summary=(
                "Ask what a call of a partner would be answered. No bank is asked, no quota is "
                "used, nothing changes."
            ),
            needs=reading(Area.REQUEST_LOG),
            limits=WITH_BODY,
            takes=body(QuestionBody),
            runs=acts.ask,
            shows=_explanation,
            fails=STORE_FAILS,
            raises=(),
        ),
    )


def _trace(found: Trace, who: BackOfficeCaller) -> TraceDocument:
    document: TraceDocument = {
        "trace_id": found.trace_id,
        "requests": [request(each) for each in found.requests],
        "attempts": [_attempt(each) for each in found.attempts],
    }
    if found.explained is not None:
        document["explained"] = _explained(found.explained, who)
    if found.acts is not None:
        document["audit"] = [act(each, who) for each in reversed(found.acts)]
    return document


def _attempt(found: TracedAttempt) -> TracedAttemptDocument:
    return {
        **attempt(found.attempt, found.payout),
        "account_id": found.payout.account_id,
        "reference": found.payout.reference,
        "state": found.payout.state.value,
    }


def _explained(found: ExplainedRequest, who: BackOfficeCaller) -> ExplainedRequestDocument:
    return {
        "request": request(found.request),
        "explanation": _explanation(found.explanation, who),
    }


def _sentence(found: Sentence) -> SentenceDocument:
    return {"text": str(found), "template": found.text, "values": found.values}


def _explanation(found: Explanation, _who: BackOfficeCaller) -> ExplanationDocument:
    about = found.refusal
    return {
        "refused": bool(about.code),
        "status": about.status,
        "code": about.code,
        "reason": about.reason,
        "field": about.field,
        "step": found.step,
        "rule": _sentence(found.rule),
        "facts": [_sentence(each) for each in found.facts],
        "remedies": [_sentence(each) for each in found.remedies],
        "checks": [
            {"number": each.number, "text": each.text, "state": each.state.value}
            for each in found.ladder
        ],
    }

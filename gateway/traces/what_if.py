"""
What would a call of a partner be answered? Asked of the policies that answer such calls.

No bank is asked, no token of a quota is taken, and nothing is counted, stored or changed.
"""

from __future__ import annotations

import base64
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import parse_qs

from gateway.banks.port.providers import ProviderError
from gateway.core import errors
from gateway.core.calls import Call, Caller, Policy, RawRequest
from gateway.core.company_scope import CompanyScope
from gateway.core.errors import ServiceError
from gateway.credentials.model import Credential
from gateway.http.rendering import translate
from gateway.http.server import ask
from gateway.http.table import RoutedRow, Table
from gateway.traces.explanations import Circumstances, CircumstancesInScope, explain
from gateway.traces.model import Authorization, Explanation, QuestionBody, Refusal
from gateway.traces.records import TracedRecords
from policies.authentication.basic import BasicCredentials
from policies.traffic.quota import WithinQuota

Rehearse = Callable[[str, Caller, Any], Awaitable[None]]
"""Refuse what the row of this name would refuse before it asks a bank."""


_WELL_FORMED: Final = frozenset({Authorization.RIGHT, Authorization.WRONG})


@dataclass(frozen=True, slots=True)
class WhatIf:
    """Answers what a call would be answered, as far as that is decided before a bank is asked."""

    table: Table
    records: TracedRecords
    rehearse: Rehearse

    async def __call__(self, scope: CompanyScope, question: QuestionBody) -> Explanation:
        """
        Say what would refuse the call, or that nothing would.

        A credential outside of the scope is answered as one that does not exist.

        Raises:
            StoreUnavailable: as stores do.
        """
        call: Call | None = None
        place: RoutedRow | None = None
        try:
            place, path = self._find(question)
            call = _call(question, place, path)
            await self._judge(scope, question, place, call)
        except (ServiceError, ProviderError) as problem:
            refusal = _refusal(place, question, translate(problem, place))
        else:
            refusal = _refusal(place, question, None)
        return await self._explain(scope, question, call, refusal)

    def _find(self, question: QuestionBody) -> tuple[RoutedRow, Mapping[str, str]]:
        """Find the row, as the server does."""
        found = self.table.find(question.path.partition("?")[0])
        if found is None:
            raise ServiceError(errors.ROUTE_UNKNOWN, "no_route")
        place = found.places.get(question.method.upper())
        if place is None:
            raise ServiceError(errors.METHOD_NOT_ALLOWED, "method")
        if max(question.body_bytes, len(question.body.encode())) > place.surface.body_bytes:
            raise ServiceError(errors.BODY_TOO_LARGE, "declared")
        return place, {**found.path, **place.fixed}

    async def _judge(
        self, scope: CompanyScope, question: QuestionBody, place: RoutedRow, call: Call
    ) -> None:
        """Ask the gate's policies, read the input, and rehearse the operation."""

        async def find(client_id: str) -> Credential | None:
            return await self.records.credential(client_id, scope)

        waiting = ask([_rehearsed(each, question, find) for each in place.gate.policies], call)
        if waiting is not None:
            await waiting
        if place.row.limits.body_bytes:
            call.asked.body = question.body.encode()
        caller = place.gate.admits(call)
        taken = place.row.takes.read(call.asked)
        if isinstance(caller, Caller):
            await self.rehearse(place.row.name, caller, taken)

    async def _explain(
        self, scope: CompanyScope, question: QuestionBody, call: Call | None, refusal: Refusal
    ) -> Explanation:
        """Add what is known of the credential and the account."""
        account = (call.account or call.out_of_scope) if call is not None else None
        known = Circumstances(needed=str(call.needs or "") if call is not None else "")
        found = await CircumstancesInScope(self.records).of(
            scope, question.client_id, account.id if account else "", known
        )
        return explain(refusal, found)


class _RehearsedQuota:
    """The policy of quotas, without taking a token."""

    def __init__(self, quota: WithinQuota) -> None:
        self._quota = quota
        self.refuses = quota.refuses

    def __call__(self, call: Call) -> None:
        """Refuse as a call would be refused now."""
        self._quota.rehearse(call)


def _rehearsed(
    policy: Policy, question: QuestionBody, find: Callable[[str], Awaitable[Credential | None]]
) -> Policy:
    """Return a policy that asks the same and leaves nothing behind."""
    if isinstance(policy, BasicCredentials):
        return policy.rehearsal(
            find,
            is_right=question.authorization is Authorization.RIGHT,
            address=question.address,
            client_id=question.client_id,
        )
    return _RehearsedQuota(policy) if isinstance(policy, WithinQuota) else policy


def _call(question: QuestionBody, place: RoutedRow, path: Mapping[str, str]) -> Call:
    """Make the call that the server would make."""
    query = question.path.partition("?")[2]
    row = place.row
    asked = RawRequest(
        path=path,
        query=parse_qs(query, keep_blank_values=True, errors="surrogateescape") if query else {},
        authorization=_header(question),
        content_type=question.content_type or None,
        address=question.address,
    )
    return Call(
        asked=asked,
        needs=row.needs,
        quota=row.limits.quota,
        parameters=row.takes.parameters,
    )


def _header(question: QuestionBody) -> Sequence[str]:
    """Write the header; the secret in it is one that nobody has."""
    if question.authorization in _WELL_FORMED:
        return (_basic(question.client_id),)
    return {
        Authorization.ABSENT: (),
        Authorization.MALFORMED: ("Basic",),
        Authorization.OTHER_SCHEME: ("Bearer token",),
    }[question.authorization]


def _basic(client_id: str) -> str:
    pair = f"{client_id}:-".encode("utf-8", "replace")
    return f"Basic {base64.b64encode(pair).decode()}"


def _refusal(
    place: RoutedRow | None, question: QuestionBody, problem: ServiceError | None
) -> Refusal:
    """Tell the answer as the request log would."""
    surface, route = ("none", "none") if place is None else (place.surface.name, place.row.name)
    if problem is None:
        status = 200 if place is None else place.row.status
        return Refusal(surface=surface, route=route, method=question.method.upper(), status=status)
    return Refusal(
        surface=surface,
        route=route,
        method=question.method.upper(),
        status=problem.error.status,
        code=problem.error.code,
        reason=problem.reason,
        field=problem.field,
    )

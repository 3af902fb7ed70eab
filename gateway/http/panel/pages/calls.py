"""
The rows of the back office and of one's own account, called by pages in process.

A page never does by itself what a row does: right, second factor, company scope,
validation, act and audit are those of the row. Only what the page's own gate has
asked already is left out: who it is, where the request comes from, the quota.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

import msgspec
from aiohttp import hdrs
from multidict import CIMultiDict

from gateway.domain.accounts.accounts import Account
from gateway.domain.kernel.clocks import Now
from gateway.domain.kernel.errors import ServiceError
from gateway.domain.requests.calls import Call, Policy, RawRequest
from gateway.http.panel.pages.visit import Visit
from gateway.http.rendering import dumps, translate
from gateway.http.route import Answer, Document, Surface
from gateway.http.server import ask
from gateway.http.table import RoutedRow
from policies.authentication.bearer import BearerToken
from policies.authentication.session import SET_COOKIE, BrowserCookie, SessionCookie
from policies.authorization.user import VisibleAccount
from policies.traffic.csrf import CsrfToken, ReadFromOurPage, WriteFromOurPage
from policies.traffic.quota import WithinPersonQuota

_ASKED: Final = (
    *(BearerToken, SessionCookie, BrowserCookie),
    *(CsrfToken, ReadFromOurPage, WriteFromOurPage),
    WithinPersonQuota,
)
_JSON: Final = "application/json"
# Amounts come as exact decimals, never as floats.
_decode: Final = msgspec.json.Decoder(float_hook=Decimal).decode


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """
    What a row told, or why it did not.

    Attributes:
        data: Its document as plain values: amounts are ``Decimal``, times are texts;
            bytes where it answers with a file. None with a problem, and without a body.
        status: The row's own, or that of the document it chose.
        headers: Of the answer alone.
        rest: Of a file that is longer, piece by piece.
        problem: None where nothing was refused.
    """

    data: Any = None
    status: int = 200
    headers: Mapping[str, str]
    problem: ServiceError | None = None
    rest: AsyncGenerator[bytes, None] | None = None

    @property
    def is_forbidden(self) -> bool:
        """Say whether the person may not see it: then it is left out."""
        return self.problem is not None and self.problem.error.status == _FORBIDDEN


_FORBIDDEN: Final = 403


class RowCalls:
    """Calls rows by name, in the name of whoever looks at a page."""

    def __init__(self, surfaces: Iterable[Surface], now: Now) -> None:
        """Know the rows of ``surfaces``; ``now`` is the clock of what pages count from."""
        self._rows = {
            row.name: RoutedRow(surface, gate, row, surface.prefix + row.path)
            for surface in surfaces
            for gate in surface.gates
            for row in gate.rows
        }
        self.now = now

    def has(self, name: str) -> bool:
        """Say whether there is such a row here; the sandbox has some that production lacks."""
        return name in self._rows

    async def ask(  # noqa: PLR0913 - the parts of a request, each by its name
        self,
        visit: Visit,
        name: str,
        *,
        path: Mapping[str, str] | None = None,
        query: Mapping[str, str] | None = None,
        body: Mapping[str, object] | None = None,
        version: str = "",
    ) -> Section:
        """
        Call a row by its name, ``backoffice.accounts``; its cookies go to the visit.

        Empty values of ``query`` are left out. Amounts in ``body`` are made by
        ``rendering.amount``. ``version`` is what the person has seen, for ``If-Match``.

        Raises:
            ServiceError: what the row refuses with.
        """
        routed = self._rows[name]
        call = _call(visit, routed, path or {}, query or {})
        if version:
            call.asked.headers = _with_version(visit, version)
        if body is not None:
            call.asked.body, call.asked.content_type = dumps(body), _JSON
        try:
            return await self._serve(visit, routed, call)
        except Exception as problem:
            raise translate(problem, routed) from problem

    def check(
        self,
        visit: Visit,
        name: str,
        path: Mapping[str, str],
        body: Mapping[str, object],
    ) -> None:
        """
        Read an input as its row reads it; nothing is done with it.

        Raises:
            ServiceError: what the row refuses such an input with.
        """
        routed = self._rows[name]
        call = _call(visit, routed, path, {})
        call.asked.body, call.asked.content_type = dumps(body), _JSON
        try:
            routed.row.takes.read(call.asked)
        except Exception as problem:
            raise translate(problem, routed) from problem

    async def section(
        self, visit: Visit, name: str, path: Mapping[str, str] | None = None, **query: str
    ) -> Section:
        """Read a part of a page that may fail while the others are shown."""
        try:
            return await self.ask(visit, name, path=path, query=query)
        except ServiceError as problem:
            return Section(status=problem.error.status, headers={}, problem=problem)

    async def _serve(self, visit: Visit, routed: RoutedRow, call: Call) -> Section:
        """Ask the policies that are left, run the row, and read its answer."""
        if routed.row.method == hdrs.METH_GET:
            call.account = visit.accounts.get(call.asked.path.get("account_id", ""))
        else:
            visit.accounts.clear()  # what comes after may be shown as it is by then
        waiting = ask(_left(routed.gate.policies, call.account), call)
        if waiting is not None:
            await waiting
        shown = await routed.row.serve(routed.gate.admits(call), call.asked)
        if call.on_success is not None:
            call.on_success()
        if call.account is not None:
            visit.call.account = call.account
            visit.accounts[call.asked.path["account_id"]] = call.account
        if SET_COOKIE in call.headers:
            visit.cookies.append(call.headers[SET_COOKIE])
        return _read(visit, shown, routed.row.status)


def _left(policies: Sequence[Policy], found: Account | None) -> Sequence[Policy]:
    """Leave out what the page's own gate has asked, and the search for an account it has found."""
    asked = _ASKED if found is None else (*_ASKED, VisibleAccount)
    return [each for each in policies if not isinstance(each, asked)]


def _call(
    visit: Visit, routed: RoutedRow, path: Mapping[str, str], query: Mapping[str, str]
) -> Call:
    """Make the call of a row as its surface would."""
    asked, row = visit.call.asked, routed.row
    return Call(
        asked=RawRequest(
            path=path,
            query={name: [each] for name, each in query.items() if each},
            headers=asked.headers,
            address=asked.address,
        ),
        needs=row.needs,
        quota=row.limits.quota,
        parameters=row.takes.parameters,
        person=visit.person,
        browser=visit.browser,
        known=visit.call.known,
    )


def _with_version(visit: Visit, version: str) -> CIMultiDict[str]:
    """Return headers that name a version."""
    agent = visit.call.asked.headers.get(hdrs.USER_AGENT) or ""
    return CIMultiDict({hdrs.USER_AGENT: agent, hdrs.IF_MATCH: version})


def _read(visit: Visit, shown: Document | Answer[Any], status: int) -> Section:
    """Turn an answer into plain values."""
    if not isinstance(shown, Answer):
        return Section(data=_decode(dumps(shown)), status=status, headers={})
    visit.cookies.extend(shown.cookies)
    content = shown.content
    data = content if content is None or isinstance(content, bytes) else _decode(dumps(content))
    status = shown.status or status
    return Section(data=data, status=status, headers=shown.headers, rest=shown.rest)

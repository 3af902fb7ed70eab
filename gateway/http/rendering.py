"""What operations return and what refuses, as replies."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, Final

from aiohttp import hdrs

from gateway.domain.bank.providers import ProviderError
from gateway.domain.kernel import errors
from gateway.domain.kernel.errors import ServiceError
from gateway.domain.requests.reasons import sentence, told
from gateway.http.json import MEDIA_TYPE, dumps, error_body
from gateway.http.route import Answer, Document
from gateway.http.table import RoutedRow
from gateway.net.server.reply import Reply

_log: Final = logging.getLogger("gateway.http")

_COME_BACK: Final = frozenset({502, 503})
_UNAUTHORIZED: Final = 401
_INPUT: Final = "SVC.VAL."
_UNEXPLAINED: Final = {"field": "", "reason": ""}
_COME_BACK_S: Final = "2"
_LONGEST_WAIT_S: Final = 120


def render(shown: Document | Answer[Any], status: int, contributed: Mapping[str, str]) -> Reply:
    """Write an answer; ``contributed`` are the headers of policies."""
    if not isinstance(shown, Answer):
        headers = {hdrs.CONTENT_TYPE: MEDIA_TYPE, **contributed}
        return Reply(status=status, body=dumps(shown), headers=headers)
    headers = {**contributed, **shown.headers}
    status = shown.status or status
    if shown.content is None:
        return Reply(status=status, headers=headers, cookies=shown.cookies)
    raw = isinstance(shown.content, bytes)
    headers[hdrs.CONTENT_TYPE] = shown.content_type if raw else MEDIA_TYPE
    body = shown.content if raw else dumps(shown.content)
    return Reply(status=status, body=body, headers=headers, cookies=shown.cookies)


def render_refusal(
    refusal: ServiceError,
    place: RoutedRow | None,
    trace_id: str,
    contributed: Mapping[str, str],
    *,
    explains: bool = False,
) -> Reply:
    """Write a refusal, in the form of its surface; ``explains`` says which field, and why."""
    error = refusal.error
    headers = {hdrs.CONTENT_TYPE: MEDIA_TYPE, **contributed}
    if error.status == _UNAUTHORIZED and place is not None:
        headers[hdrs.WWW_AUTHENTICATE] = place.surface.challenge
    if error.status in _COME_BACK:
        headers[hdrs.RETRY_AFTER] = _COME_BACK_S
    headers.update(refusal.headers)
    more = explained(refusal) if explains else {}
    body = error_body(error, trace_id, message_of(refusal), **more)
    return Reply(status=error.status, body=body, headers=headers)


def message_of(refusal: ServiceError) -> str:
    """
    Say what is wrong.

    What was sent is named by its field, with what is wanted and never with its
    value; a line of ours for operators stands behind the code's own message.
    """
    error = refusal.error
    if refusal.detail:
        return f"{error.message} {_sentence(refusal.detail)}"
    if refusal.field or error.code.startswith(_INPUT):
        return sentence(refusal.reason, refusal.field) or error.message
    return error.message


def explained(refusal: ServiceError) -> Mapping[str, str]:
    """Return what a page translates; whoever is not known is told the code alone."""
    if refusal.error.status == _UNAUTHORIZED:
        return _UNEXPLAINED
    return {"field": refusal.field, "reason": told(refusal.reason)}


def _sentence(line: str) -> str:
    """Write a line of ours as a sentence; one that is a sentence stays."""
    return f"{line[:1].upper()}{line[1:].removesuffix('.')}." if line else ""


def translate(problem: Exception, place: RoutedRow | None) -> ServiceError:
    """Give an exception its row's code; one that nobody declared is ours: 500."""
    if isinstance(problem, ServiceError):
        return problem
    error = place.row.code_of(problem) if place else None
    if error is None:
        _log.error("unhandled", exc_info=problem)
        return ServiceError(errors.INTERNAL, type(problem).__name__)
    reason = problem.reason if isinstance(problem, ProviderError) else type(problem).__name__
    headers: dict[str, str] = {}
    if isinstance(problem, ProviderError) and problem.retry_after is not None:
        wait_s = max(1, min(round(problem.retry_after), _LONGEST_WAIT_S))
        headers[hdrs.RETRY_AFTER] = str(wait_s)
    return ServiceError(error, reason, headers)

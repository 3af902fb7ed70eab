"""Results and errors as HTTP responses; JSON encoding."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Final

import msgspec
import orjson
from aiohttp import hdrs
from multidict import CIMultiDict

from gateway.core import errors
from gateway.core.catalogue import ErrorCode, bounded_wait
from gateway.core.errors import OutsideFailure, ServiceError
from gateway.core.money import Sum
from gateway.core.reasons import REASONS, public_word, sentence
from gateway.core.windows import written
from gateway.http.route import Answer, Document, code_of
from gateway.http.table import PlacedRoute
from gateway.net.server.lane import Reply
from gateway.net.server.refusals import error_body

_log: Final = logging.getLogger("gateway.http")
_COME_BACK: Final = frozenset({502, 503})
_UNAUTHORIZED: Final = 401
_INPUT: Final = "SVC.VAL."
_UNEXPLAINED: Final = {"field": "", "reason": ""}
_COME_BACK_S: Final = "2"


def render(shown: Document | Answer[Any], status: int, contributed: Mapping[str, str]) -> Reply:
    """Render an answer; ``contributed`` are the headers of policies."""
    if not isinstance(shown, Answer):
        return Reply(status, {hdrs.CONTENT_TYPE: MEDIA_TYPE, **contributed}, dumps(shown))
    several: CIMultiDict[str] = CIMultiDict({**contributed, **shown.headers})
    for cookie in shown.cookies:
        several.add(hdrs.SET_COOKIE, cookie)
    status = shown.status or status
    if shown.content is None:
        return Reply(status, several)
    raw = isinstance(shown.content, bytes)
    several[hdrs.CONTENT_TYPE] = shown.content_type if raw else MEDIA_TYPE
    if shown.rest is not None:
        return Reply(status, several)
    return Reply(status, several, shown.content if raw else dumps(shown.content))


def render_refusal(
    refusal: ServiceError,
    place: PlacedRoute | None,
    trace_id: str,
    contributed: Mapping[str, str],
    *,
    explains: bool = False,
) -> Reply:
    """Render a refusal in the form of its surface; ``explains`` adds field and reason."""
    error = refusal.error
    headers = {hdrs.CONTENT_TYPE: MEDIA_TYPE, **contributed}
    if error.status == _UNAUTHORIZED and place is not None:
        headers[hdrs.WWW_AUTHENTICATE] = place.surface.challenge
    if error.status in _COME_BACK:
        headers[hdrs.RETRY_AFTER] = _COME_BACK_S
    headers.update(refusal.headers)
    more = explained(refusal) if explains else {}
    body = error_body(error, trace_id, message_of(refusal), **more)
    return Reply(error.status, headers, body)


def message_of(refusal: ServiceError) -> str:
    """
    Return the message of a refusal.

    Invalid input is named by its field, with the expected form or words and never with its
    value; a line of ours for operators stands behind the code's own message.
    """
    error = refusal.error
    if refusal.detail:
        return f"{error.message} {_sentence(refusal.detail)}"
    if not wrong(refusal):
        return error.message
    return sentence(refusal.reason, refusal.field, refusal.words)


def wrong(refusal: ServiceError) -> str:
    """Return the message for an invalid input, ``{field}`` for its name; else nothing."""
    is_input = refusal.field or refusal.error.code.startswith(_INPUT)
    return REASONS.get(refusal.reason, "") if is_input else ""


def means(reason: str) -> str:
    """Return the sentence for a reason; ``{field}`` in it stands for the input's name."""
    return REASONS.get(reason, "")


def explained(refusal: ServiceError) -> Mapping[str, str]:
    """Return the translatable parts; unauthenticated callers get the code alone."""
    if refusal.error.status == _UNAUTHORIZED:
        return _UNEXPLAINED
    return {"field": refusal.field, "reason": public_word(refusal.reason)}


def _sentence(line: str) -> str:
    """Complete a text of ours to a sentence."""
    return f"{line[:1].upper()}{line[1:].removesuffix('.')}." if line else ""


def translate(problem: Exception, place: PlacedRoute | None) -> ServiceError:
    """Map an exception to its route's code; an undeclared one is a 500."""
    return refusal_of(problem, place.route.fails if place else {})


def refusal_of(problem: Exception, fails: Mapping[type[Exception], ErrorCode]) -> ServiceError:
    """Map an exception to its code, nearest class first; an unlisted one is a 500."""
    if isinstance(problem, ServiceError):
        return problem
    error = code_of(problem, fails)
    if error is None:
        _log.error("unhandled", exc_info=problem)
        return ServiceError(errors.INTERNAL, type(problem).__name__)
    reason = problem.reason if isinstance(problem, OutsideFailure) else type(problem).__name__
    headers: dict[str, str] = {}
    if isinstance(problem, OutsideFailure) and problem.retry_after is not None:
        headers[hdrs.RETRY_AFTER] = str(bounded_wait(problem.retry_after))
    return ServiceError(error, reason, headers)


MEDIA_TYPE = "application/json; charset=utf-8"
# As ``instant`` writes a time.
_TIMES: Final = orjson.OPT_UTC_Z | orjson.OPT_OMIT_MICROSECONDS
_TO_THE_SECOND: Final = len("2026-11-20T13:40:11")
Amount = Sum
"""An amount of money in a document, written as a JSON number in reais with two decimals."""


def dumps(document: Document) -> bytes:
    """
    Encode a document; a value that JSON cannot carry exactly is a TypeError.

    A time in it, which must be in UTC, is written to the second.
    """
    return orjson.dumps(document, default=_plain, option=_TIMES)


def pretty(document: object) -> bytes:
    """Write a document as indented JSON."""
    return orjson.dumps(document, default=_plain, option=_TIMES | orjson.OPT_INDENT_2)


def _plain(value: object) -> object:
    """Convert an amount or a struct; a TypeError for anything else that JSON has no form for."""
    if isinstance(value, Sum):  # the most frequent; the match costs 2 us
        return orjson.Fragment(str(value))
    match value:
        case Decimal():
            return orjson.Fragment(str(value))
        case msgspec.Struct():
            return document_of(value)
        case frozenset():
            return sorted(value)
        case _:
            raise TypeError(type(value))


def document_of(struct: msgspec.Struct) -> dict[str, Any]:
    """Return the fields: None as empty text, unset fields left out."""
    fields = {name: getattr(struct, name) for name in struct.__struct_fields__}
    return {
        name: "" if value is None else value
        for name, value in fields.items()
        if value is not msgspec.UNSET
    }


def minute(at: datetime | None) -> str:
    """Write an instant as ``YYYY-MM-DD HH:MM`` in UTC (contract 2.4); an absent one is empty."""
    if at is None:
        return ""
    return written(at.astimezone(UTC), "%Y-%m-%d %H:%M")

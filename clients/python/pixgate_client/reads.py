"""Calls that change nothing: repeated until an answer or a deadline."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from http import HTTPStatus
from types import MappingProxyType
from typing import Final

from pixgate_client.documents import Unreadable, parse, read
from pixgate_client.errors import (
    NotFound,
    PixgateError,
    Problem,
    RateLimited,
    Refused,
    Unavailable,
    problem_of,
)
from pixgate_client.exchange import Answer, Flow, NoAnswer, Request, T
from pixgate_client.retries import Tries

Kinds = Mapping[str, type[Refused]]
_BY_STATUS: Final[Kinds] = MappingProxyType({})
_REPEATED: Final = frozenset({HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS})


def is_refusal(status: int) -> bool:
    """Say whether a repetition of the same request gets the same answer."""
    is_4xx = HTTPStatus.BAD_REQUEST <= status < HTTPStatus.INTERNAL_SERVER_ERROR
    return (is_4xx and status not in _REPEATED) or status == HTTPStatus.NOT_IMPLEMENTED


def fetch(
    request: Request, kind: type[T], tries: Tries, *, reference: str = "", kinds: Kinds = _BY_STATUS
) -> Flow[T]:
    """
    Read an answer, repeated where that may help.

    Raises:
        Refused: of the type that ``kinds`` has for the code.
        RateLimited, Unavailable: the deadline came first.
    """
    while True:
        reply = yield request
        found = _document(reply, kind) if isinstance(reply, Answer) else None
        if found is not None:
            return found
        cause = reply.cause if isinstance(reply, NoAnswer) else None
        problem = problem_of(reply, tries.clock.now()) if isinstance(reply, Answer) else Problem()
        if problem.code and is_refusal(problem.status):
            raise _refusal(problem, reference, kinds)
        pause_s = tries.pause_s(problem.retry_after_s)
        if pause_s is None:
            raise _surrender(problem, reference) from cause
        request = replace(request, delay_s=pause_s)


def _document(answer: Answer, kind: type[T]) -> T | None:
    if answer.status == HTTPStatus.OK:
        with suppress(Unreadable):
            return read(kind, parse(answer.body))
    return None


def _refusal(problem: Problem, reference: str, kinds: Kinds) -> Refused:
    by_status = NotFound if problem.status == HTTPStatus.NOT_FOUND else Refused
    kind = kinds.get(problem.code, by_status)
    return kind("refused", reference=reference, problem=problem)


def _surrender(problem: Problem, reference: str) -> PixgateError:
    if problem.status == HTTPStatus.TOO_MANY_REQUESTS:
        return RateLimited("too many calls", reference=reference, problem=problem)
    return Unavailable("no usable answer", reference=reference, problem=problem)

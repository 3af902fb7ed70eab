"""
One request and what came of it, apart from the library that carries them.

A call is a generator: it yields requests, is sent the replies, and returns its result. So retries
and certainty are written once, and the sync and the async client only carry bytes.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")

ANSWER_S = 40.0
"""How long an answer may take: the gateway waits up to 20 seconds for its bank."""


@dataclass(frozen=True, slots=True)
class Request:
    """
    A request to the gateway.

    Attributes:
        path: Below the base URL, percent-encoded, with its query.
        delay_s: How long to wait before it is sent.
        answer_s: How long its answer may take.
    """

    method: str
    path: str
    body: bytes | None = None
    delay_s: float = 0.0
    answer_s: float = ANSWER_S


@dataclass(frozen=True, slots=True)
class Answer:
    """An HTTP answer that came whole, from the gateway or from anything in front of it."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class NoAnswer:
    """
    No answer came.

    Attributes:
        may_have_left: False only if no byte of the request can have left.
    """

    cause: Exception
    may_have_left: bool


Reply = Answer | NoAnswer
Flow = Generator[Request, Reply, T]

"""Check of the callback address that a bank calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from gateway.core import errors
from gateway.core.calls import Call

Expect = Callable[[Mapping[str, str]], None]
"""Let the parameters of a path on that is ours; CREDENTIALS_INVALID, or ROUTE_UNKNOWN."""


@dataclass(frozen=True, slots=True)
class GivenAddress:
    """
    Checks provider and token before a body is awaited.

    A caller without an address of ours cannot make us wait or read.
    """

    expect: Expect
    refuses = (errors.CREDENTIALS_INVALID, errors.ROUTE_UNKNOWN)

    def __call__(self, call: Call) -> None:
        """Admit the call if its path is one that we gave a bank."""
        self.expect(call.asked.path)

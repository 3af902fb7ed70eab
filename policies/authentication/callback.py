"""Did a bank get this address from us?"""

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
    Asks for provider and token before a body is waited for.

    Whoever has no address of ours makes us neither wait nor read.
    """

    expect: Expect
    refuses = (errors.CREDENTIALS_INVALID, errors.ROUTE_UNKNOWN)

    def __call__(self, call: Call) -> None:
        """Let the call on if its path is one that we gave a bank."""
        self.expect(call.asked.path)

"""A catalogue of codes: each way of refusing a request, declared once."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorCode:
    """
    One way a request is refused.

    Attributes:
        name: Ours, by meaning; one public code with two statuses is two names.
        code: The public code of contract part 7.
        status: The HTTP status it travels with.
        message: For the partner's developer; never a value of theirs, never a
            bank's words.
        remedy: The caller's next step.
    """

    name: str
    code: str
    status: int
    message: str
    remedy: str


@dataclass(slots=True)
class Catalogue:
    """Every declared code, by name and by public pair."""

    by_name: dict[str, ErrorCode] = field(default_factory=dict)

    def declare(self, name: str, pair: tuple[str, int], message: str, remedy: str) -> ErrorCode:
        """Add one code; a name or meaning declared twice is a mistake of ours."""
        code, status = pair
        known = {(each.code, each.status, each.message) for each in self.by_name.values()}
        if name in self.by_name or (code, status, message) in known:
            problem = f"{name} is declared twice"
            raise ValueError(problem)
        error = ErrorCode(name=name, code=code, status=status, message=message, remedy=remedy)
        self.by_name[name] = error
        return error


# A bank may ask for hours; callers should not stop trying for that long.
_LONGEST_WAIT_S = 120


def bounded_wait(seconds: float) -> int:
    """Return the ``Retry-After`` of a caller for a wait of ours or a bank's: 1 to 120 seconds."""
    return max(1, min(ceil(seconds), _LONGEST_WAIT_S))

"""What several tests of attacks share."""

from __future__ import annotations

from tests.world.gateway.answers import Answer

OWN = frozenset({"X-Trace-ID", "Date"})


def seen(answer: Answer) -> tuple[int, bytes, list[tuple[str, str]]]:
    """Return all of an answer that does not differ by itself."""
    headers = sorted((name, each) for name, each in answer.headers.items() if name not in OWN)
    return answer.status, answer.without_trace, headers

"""What was refused, in one line."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from gateway.core.catalogue import ErrorCode
from gateway.core.errors import ServiceError


@contextmanager
def refused(error: ErrorCode) -> Iterator[pytest.ExceptionInfo[ServiceError]]:
    """Expect a refusal with this code of the catalogue, by name and not by public code alone."""
    with pytest.raises(ServiceError) as refusal:
        yield refusal
    assert refusal.value.error.name == error.name


def refusal_of(read: Callable[[], object]) -> ErrorCode | None:
    """Return the refusal of a reader, None when it accepts its input."""
    try:
        read()
    except ServiceError as refusal:
        return refusal.error
    return None

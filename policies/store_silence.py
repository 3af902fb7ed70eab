"""The refusal of policies while the store is unavailable."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from gateway.core import errors
from gateway.core.errors import ServiceError
from gateway.core.storage import StoreUnavailable


@contextmanager
def asking_the_store() -> Iterator[None]:
    """Refuse with ``SVC.SYS.002`` (503) if the store does not answer; a retry may succeed."""
    try:
        yield
    except StoreUnavailable as problem:
        retry = {"Retry-After": "2"}
        raise ServiceError(errors.AUTH_UNAVAILABLE, "unavailable", retry) from problem

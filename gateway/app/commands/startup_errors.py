"""Errors at start that an operator can fix."""

from __future__ import annotations

from gateway.config.reading import ConfigError
from gateway.core.audit_context import RuleViolation
from gateway.core.storage import StoreUnavailable
from gateway.store.stamp import StoreRefused
from provider_adapters.kit.factory import AdapterRefused

REFUSALS: tuple[type[Exception], ...] = (
    RuleViolation,
    ConfigError,
    StoreUnavailable,
    StoreRefused,
    AdapterRefused,
    OSError,
    ValueError,
)

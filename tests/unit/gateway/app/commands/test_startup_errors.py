"""Why a process does not start."""

from __future__ import annotations

from gateway.app.commands.startup_errors import REFUSALS
from gateway.config.reading import ConfigError
from gateway.core.audit_context import RuleViolation
from gateway.core.storage import StoreUnavailable
from gateway.store.stamp import StoreRefused
from provider_adapters.kit.factory import AdapterRefused


def test_a_configuration_error_is_reported_in_one_line():
    """Every refusal of the start has a message."""
    cases = [
        RuleViolation("a"),
        ConfigError("a"),
        StoreUnavailable("a"),
        StoreRefused("a"),
        AdapterRefused("a"),
        OSError("a"),
    ]

    for problem in cases:
        assert isinstance(problem, REFUSALS)
        assert "\n" not in str(problem)


def test_programming_errors_keep_their_traceback():
    wrong = [
        mistake
        for mistake in [KeyError, TypeError, AttributeError, AssertionError]
        if issubclass(mistake, REFUSALS)
    ]

    assert wrong == []

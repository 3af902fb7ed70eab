"""The configuration as commands read it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from gateway.config.reading import ConfigError, read_settings
from gateway.config.settings import Settings
from gateway.core.account import Environment
from gateway.core.audit_context import RuleViolation
from gateway.security.keys import Keys, load_keys


def settings_of(file: Path, environ: Mapping[str, str] = os.environ) -> Settings:
    """
    Read the configuration, with the variables of this process or of others.

    Raises:
        RuleViolation: when it cannot be used, in one line.
    """
    try:
        return read_settings(file, environ)
    except OSError as problem:
        message = f"{file} cannot be read: {problem.strerror}"
        raise RuleViolation(message) from problem
    except ConfigError as problem:
        first, *others = problem.problems
        more = f" (and {len(others)} more: see `pixgate config check`)" if others else ""
        message = f"{file}: {first}{more}"
        raise RuleViolation(message) from problem


def keys_of(settings: Settings) -> Keys:
    """
    Load the keys; the sandbox's own keys are created on first use.

    Raises:
        RuleViolation: the keys are missing or unusable.
    """
    try:
        return load_keys(settings)
    except ConfigError as problem:
        raise RuleViolation(problem.problems[0]) from problem


def sandbox_only(settings: Settings) -> None:
    """Refuse with RuleViolation in production."""
    if settings.environment is Environment.PRODUCTION:
        problem = "this is production: there is neither a demo nor a sandbox bank"
        raise RuleViolation(problem)

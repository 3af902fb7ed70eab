"""The extras of the distribution: packages that a process needs for some settings only."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from typing import Final

EXTRAS: Final = {
    "otel": ("opentelemetry.exporter.otlp.proto.http", "opentelemetry.sdk"),
    "panel": ("jinja2", "aiohttp_jinja2", "babel", "segno"),
    "pdf": ("arabic_reshaper", "bidi", "reportlab"),
    "redis": ("redis",),
    "sqlite": ("aiosqlite",),
}
"""Modules of each extra; pyproject.toml names their distributions."""


SANDBOX: Final = ("panel", "pdf", "sqlite")
"""What the extra `sandbox` stands for: all that the sandbox's configuration and the demo use."""


def missing(extra: str) -> str:
    """Return how to install an extra; empty if its modules exist. Nothing is imported."""
    return "" if is_installed(extra) else not_installed(extra, install([extra]))


def is_installed(extra: str) -> bool:
    """Return whether the modules of an extra exist; nothing is imported."""
    return all(map(_is_there, EXTRAS[extra]))


def not_installed(extra: str, command: str) -> str:
    """Return the error for a missing extra, with the command that installs it."""
    return f"the extra `{extra}` is not installed: {command}"


def install(extras: Sequence[str]) -> str:
    """Return the command that installs extras; several of the sandbox's are one."""
    is_sandbox = len(extras) > 1 and set(extras) <= set(SANDBOX)
    return f"pip install 'pixgate[{'sandbox' if is_sandbox else ','.join(extras)}]'"


def _is_there(module: str) -> bool:
    """Find a module; the package around it may be absent, too."""
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False

"""The extras of the distribution: packages that a process needs for some settings only."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Final

EXTRAS: Final = {
    "otel": ("opentelemetry.exporter.otlp.proto.http", "opentelemetry.sdk"),
    "panel": ("jinja2", "aiohttp_jinja2", "babel", "segno"),
    "pdf": ("reportlab",),
    "redis": ("redis",),
    "sqlite": ("aiosqlite",),
}
"""Modules of each extra; pyproject.toml names their distributions."""


def missing(extra: str) -> str:
    """Return how to install an extra; empty where its modules can be found. None is imported."""
    if all(map(_is_there, EXTRAS[extra])):
        return ""
    return f"the extra `{extra}` is not installed: pip install 'pixgate[{extra}]'"


def _is_there(module: str) -> bool:
    """Find a module; the package around it may be absent, too."""
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False

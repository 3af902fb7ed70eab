"""The extras of the distribution: packages that a process needs for some settings only."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Final

EXTRAS: Final = {
    "panel": ("jinja2", "aiohttp_jinja2", "babel", "segno"),
    "pdf": ("reportlab",),
    "redis": ("redis",),
    "sqlite": ("aiosqlite",),
}
"""Modules of each extra; pyproject.toml names their distributions."""


def missing(extra: str) -> str:
    """Return how to install an extra; empty where its modules can be found. Nothing is imported."""
    if all(find_spec(module) is not None for module in EXTRAS[extra]):
        return ""
    return f"the extra `{extra}` is not installed: pip install 'pixgate[{extra}]'"

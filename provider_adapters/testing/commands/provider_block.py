"""A provider written into a configuration file, of which nothing else changes."""

from __future__ import annotations

import os
import re
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import msgspec
import yaml

from gateway.config.reading import ConfigError, settings_from
from gateway.config.settings import Settings
from gateway.operations.kernel.audit_context import RuleViolation
from provider_adapters.testing.demo.document import write_beside

_PROVIDERS: Final = re.compile(r"^providers:[ \t]*(#.*)?\n", re.MULTILINE)


def block(name: str, provider: Mapping[str, object]) -> str:
    """Write a provider as it stands in a configuration file."""
    return yaml.safe_dump({"providers": {name: dict(provider)}}, sort_keys=False)


def write_provider(file: Path, name: str, provider: Mapping[str, object]) -> Settings:
    """
    Write a provider as the first of a configuration file; comments and the rest stay.

    Returns:
        The settings of the file as it is now.

    Raises:
        RuleViolation: it cannot be written there, and the file is as it was.
    """
    text = file.read_text(encoding="utf-8")
    lines = textwrap.indent(yaml.safe_dump({name: dict(provider)}, sort_keys=False), "  ")
    found = _PROVIDERS.search(text)
    written = f"{text[: found.end()]}{lines}{text[found.end() :]}" if found else text
    settings = _only_added(text, written, name)
    if settings is None:
        message = f"{file} has no plain section of providers to write into"
        raise RuleViolation(message)
    write_beside(file, written.encode(), file.stat().st_mode).replace(file)
    return settings


def _only_added(before: str, after: str, name: str) -> Settings | None:
    """Return the settings of the text after; None unless they differ in that provider alone."""
    try:
        was, now = (settings_from(text, os.environ) for text in (before, after))
    except ConfigError:
        return None
    if name not in now.providers or name in was.providers:
        return None
    wanted = {**was.providers, name: now.providers[name]}
    return now if now == msgspec.structs.replace(was, providers=wanted) else None

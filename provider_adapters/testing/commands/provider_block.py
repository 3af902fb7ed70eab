"""A provider written into a configuration file, of which nothing else changes."""

from __future__ import annotations

import os
import re
import tempfile
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import msgspec
import yaml

from gateway.config.reading import ConfigError, settings_from
from gateway.config.settings import Settings
from gateway.operations.kernel.audit_context import RuleViolation

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
    _replace(file, written)
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


def _replace(file: Path, text: str) -> None:
    """Replace a file's content in one step, and keep its mode."""
    try:
        number, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}-")
        with os.fdopen(number, "w", encoding="utf-8") as changed:
            changed.write(text)
            os.fchmod(changed.fileno(), file.stat().st_mode)
        Path(name).replace(file)
    except OSError as problem:
        message = f"{file} cannot be written: {problem.strerror}"
        raise RuleViolation(message) from problem

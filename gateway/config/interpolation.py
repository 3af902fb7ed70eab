"""
References to the environment inside a text.

``${NAME}`` must be there, ``${NAME:-default}`` need not; where ``NAME`` is
not set but ``NAME_FILE`` is, the content of that file is taken, without white
space around it. Set but empty counts as not set. ``$${`` is a plain ``${``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

_NAME = r"[A-Za-z_][A-Za-z0-9_]*"
_REFERENCE = re.compile(rf"\$\$\{{|\$\{{({_NAME})(?::-([^}}]*))?\}}|\$\{{", re.ASCII)
_ALONE = re.compile(rf"\$\{{{_NAME}(?::-)?\}}", re.ASCII)


def has_references(text: str) -> bool:
    """Say whether anything in ``text`` is to be replaced."""
    return _REFERENCE.search(text) is not None


def is_one_reference(text: str) -> bool:
    """Say whether ``text`` is one reference without a default, and nothing else."""
    return _ALONE.fullmatch(text) is not None


def interpolate(text: str, environ: Mapping[str, str]) -> str:
    """
    Replace every reference.

    Raises:
        ValueError: names the variable that is missing, or whose file cannot be
            read; never a content.
    """

    def replaced(found: re.Match[str]) -> str:
        if found[0] == "$${":
            return "${"
        if found[1] is None:
            problem = "${ without a variable's name and }"
            raise ValueError(problem)
        return _looked_up(found[1], found[2], environ)

    return _REFERENCE.sub(replaced, text)


def _looked_up(name: str, default: str | None, environ: Mapping[str, str]) -> str:
    """Return the variable, else its file's content, else the default."""
    if value := environ.get(name):
        return value
    if file := environ.get(f"{name}_FILE"):
        return _content(name, Path(file))
    if default is None:
        problem = f"the environment variable {name} is not set"
        raise ValueError(problem)
    return default


def _content(name: str, file: Path) -> str:
    """Read the file a variable names."""
    try:
        content = file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as problem:
        told = problem.strerror if isinstance(problem, OSError) else "not UTF-8"
        message = f"the file that {name}_FILE names cannot be read: {told}"
        raise ValueError(message) from problem
    if not content:
        message = f"the file that {name}_FILE names is empty"
        raise ValueError(message)
    return content

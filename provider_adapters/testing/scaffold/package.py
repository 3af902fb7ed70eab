"""
Writes the package of a new adapter, whole and working, for its author to change.

Every file is a template with four names in it. An option chooses a folder, whose modules have
the same names and functions for every choice: so nothing else depends on the choice. Texts
that stand in a page of the package (``fragments``) are named ``OPTION_FILE``.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from string import Template
from types import MappingProxyType
from typing import Final

OPTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "auth": ("header", "oauth2", "signature"),
    "money": ("centavos", "text", "number"),
    "paging": ("page", "skip", "cursor"),
    "proof": ("hmac", "token", "rsa", "ecdsa"),
}
"""What can be chosen; the first of each is the default."""

_NAME: Final = re.compile(r"[a-z][a-z0-9]{1,23}", re.ASCII)
"""A word of a metric, of a module, of a host, and short enough for a line of code."""


class PackageRefused(ValueError):
    """No package can be written; the message says why."""


def write(name: str, into: Path, chosen: Mapping[str, str] = MappingProxyType({})) -> Path:
    """
    Write a package into a folder of its own below ``into``, and return that.

    Args:
        name: The adapter's name in ``config.yaml``.
        into: The folder that gets the package's folder.
        chosen: A word for each option; missing ones have their default.

    Raises:
        PackageRefused: The name cannot be one, or there is something of that name already.
    """
    if _NAME.fullmatch(name) is None or keyword.iskeyword(name):
        problem = "a name has 2 to 24 lower-case letters and digits, and begins with a letter"
        raise PackageRefused(problem)
    folder = into / f"pixgate-{name}"
    if folder.exists() and any(folder.iterdir()):
        problem = f"{folder} is not empty"
        raise PackageRefused(problem)
    for path, text in rendered(name, chosen).items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    return folder


def rendered(name: str, chosen: Mapping[str, str] = MappingProxyType({})) -> Mapping[str, str]:
    """Return every file of a package by its path in it."""
    root, package = files(__package__).joinpath("templates"), f"pixgate_{name}"
    names = {
        "name": name,
        "package": package,
        "distribution": f"pixgate-{name}",
        "version": version("pixgate"),
    }
    made: dict[str, str] = {}
    for option, words in OPTIONS.items():
        folder = root.joinpath(option).joinpath(chosen.get(option, words[0]))
        for path, text in _texts(folder):
            if path.endswith(".py"):
                made[f"{package}/{path}"] = text
            else:
                names[f"{option}_{Path(path).stem}"] = text.rstrip("\n")
    made |= {f"{package}/{path}": text for path, text in _texts(root.joinpath("package"))}
    made |= dict(_texts(root.joinpath("project")))
    texts = {path: Template(text).substitute(names) for path, text in made.items()}
    return dict(sorted(texts.items()))


def _texts(folder: Traversable, before: str = "") -> Iterator[tuple[str, str]]:
    """Walk the templates below a folder: the path that each is written to, and its text."""
    for each in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if each.is_dir():
            yield from _texts(each, f"{before}{each.name}/")
        elif each.name.endswith(".txt"):
            text = each.read_text(encoding="utf-8")
            yield before + each.name.removesuffix(".txt"), text

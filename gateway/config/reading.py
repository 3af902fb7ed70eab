"""
Reads the configuration file into settings.

All errors are reported at once, each with the setting's path and line; an unknown name with the
most similar known name. A secret is never written in the file: it stands there as ``${NAME}`` or
``${NAME:-}``.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterator, Mapping
from enum import EnumType
from functools import cache
from pathlib import Path
from types import UnionType
from typing import Annotated, Literal, TypeGuard, cast, get_args, get_origin

import msgspec
from msgspec import NODEFAULT, Meta, Struct
from msgspec.structs import FieldInfo, fields

from gateway.config import documents
from gateway.config.documents import Items, Node, Section, Value, joined
from gateway.config.extras import install, is_installed, not_installed
from gateway.config.settings import Settings
from gateway.config.values import Secret

_fields = cache(fields)  # msgspec evaluates the annotations of a struct at each look


class ConfigError(Exception):
    """
    The configuration cannot be used.

    Attributes:
        problems: One line each, ``path: message``; never empty, never a secret.
    """

    def __init__(self, *problems: str) -> None:
        """Carry the problems, of which there is at least one."""
        super().__init__("\n".join(problems))
        self.problems = problems


def read_settings(file: Path, environ: Mapping[str, str]) -> Settings:
    """
    Read the configuration file.

    Raises:
        ConfigError: names everything that is wrong with the content, or every extra that it
            needs and that is not installed.
        OSError: the file itself cannot be read.
    """
    try:
        text = file.read_text(encoding="utf-8")
    except UnicodeDecodeError as problem:
        message = "(file): not UTF-8"
        raise ConfigError(message) from problem
    settings = settings_from(text, environ)
    if absent := [*_missing_extras(settings)]:
        raise ConfigError(*absent)
    return settings


def _missing_extras(settings: Settings) -> Iterator[str]:
    """Name the settings whose extra is not installed."""
    needed = {
        "database.url": ("sqlite", settings.store_url.startswith("sqlite")),
        "cache.url": ("redis", settings.cache.url),
        "server.panel": ("panel", settings.server.panel),
        "telemetry.tracing.endpoint": ("otel", settings.telemetry.tracing.endpoint),
    }
    absent = {
        path: extra
        for path, (extra, is_needed) in needed.items()
        if is_needed and not is_installed(extra)
    }
    command = install([*absent.values()])
    for path, extra in absent.items():
        yield f"{path}: {not_installed(extra, command)}"


def settings_from(text: str, environ: Mapping[str, str]) -> Settings:
    """Read a configuration; ``ConfigError`` names everything that is wrong with it."""
    document = documents.parse(text)
    reader = _Reader(environ, list(document.problems))
    settings = reader.read(Settings, document.root, "")
    if reader.problems:
        raise ConfigError(*reader.problems)
    return cast("Settings", settings)


class _Reader:
    """
    Walks a document along the types of the settings.

    At an error it adds a problem, returns None and continues; the result is then unusable.
    """

    def __init__(self, environ: Mapping[str, str], problems: list[str]) -> None:
        """Start with the problems known already."""
        self._environ = environ
        self.problems = problems

    def read(self, kind: object, node: Node, path: str) -> object:
        """Read a node as ``kind``: a struct, a mapping, anything, or one value."""
        if (section := _section_or_null(kind)) and not _is_null(node):
            kind = section
        bare = _bare(kind)
        if _is_struct(bare):
            return self._struct(bare, node, path)
        if get_origin(bare) is dict:
            return self._mapping(bare, node, path)
        if bare is object:
            return self._anything(node, path)
        if not isinstance(node, Value):
            return self._note(path, "one value is expected here", node.line)
        if bare is Secret and not _is_named(node):
            return self._note(path, "a secret stands here as ${NAME} or ${NAME:-}", node.line)
        return self._value(kind, node, path)

    def _struct(self, kind: type[Struct], node: Node, path: str) -> Struct:
        section = self._section(node, path)
        known = {each.name: each for each in _fields(kind)}
        for name, child in section.nodes.items():
            if name not in known:
                self._note(joined(path, name), f"no such setting{hint(name, known)}", child.line)
        return kind(**{name: self._member(each, section, path) for name, each in known.items()})

    def _member(self, member: FieldInfo, section: Section, path: str) -> object:
        """Read one setting, or the value that a silent file implies."""
        path = joined(path, member.name)
        node = section.nodes.get(member.name) or _silent(member)
        if node is not None:
            return self.read(member.type, node, path)
        if member.required:
            return self._note(path, "is missing", section.line)
        if member.default is NODEFAULT:
            return member.default_factory()
        return member.default

    def _mapping(self, kind: object, node: Node, path: str) -> dict[object, object]:
        name_kind, kind = get_args(kind)
        return {
            self._value(name_kind, Value(name, child.line), joined(path, name)): self.read(
                kind, child, joined(path, name)
            )
            for name, child in self._section(node, path).nodes.items()
        }

    def _anything(self, node: Node, path: str) -> object:
        if isinstance(node, Section):
            return {
                name: self._anything(child, joined(path, name))
                for name, child in node.nodes.items()
            }
        if isinstance(node, Items):
            return [self._anything(each, f"{path}[{at}]") for at, each in enumerate(node.nodes)]
        return self._value(object, node, path)

    def _section(self, node: Node, path: str) -> Section:
        """Return a section; an empty one counts."""
        if isinstance(node, Section):
            return node
        if not _is_null(node):
            self._note(path or "(file)", "a section is expected here", node.line)
        return Section({}, node.line)

    def _value(self, kind: object, node: Value, path: str) -> object:
        """Read one value; only values from the environment are parsed from text."""
        content = node.content
        loose = isinstance(content, str) and documents.has_references(content)
        try:
            if loose:
                content = documents.interpolate(str(content), self._environ)
            if kind is object:
                return content
            return msgspec.convert(content, kind, strict=not loose, dec_hook=_hidden)
        except msgspec.ValidationError as problem:
            return self._note(path, _expected(kind) or str(problem), node.line)
        except ValueError as problem:
            return self._note(path, str(problem), node.line)

    def _note(self, path: str, problem: str, line: int) -> object:
        """Add a problem, and return a stand-in for the value."""
        where = f" (line {line})" if line else ""
        self.problems.append(f"{path}: {problem}{where}")
        return None


def _bare(kind: object) -> object:
    """Return a type without its bounds."""
    return get_args(kind)[0] if get_origin(kind) is Annotated else kind


def _is_struct(kind: object) -> TypeGuard[type[Struct]]:
    """Return whether a type is a section of known names."""
    return isinstance(kind, type) and issubclass(kind, Struct)


def _section_or_null(kind: object) -> type[Struct] | None:
    """Return the section of a setting that is a section or null; None for any other setting."""
    if get_origin(kind) is not UnionType:
        return None
    return next((each for each in get_args(kind) if _is_struct(each)), None)


def _is_null(node: Node) -> bool:
    return isinstance(node, Value) and node.content is None


def _is_named(node: Value) -> bool:
    """Return whether a secret is a reference; the empty text is no secret."""
    content = node.content
    return isinstance(content, str) and (not content or documents.is_one_reference(content))


def _silent(member: FieldInfo) -> Node | None:
    """Return the value implied by a file without the setting; None: its default."""
    if _is_struct(member.type) and not any(each.required for each in _fields(member.type)):
        return Section({}, 0)
    for each in get_args(member.type)[1:]:
        if isinstance(each, Meta) and each.extra and "written" in each.extra:
            return Value(each.extra["written"], 0)
    return None


def _hidden(kind: type, content: object) -> object:
    """Build the texts that mask themselves."""
    if not isinstance(content, str):
        problem = "Expected `str`"
        raise TypeError(problem)
    return kind(content)


def _expected(kind: object) -> str:
    """Describe the expected value; empty where msgspec's message suffices."""
    for each in get_args(kind)[1:]:
        if isinstance(each, Meta) and each.description:
            return f"expected {each.description}"
    bare = _bare(kind)
    words: tuple[str, ...] = get_args(bare) if get_origin(bare) is Literal else ()
    if isinstance(bare, EnumType):
        words = tuple(bare)
    return f"expected {' or '.join(words)}" if words else ""


def hint(name: str, known: Collection[str]) -> str:
    """Return the most similar known name; empty if none is similar."""
    near = difflib.get_close_matches(name, known, n=1)
    return f"; did you mean {near[0]}?" if near else ""

"""
A YAML document as sections, lists and values that remember their lines.

``${NAME}`` must be there, ``${NAME:-default}`` need not; where values come from, ``variables``
says. ``$${`` is a plain ``${``.

Only the plain part of YAML is taken: a value is null, ``true``, ``false``, a
decimal number or a text, so that ``no``, ``12:30`` and ``010`` are texts, as
they look. Anchors, aliases and tags are refused, and so is a key that stands
twice in one section, of which PyYAML would silently keep the last.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import yaml

from gateway.config.variables import value_of

_NAME = r"[A-Za-z_][A-Za-z0-9_]*"
_REFERENCE = re.compile(rf"\$\$\{{|\$\{{({_NAME})(?::-([^}}]*))?\}}|\$\{{", re.ASCII)
_MARK = re.compile(r"'(<[a-z ]+>|[^\w\s']{1,3})'", re.ASCII)
_ALONE = re.compile(rf"\$\{{{_NAME}(?::-)?\}}", re.ASCII)


def has_references(text: str) -> bool:
    """Return whether ``text`` contains a reference."""
    return _REFERENCE.search(text) is not None


def is_one_reference(text: str) -> bool:
    """Return whether ``text`` is exactly one reference without a default."""
    return _ALONE.fullmatch(text) is not None


def interpolate(text: str, environ: Mapping[str, str]) -> str:
    """
    Replace every reference.

    Raises:
        ValueError: names the variable that is missing, or whose file or command
            gives no value; never a content.
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
    """Return the variable's value, else the default."""
    value = value_of(name, environ)
    if value is not None:
        return value
    if default is None:
        problem = f"the environment variable {name} is not set"
        raise ValueError(problem)
    return default


@dataclass(frozen=True, slots=True)
class Value:
    """A scalar; ``line`` counts from 1, 0 when it stands in no file."""

    content: str | int | float | bool | None
    line: int


@dataclass(frozen=True, slots=True)
class Items:
    """A list."""

    nodes: tuple[Node, ...]
    line: int


@dataclass(frozen=True, slots=True)
class Section:
    """A mapping."""

    nodes: dict[str, Node]
    line: int


Node = Value | Items | Section
_PREFIX = "tag:yaml.org,2002:"
_Reader = Callable[[str], str | int | float | bool | None]
_FORMS: dict[str, tuple[str, str, _Reader]] = {
    "null": (r"null|~|", "n~\0", lambda _: None),
    "bool": (r"true|false", "tf", lambda text: text == "true"),
    "int": (r"[-+]?(?:0|[1-9][0-9]{0,17})", "-+0123456789", int),
    "float": (r"[-+]?(?:0|[1-9][0-9]{0,17})\.[0-9]{1,17}", "-+0123456789", float),
}
"""Each scalar that is no text: its pattern, its first letters, and what reads it."""


class _Loader(yaml.SafeLoader):
    """PyYAML's composer with the forms above."""

    yaml_implicit_resolvers = {}  # noqa: RUF012 - PyYAML's own attribute; filled below

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        event = self.peek_event()  # type: ignore[no-untyped-call]
        if getattr(event, "anchor", None) or getattr(event, "tag", None):
            problem = "anchors, aliases and tags are not taken"
            raise yaml.composer.ComposerError(None, None, problem, event.start_mark)
        return super().compose_node(parent, index)


for _name, (_pattern, _first, _) in _FORMS.items():
    _Loader.add_implicit_resolver(
        _PREFIX + _name,
        re.compile(rf"(?:{_pattern})\Z", re.ASCII),
        ["" if letter == "\0" else letter for letter in _first],
    )


@dataclass(slots=True)
class Document:
    """
    A document as read.

    Attributes:
        root: An empty section when the text is empty or not YAML.
        problems: Each with its path and line; never a value.
    """

    root: Node
    problems: list[str] = field(default_factory=list)


def parse(text: str) -> Document:
    """Read a document; its errors are in its ``problems``."""
    document = Document(Section({}, 0))
    try:
        composed = _Loader(text).get_single_node()
    except yaml.YAMLError as problem:
        document.problems.append(f"(file): not YAML: {_told(problem)}")
    except RecursionError:
        document.problems.append("(file): not YAML: nested too deeply")
    else:
        if composed is not None:
            document.root = _node(composed, "", document.problems)
    return document


def joined(path: str, name: str) -> str:
    """Return the path of ``name`` inside the section at ``path``."""
    return f"{path}.{name}" if path else name


def _told(problem: yaml.YAMLError) -> str:
    """Return the error without the snippet, which may hold a secret."""
    if not isinstance(problem, yaml.MarkedYAMLError) or problem.problem_mark is None:
        return "a character that YAML does not take"
    # Log lines mask text in quotes; a mark of YAML is no text of the file's.
    said = _MARK.sub(r"`\1`", str(problem.problem))
    return f"{said} (line {problem.problem_mark.line + 1})"


def _node(node: yaml.Node, path: str, problems: list[str]) -> Node:
    """Convert a composed node to our types."""
    line = node.start_mark.line + 1
    if isinstance(node, yaml.MappingNode):
        return _section(node, path, problems)
    if isinstance(node, yaml.SequenceNode):
        return Items(tuple(_node(each, path, problems) for each in node.value), line)
    *_, read = _FORMS.get(node.tag.removeprefix(_PREFIX), (str,))
    return Value(read(node.value), line)


def _section(node: yaml.MappingNode, path: str, problems: list[str]) -> Section:
    """Read a mapping; the first of two equal keys stays."""
    found: dict[str, Node] = {}
    for key, value in node.value:
        line = key.start_mark.line + 1
        if not isinstance(key, yaml.ScalarNode):
            problems.append(f"{path or '(file)'}: a name is a text (line {line})")
        elif key.value in found:
            first = found[key.value].line
            name = joined(path, key.value)
            problems.append(f"{name}: stands twice (lines {first} and {line})")
        else:
            found[key.value] = _node(value, joined(path, key.value), problems)
    return Section(found, node.start_mark.line + 1)

"""
A YAML document as sections, lists and values that remember their lines.

Only the plain part of YAML is taken: a value is null, ``true``, ``false``, a
decimal number or a text, so that ``no``, ``12:30`` and ``010`` are texts, as
they look. Anchors, aliases and tags are refused, and so is a key that stands
twice in one section, of which PyYAML would silently keep the last.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

import yaml


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
_FORMS: tuple[tuple[str, str, str], ...] = (
    ("null", r"null|~|", "n~\0"),
    ("bool", r"true|false", "tf"),
    ("int", r"[-+]?(?:0|[1-9][0-9]{0,17})", "-+0123456789"),
    ("float", r"[-+]?(?:0|[1-9][0-9]{0,17})\.[0-9]{1,17}", "-+0123456789"),
)
_READERS: dict[str, Callable[[str], str | int | float | bool | None]] = {
    "null": lambda _: None,
    "bool": lambda text: text == "true",
    "int": int,
    "float": float,
}


class _Loader(yaml.SafeLoader):
    """PyYAML's composer with the forms above."""

    yaml_implicit_resolvers = {}  # noqa: RUF012 - PyYAML's own attribute; filled below

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        """Refuse what makes a document other than it looks."""
        event = self.peek_event()  # type: ignore[no-untyped-call]
        if getattr(event, "anchor", None) or getattr(event, "tag", None):
            problem = "anchors, aliases and tags are not taken"
            raise yaml.composer.ComposerError(None, None, problem, event.start_mark)
        return super().compose_node(parent, index)


for _name, _pattern, _first in _FORMS:
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
    """Read a document; what is wrong with it stands in its ``problems``."""
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
    """Say what is wrong without the snippet, which may hold a secret."""
    if not isinstance(problem, yaml.MarkedYAMLError) or problem.problem_mark is None:
        return "a character that YAML does not take"
    return f"{problem.problem} (line {problem.problem_mark.line + 1})"


def _node(node: yaml.Node, path: str, problems: list[str]) -> Node:
    """Turn a composed node into ours."""
    line = node.start_mark.line + 1
    if isinstance(node, yaml.MappingNode):
        return _section(node, path, problems)
    if isinstance(node, yaml.SequenceNode):
        return Items(tuple(_node(each, path, problems) for each in node.value), line)
    read = _READERS.get(node.tag.removeprefix(_PREFIX), str)
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

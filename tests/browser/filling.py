"""Filling in the forms of a page as a person would, and reading what a page holds of it again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html.parser import HTMLParser
from urllib.parse import urlsplit

TOKEN = "csrf_token"
SECRET = frozenset({TOKEN, "code", "app_code", "credentials", "public_key", "username", "webhook"})
"""
Fields that no page shows again: people paste a private key where a public one is asked for, and
the last one is the person's own address, not typed.
"""

_BY_KIND = {"email": "typed@example.com", "date": "2031-05-06"}


@dataclass(slots=True)
class Field:
    """
    A field of a form.

    Attributes:
        kind: The type of an input; ``select`` or ``textarea``.
        options: What can be chosen, of a select, and of radio buttons or ticks of one name.
        chosen: What the page holds: one text, or what is ticked.
        words: What opens the button beside it.
    """

    name: str
    kind: str
    options: list[str] = field(default_factory=list)
    chosen: list[str] = field(default_factory=list)
    words: str = ""

    @property
    def is_typed(self) -> bool:
        """Say whether it is a person's, and may be shown again."""
        return self.kind not in {"hidden", "password", "button"} and self.name not in SECRET

    def filled(self, *, sure: bool) -> list[str]:
        """Return other values than the page holds; ``sure`` types the words that are asked for."""
        if self.kind in {"hidden", "button"} or self.name == "username":
            return self.chosen
        if self.kind in {"select", "radio"}:
            return [each for each in self.options if each not in self.chosen][-1:] or self.chosen
        if self.kind == "checkbox":
            return [each for each in self.options if each not in self.chosen]
        if sure and self.words:
            return [self.words]
        return [_BY_KIND.get(self.kind, f"typed {self.name}"[:20])]


@dataclass(slots=True)
class Filled:
    """
    A form that writes.

    Attributes:
        action: Where it goes.
        fields: By name.
    """

    action: str
    fields: dict[str, Field] = field(default_factory=dict)

    @property
    def kind(self) -> tuple[str, frozenset[str]]:
        """Its address without ids, and its fields: one of each kind is enough."""
        path = urlsplit(self.action).path
        words = [each if each.isalpha() or not each else "*" for each in path.split("/")]
        return "/".join(words), frozenset(self.fields) - {"code"}

    def typed(self) -> Mapping[str, list[str]]:
        return {name: each.chosen for name, each in self.fields.items() if each.is_typed}


@dataclass(slots=True)
class Forms(HTMLParser):
    """Every form of a page that writes, with what its fields hold."""

    page: str
    found: list[Filled] = field(default_factory=list)
    _form: Filled | None = None
    _inside: Field | None = None

    def __post_init__(self) -> None:
        HTMLParser.__init__(self, convert_charrefs=True)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "form" and given.get("enctype"):
            self._form = None  # with a file, which no page gives back
        elif tag == "form" and given.get("method", "").lower() == "post":
            self._form = Filled(given.get("action") or self.page)
            self.found.append(self._form)
        elif self._form is None:
            return
        elif tag == "option" and self._inside is not None:
            self._inside.options.append(given.get("value", ""))
            if "selected" in given or not self._inside.chosen:
                self._inside.chosen = [given.get("value", "")]
        elif given.get("name") and tag in {"input", "select", "textarea", "button"}:
            self._field(tag, given)

    def _field(self, tag: str, given: Mapping[str, str]) -> None:
        assert self._form is not None
        kind = given.get("type", "text") if tag == "input" else tag
        one = self._form.fields.setdefault(given["name"], Field(given["name"], kind))
        one.words = given.get("data-words", one.words)
        if kind in {"radio", "checkbox"}:
            one.options.append(given.get("value", "on"))
            if "checked" in given:
                one.chosen.append(given.get("value", "on"))
        elif kind in {"select", "textarea"}:
            self._inside = one
        else:
            one.chosen = [given.get("value", "")]

    def handle_data(self, data: str) -> None:
        if self._inside is not None and self._inside.kind == "textarea":
            self._inside.chosen = [data]

    def handle_endtag(self, tag: str) -> None:
        if tag in {"select", "textarea"}:
            if tag == "textarea" and self._inside is not None and not self._inside.chosen:
                self._inside.chosen = [""]
            self._inside = None
        elif tag == "form":
            self._form = None


def forms_in(page: str, text: str) -> Sequence[Filled]:
    read = Forms(page)
    read.feed(text)
    return read.found

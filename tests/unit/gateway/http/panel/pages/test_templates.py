"""Templates: what others typed is text in them."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from aiohttp import web
from jinja2 import UndefinedError

import gateway.panel
from gateway.banks.port.statements import Balance
from gateway.core import errors
from gateway.core.errors import ServiceError
from gateway.core.money import Money
from gateway.http.panel.pages.templates import Templates, Uncompiled
from gateway.http.panel.pages.visit import Language


def templates_on(application: web.Application) -> Templates:
    """Set them up where aiohttp-jinja2 finds them."""
    made = Templates(lambda name: name)
    made.set_up(application)
    return made


TEMPLATES = Path(gateway.panel.__file__).parent / "templates"
MADE = templates_on(web.Application()).environment(Language.ENGLISH)


def test_user_text_is_escaped():
    shown = MADE.from_string('<b title="{{ name }}">{{ name }}</b>').render(name='"<script>')

    assert shown == '<b title="&#34;&lt;script&gt;">&#34;&lt;script&gt;</b>'


def test_an_undefined_template_variable_is_an_error():
    """A missing amount must not look like none."""
    with pytest.raises(UndefinedError):
        MADE.from_string("{{ value }}").render()


UNREAD = {
    "money": "{{ m.money(none) }}",
    "time": "{{ m.time(none) }}{{ m.time('') }}",
    "charge": "{% set live, record, reference = unread, none, 'r-1' %}"
    "{% include 'charges/_charge.html' %}",
    "balance": "{% set balance = told %}{% include 'accounts/_balance.html' %}",
    "balance, unread": "{% set balance = none %}{% include 'accounts/_balance.html' %}",
    "balance of all": "{% set read, accounts = 0, 3 %}{% include 'overview/_balances.html' %}",
    "statement": "{% set movements = none %}{% include 'accounts/_statement.html' %}",
    "bank": "{% import 'operations/_sky.html' as s with context %}{{ s.share(never) }}"
    "{{ s.p95(never) }}",
}
"""Parts of pages with nothing read, and what a page that has them is given."""


def test_an_unread_value_is_never_shown_as_absent_or_zero():
    """Neither as a dash nor as a fact: an unread amount is not an open amount."""
    visit = SimpleNamespace(
        address="/panel/x",
        problem=None,
        csrf="",
        with_query=lambda **_more: "/panel/x",
        is_partial=False,
    )
    away = ServiceError(errors.CHARGE_UNAVAILABLE, "breaker_open")
    given = {
        "visit": visit,
        "m": "",
        "unread": SimpleNamespace(data=None, problem=away),
        "told": SimpleNamespace(
            data=Balance(balance=Money(1), blocked=None, updated_at=None), problem=None
        ),
        "never": SimpleNamespace(success=None, p95_s=None),
        "is_open": False,
        "may_write": False,
        "trace_id": "",
        "account": SimpleNamespace(id="a"),
    }
    begins = "{% import '_macros.html' as m with context %}"
    templates = templates_on(web.Application())
    asyncio.run(templates.loaded())
    made = templates.environment(Language.ENGLISH)

    shown = {name: made.from_string(begins + each).render(given) for name, each in UNREAD.items()}

    text = {name: re.sub(r"<[^>]+>", " ", each) for name, each in shown.items()}
    assert [name for name, each in text.items() if "—" in each or "None" in each] == []
    assert "amount not read" in text["charge"]
    assert "the payer chooses" not in text["charge"]
    assert "0,00" not in text["balance"]
    assert "not told" in text["balance"]
    for name in ("money", "time"):
        assert "not known" in text[name], name


def test_no_template_shows_a_dash_for_a_missing_value():
    """Words say whether a value is unknown or absent; ``m.absent`` writes them."""
    comments = re.compile(r"\{#.*?#\}", re.DOTALL)

    with_dash = [
        each.name
        for each in TEMPLATES.rglob("*.html")
        if "—" in comments.sub("", each.read_text("utf-8"))
    ]

    assert with_dash == []


def test_a_field_with_a_minimum_length_describes_it():
    fields = [
        (each.name, field)
        for each in TEMPLATES.rglob("*.html")
        for field in re.findall(r"<[^<>]*\bminlength=[^<>]*>", each.read_text("utf-8"))
    ]

    assert fields
    assert [name for name, field in fields if "aria-describedby" not in field] == []


_JINJA = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}", re.DOTALL)
_TYPED = re.compile(r"\{\{[^{}]*\| visible[^{}]*\}\}")
_PLAIN = re.compile(
    r"\{% block title %\}.*?\{% endblock %\}|<option\b.*?</option>"
    r"|\{% macro (?:account|payee_bank)\(.*?\{% endmacro %\}",
    re.DOTALL,
)
"""Where no markup can stand: titles and choices, and two macros for them or for one element."""


def joined(source: str) -> list[str]:
    """Return typed text that other words of the same element can reorder."""
    tags = _JINJA.sub(lambda found: " " * len(found[0]), source)
    plain = [found.span() for found in _PLAIN.finditer(source)]
    return [
        found[0]
        for found in _TYPED.finditer(source)
        if tags.rfind("<", 0, found.start()) < tags.rfind(">", 0, found.start())
        and not any(begin <= found.start() < end for begin, end in plain)
        and not (
            re.search(r"<[a-z][^<>]*>\s*$", tags[: found.start()])
            and source[: found.start()].rstrip().endswith(">")
            and re.match(r"\s*</", source[found.end() :])
            and not re.search(r"\w=[^=,()]*\| visible", found[0])
        )
    ]


def test_typed_text_is_isolated_from_its_neighbours():
    """A right-to-left name would change places with a number beside it."""
    found = {each.name: joined(each.read_text("utf-8")) for each in TEMPLATES.rglob("*.html")}

    assert {name: texts for name, texts in found.items() if texts} == {}
    assert joined("<p>{{ a | visible }} · {{ b }}</p>")
    assert joined("<p>{{ _('of %(name)s', name=a | visible) }}</p>")
    assert not joined("<p><bdi>{{ a | visible }}</bdi> · <b title='{{ a | visible }}'></b></p>")


async def test_templates_are_compiled_in_a_thread_once():
    """Meanwhile requests would be refused: a page's templates take a third of a second."""
    templates = templates_on(web.Application())
    await templates.loaded()
    part = ("charges/_state.html", Language.ENGLISH, {})
    with pytest.raises(Uncompiled):
        templates.render_compiled(*part)

    page = await templates.render(*part)

    assert templates.render_compiled(*part) == page


@pytest.mark.parametrize("language", Language)
async def test_the_error_page_is_compiled_with_the_first_page(language: Language):
    """Errors must not compile a template first."""
    templates = templates_on(web.Application())
    with pytest.raises(Uncompiled):
        templates.render_compiled("problem.html", language, {})

    await templates.loaded()

    for person in (None, "somebody"):
        with pytest.raises(UndefinedError):
            templates.render_compiled("problem.html", language, {"visit": {"person": person}})

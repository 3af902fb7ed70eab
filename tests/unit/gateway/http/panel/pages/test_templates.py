"""Templates: what others typed is text in them."""

from __future__ import annotations

import pytest
from aiohttp import web
from jinja2 import UndefinedError

from gateway.http.panel.pages.templates import Templates, Uncompiled
from gateway.http.panel.pages.visit import Language


def templates_on(application: web.Application) -> Templates:
    """Set them up where aiohttp-jinja2 finds them."""
    made = Templates(lambda name: name)
    made.set_up(application)
    return made


MADE = templates_on(web.Application()).environment(Language.ENGLISH)


def test_what_others_typed_is_text_and_no_markup():
    shown = MADE.from_string('<b title="{{ name }}">{{ name }}</b>').render(name='"<script>')

    assert shown == '<b title="&#34;&lt;script&gt;">&#34;&lt;script&gt;</b>'


def test_a_name_that_a_page_was_not_given_is_a_mistake_and_no_blank():
    """A missing amount must not be shown as none."""
    with pytest.raises(UndefinedError):
        MADE.from_string("{{ value }}").render()


async def test_no_template_is_compiled_in_the_event_loop_but_once_in_a_thread():
    """Whoever asks meanwhile would be refused: a page's templates take a third of a second."""
    templates = templates_on(web.Application())
    await templates.loaded()
    part = ("charges/_state.html", Language.ENGLISH, {})
    with pytest.raises(Uncompiled):
        templates.render_compiled(*part)

    page = await templates.render(*part)

    assert templates.render_compiled(*part) == page


@pytest.mark.parametrize("language", Language)
async def test_refusals_have_their_page_once_any_page_was_shown(language: Language):
    """They are written at once."""
    templates = templates_on(web.Application())
    with pytest.raises(Uncompiled):
        templates.render_compiled("problem.html", language, {})

    await templates.loaded()

    for person in (None, "somebody"):
        with pytest.raises(UndefinedError):
            templates.render_compiled("problem.html", language, {"visit": {"person": person}})

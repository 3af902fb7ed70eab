"""Templates: what others typed is text in them."""

from __future__ import annotations

import pytest
from jinja2 import UndefinedError

from gateway.http.panel.pages.templates import Templates
from gateway.http.panel.pages.visit import Language

MADE = Templates(lambda name: name)._environment(Language.ENGLISH)


def test_what_others_typed_is_text_and_no_markup():
    shown = MADE.from_string('<b title="{{ name }}">{{ name }}</b>').render(name='"<script>')

    assert shown == '<b title="&#34;&lt;script&gt;">&#34;&lt;script&gt;</b>'


def test_a_name_that_a_page_was_not_given_is_a_mistake_and_no_blank():
    """A missing amount must not be shown as none."""
    with pytest.raises(UndefinedError):
        MADE.from_string("{{ value }}").render()

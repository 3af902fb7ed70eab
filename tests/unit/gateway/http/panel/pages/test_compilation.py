"""What is known when a template is compiled is looked up once, and reads the same."""

from __future__ import annotations

from jinja2 import DictLoader, Environment

from gateway.http.panel.pages.compilation import compile_with_words

_WORDS = {"Paid": "Pago", "%(n)s h": "%(n)s horas", "<b>": "<b>", "100 %%": "100 %%"}


def rendering(source: str, looked_up: list[str], **data: object) -> str:
    """Render a template that was compiled with words; note which were looked up meanwhile."""
    made = Environment(
        loader=DictLoader({"page": source, "m": "{% macro b(w) %}<b>{{ w }}</b>{% endmacro %}"}),
        autoescape=True,
        extensions=["jinja2.ext.i18n"],
    )

    def word(text: str) -> str:
        looked_up.append(text)
        return _WORDS[text]

    made.install_gettext_callables(word, lambda *_: "", newstyle=True)
    compile_with_words(made, word, lambda name: f"/static/{name}?1")
    page = made.get_template("page")
    looked_up.clear()
    return page.render(data)


def test_constant_words_are_translated_at_compilation():
    looked_up: list[str] = []

    page = rendering("{{ _('Paid') }}{% if x %} {{ _('Paid') }}{% endif %}", looked_up, x=True)

    assert page == "Pago Pago"
    assert looked_up == []


def test_a_word_with_a_value_is_translated_at_rendering_and_escaped():
    looked_up: list[str] = []

    assert rendering("{{ _('%(n)s h', n=n) }}", looked_up, n="<3>") == "&lt;3&gt; horas"
    assert rendering("{{ _(w) }}", looked_up, w="Paid") == "Pago"
    assert looked_up == ["Paid"]


def test_markup_of_a_translation_is_kept():
    """Catalogues are ours, so markup is kept; a percent sign is written twice."""
    assert rendering("{{ _('<b>') }} {{ _('100 %%') }}", []) == "<b> 100 %"


def test_addresses_of_static_files_are_written_at_compilation():
    assert rendering("{{ static('icons.svg') }}#x", []) == "/static/icons.svg?1#x"


def test_macros_escape_their_arguments_in_loops_and_blocks_too():
    page = (
        "{% import 'm' as m %}{% block x scoped %}"
        "{% for w in words %}{{ m.b(w) }}{{ m.b(_('Paid')) }}{% endfor %}{% endblock %}"
    )

    assert rendering(page, [], words=["<i>"]) == "<b>&lt;i&gt;</b><b>Pago</b>"

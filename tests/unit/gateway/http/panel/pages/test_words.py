"""Every word of the panel is said in both languages."""

import ast
import dataclasses
import re
from collections import Counter
from pathlib import Path

import pytest
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import read_po

from gateway.accounts.service import SENTENCES
from gateway.core import errors, user_errors
from gateway.core.account import Account
from gateway.core.approvals import ApprovalKind, OrderDocument, VoidReason
from gateway.core.audit import AuditEvent
from gateway.core.reasons import REASONS, UNTOLD
from gateway.http.panel.pages.visit import Language
from gateway.http.panel.pages.words import CATALOGUES, words_of
from gateway.traces import explanations
from gateway.traces.model import CHECKS
from gateway.traces.remedies import REMEDIES
from tests.world.tree import modules

ROOT = Path(__file__).parents[6]
MARKUP = re.compile(
    r"{%.*?%}|{{.*?}}|{#.*?#}|<svg.*?</svg>|<code.*?</code>|<[^>]*>|&\w+;", re.DOTALL
)
# The product's name, the words of the API, a language's own name, keys of a keyboard.
NAMES = {
    "pixgate",
    "API",
    "Português",
    "English",
    "R$",
    "UTC",
    "Pix",
    "QR",
    "CSV",
    "OFX",
    "PDF",
    "HTTP",
    "JSON",
}


def extracted():
    """Return every message of templates and pages with its context: one, or singular and plural."""
    templates_too = (
        ("gateway/panel/templates", [("**.html", "jinja2.ext:babel_extract")]),
        ("gateway/http/panel", [("**.py", "python")]),
    )
    return {
        (context, message)
        for folder, methods in templates_too
        for _, _, message, _, context in extract_from_dir(ROOT / folder, methods)
    }


def catalogue():
    """Return the Portuguese messages of all files, by context and message."""
    return {(each.context, each.id): each for _, each in translated()}


def translated():
    """Return the messages of every file, each with the file's name."""
    found = []
    for file in sorted((CATALOGUES / "pt_BR").glob("*.po")):
        with file.open(encoding="utf-8") as text:
            found += [(file.name, each) for each in read_po(text, locale="pt_BR") if each.id]
    return found


def test_each_message_is_in_one_translation_file():
    """Otherwise the last file would override the others: shared messages are in common.po."""
    counted = Counter((each.context, each.id) for _, each in translated())

    assert [key for key, count in counted.items() if count > 1] == []


def test_every_message_is_in_the_catalogue():
    """Add missing ones to the file of their pages in gateway/panel/locale/pt_BR."""
    untranslated = sorted(map(str, extracted() - catalogue().keys()))

    assert untranslated == [], f"add to a file in {CATALOGUES.relative_to(ROOT)}/pt_BR"


def test_no_translation_is_missing_or_unfinished():
    unfinished = [
        each.id
        for each in catalogue().values()
        if each.fuzzy or not (all(each.string) if isinstance(each.string, tuple) else each.string)
    ]

    assert unfinished == []


def test_a_translation_keeps_the_placeholders():
    placeholder = re.compile(r"%\(\w+\)[sd]")
    for message in catalogue().values():
        ids = message.id if isinstance(message.id, tuple) else (message.id,)
        strings = message.string if isinstance(message.string, tuple) else (message.string,)
        wanted = {found for each in ids for found in placeholder.findall(each)}
        assert {found for each in strings for found in placeholder.findall(each)} == wanted, ids


def templates():
    """Return the text of every template by its name."""
    folder = ROOT / "gateway/panel/templates"
    return {str(each.relative_to(folder)): each.read_text() for each in folder.rglob("*.html")}


def test_every_text_of_a_template_is_in_the_catalogue():
    found = {
        template: words
        for template, text in templates().items()
        if (words := set(re.findall(r"[^\W\d_]{2,}\$?", MARKUP.sub(" ", text))) - NAMES)
    }

    assert found == {}


ACTS = {"AuditEvent", "BankAct", "_act", "_own_act", "event"}
NAMED = {"_change", "audit_event", "own_audit_event"}
"""Calls that take the details of an act: as one value, and as keywords."""
BESIDE = {each.name for each in dataclasses.fields(AuditEvent)} | {"acting", "demo"}
BESIDE |= {"created_at", "factor_reset", "id", "totp"}
"""Names in these calls that are no details: of the act itself, and of what never changes."""


def parts_of(node: ast.AST) -> list[ast.AST]:
    """Return where a node shows details of an act."""
    match node:
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name in ACTS | NAMED:
            return [*node.args, *node.keywords]
        case (
            ast.Assign(targets=[ast.Name(id="details")])
            | ast.AugAssign(target=ast.Name(id="details"))
        ):
            return [node.value]
        case ast.Assign(targets=[ast.Subscript(value=ast.Name(id="details"), slice=name)]):
            return [ast.Dict([name], [])]
    return []


def details_of(module: Path) -> set[str]:
    nodes = list(ast.walk(ast.parse((ROOT / module).read_text(encoding="utf-8"))))
    told = [each for node in nodes for part in parts_of(node) for each in ast.walk(part)]
    called = {
        each.func.id
        for each in told
        if isinstance(each, ast.Call) and isinstance(each.func, ast.Name)
    }
    made = [node for node in nodes if isinstance(node, ast.FunctionDef) and node.name in called]
    told += [each for function in made for each in ast.walk(function)]
    keys = [key for each in told if isinstance(each, ast.Dict) for key in each.keys]
    keywords = {each.arg for each in told if isinstance(each, ast.keyword) and each.arg}
    return {key.value for key in keys if isinstance(key, ast.Constant)} | keywords


def test_every_detail_of_an_act_has_a_word():
    macro = templates()["access/_acts.html"].partition("macro detail(")[2].partition("endmacro")[0]
    known = set(re.findall(r"'(\w+)': (?:_|pgettext)\(", macro))
    told = {name for module in modules() for name in details_of(module)}
    told |= {each.name for each in dataclasses.fields(Account) if each.compare}

    assert {"number", "limit_per_day", "route", "value"} <= told
    assert told - known - BESIDE == set()


def known_in(template: str, start: str) -> set[str]:
    """Return the keys of the first mapping behind a start in a template."""
    mapping = re.split(r"} -?%}", templates()[template].partition(start)[2], maxsplit=1)[0]
    return set(re.findall(r"'(\w+)': ", mapping))


@pytest.mark.parametrize("macro", ["kind", "icon"])
def test_every_kind_of_order_has_a_word_and_an_icon(macro: str):
    assert known_in("approvals/_words.html", f"macro {macro}(") == set(map(str, ApprovalKind))


def test_every_reason_of_a_void_order_is_translated():
    assert sorted({(None, str(each)) for each in VoidReason if each} - catalogue().keys()) == []


NOT_SHOWN = {"method", "user_id"}
"""Of an order: the kind and the destination say how it pays, the e-mail address names the user."""


def test_the_approval_page_shows_every_field_of_an_order():
    page = templates()["approvals/approval.html"]
    used = re.findall(r"\border\.(?:get\('(\w+)'\)|(\w+))", page)
    shown = {name for names in used for name in names}
    shown |= known_in("access/_access.html", "set limit_words")  # by a loop over them

    assert OrderDocument.__annotations__.keys() - shown == NOT_SHOWN


FORM = re.compile(r'<form[^>]*\bmethod="post".*?</form>', re.DOTALL)
CHOSEN = re.compile(r'\stype="(?:hidden|radio|checkbox|password)"')
NEVER_NAMED = {"code", "app_code", "payer_name", "payer_tax_number", "q", "username"}
"""A wrong code has words of its own; a refusal speaks of the name and number in ``payer``; nobody
is told of a search, or of the name that only password managers read."""


def test_a_refusal_names_a_typed_field_by_its_label():
    forms = [form for text in templates().values() for form in FORM.findall(text)]
    fields = [field for form in forms for field in re.findall(r"<(?:input|textarea)\b[^>]*>", form)]
    typed = {
        name
        for field in fields
        if not CHOSEN.search(field)
        for name in re.findall(r'\sname="(\w+)"', field)
    }

    assert {"value", "description"} <= typed
    assert typed - known_in("_macros.html", "macro field_name(") == NEVER_NAMED, "see field_name"


FORMATTED = re.compile(r"R\$|strftime|\.isoformat|\bprocessing\b|\bcertainly_not_sent\b")


def test_money_times_and_states_are_written_by_macros():
    found = {
        template: FORMATTED.findall(text)
        for template, text in templates().items()
        if template != "_macros.html" and FORMATTED.search(text)
    }

    assert found == {}


def test_a_row_with_a_link_opens_wherever_it_is_clicked():
    """By ``go``, its link covers the row."""
    rows = re.compile(r'<(?:tr|li)\b[^>]*>|<a class="to\b')
    found = []
    for template, text in templates().items():
        row = ""
        for tag in rows.findall(re.sub(r"{%.*?%}|{{.*?}}", "", text, flags=re.DOTALL)):
            if tag.startswith("<a") and 'class="go' not in row:
                found.append(template)
            row = row if tag.startswith("<a") else tag

    assert found == []


ACTIVE = re.compile(r"\son\w+=|\sstyle=|<style|<script(?![^>]*\ssrc=)|javascript:|\|\s*safe\b")


def test_no_template_needs_a_weaker_content_security_policy():
    found = {
        template: ACTIVE.findall(text)
        for template, text in templates().items()
        if ACTIVE.search(text)
    }

    assert found == {}


def test_each_language_has_its_own_words():
    portuguese, english = words_of(Language.PORTUGUESE), words_of(Language.ENGLISH)

    assert (portuguese.gettext("Payouts"), english.gettext("Payouts")) == ("Pagamentos", "Payouts")


def test_results_of_connection_tests_are_translated():
    """The messages are those of the back office."""
    assert sorted({(None, each) for each in SENTENCES.values()} - catalogue().keys()) == []


def test_every_refusal_is_translated():
    """Their messages come from the error catalogue, where no extractor finds them."""
    messages = {each.message for each in (*errors.CATALOGUE, *user_errors.CATALOGUE)}

    assert sorted({(None, each) for each in messages} - catalogue().keys()) == []


def test_explanations_of_refusals_are_translated():
    """Rules, facts, remedies and checks, and the remedy of each code."""
    said = {
        *REASONS.values(),
        *UNTOLD.values(),
        *CHECKS.values(),
        *(text for texts in REMEDIES.values() for text in texts),
        *explanations.texts(),
        *(each.remedy for each in (*errors.CATALOGUE, *user_errors.CATALOGUE)),
    }

    assert sorted({(None, each) for each in said} - catalogue().keys()) == []

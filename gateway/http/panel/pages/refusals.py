"""
Refusals on pages: their message, and the mark on the invalid field.

The words differ from messages for programs, which speak of JSON. The mark is put into the rendered
page, so that it holds for every field of every form, and no author of a template has to
think of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from typing import Final

from gateway.core.errors import ServiceError
from gateway.core.reasons import UNTOLD
from gateway.core.user_errors import MFA_INVALID
from gateway.http import rendering
from gateway.http.panel.pages.visit import Visit
from gateway.http.panel.pages.words import _

_MISSING: Final = "missing"
_EMPTY: Final = _("{field} is missing.")
"""Of a form; what programs are told speaks of JSON."""

_NOBODY: Final = _("The call carries no identification.")
"""Of a call without a credential, a token or a session."""

_INPUTS: Final = ("SVC.VAL.", "VALIDATION_FAILED")


MESSAGE: Final = "problem"
"""Id of the message, as the macro of that name writes it."""

_FORM: Final = re.compile(r'<form\b[^>]*\baction="([^"]*)"[^>]*>.*?</form>', re.DOTALL)
_FIELD: Final = re.compile(r"<(?:input|select|textarea)\b[^>]*>")
_NAME: Final = re.compile(r'\sname="([^"]*)"')
_VALUE: Final = re.compile(r'\svalue="([^"]*)"')
_DESCRIBED: Final = re.compile(r'\saria-describedby="([^"]*)"')
_HIDDEN: Final = 'type="hidden"'
_RADIO: Final = 'type="radio"'
"""One of several has no place for "invalid"; the message describes it all the same."""

_OF_THE_PAGE: Final = frozenset({"csrf_token", "version"})
"""Hidden fields that say nothing of which form it is."""

_TYPED_AS: Final = {
    "expires_in": "hours",
    "offset_s": "hours",
    "companies": "company",
    "roles": "role",
    "permissions": "name",
    "key_type": "type",
}
"""Fields of forms that are called otherwise than what becomes of them."""


def wrong(refusal: ServiceError) -> str:
    """Return the message for an invalid input, ``{field}`` for its name; else nothing."""
    why = rendering.wrong(refusal)
    return _EMPTY if why and refusal.reason == _MISSING else why


def means(reason: str, code: str = "") -> str:
    """Return the sentence of a refusal's word, ``{field}`` for the name of the input."""
    if reason == _MISSING:
        return _EMPTY if not code or code.startswith(_INPUTS) else _NOBODY
    return rendering.means(reason)


def why(reason: str, code: str = "") -> str:
    """Return the meaning of a word for operators, including words that callers do not get."""
    return means(reason, code) or UNTOLD.get(reason, "")


def mark(page: bytes, visit: Visit) -> bytes:
    """Mark the invalid field in the submitted form; unchanged without a field."""
    wanted = frozenset(_names(visit))
    if not wanted:
        return page
    text = page.decode()
    for form in _FORM.finditer(text):
        if _is_sent(form, visit) and wanted & {_name(each[0]) for each in _fields(form[0])}:
            marked = _with_marks(form[0], wanted, ties=f'id="{MESSAGE}"' in text)
            return (text[: form.start()] + marked + text[form.end() :]).encode()
    return page


def _with_marks(form: str, wanted: frozenset[str], *, ties: bool) -> str:
    """Write a form with its invalid fields marked; ``ties`` if the message is there."""

    def written(found: re.Match[str]) -> str:
        tag = found[0]
        return _marked(tag, ties=ties) if _name(tag) in wanted else tag

    return _FIELD.sub(written, form)


def _names(visit: Visit) -> Iterator[str]:
    """Return the field's possible names in its form; nothing without a field."""
    if visit.problem is None:
        return
    field = visit.problem.field
    if visit.problem.error is MFA_INVALID:
        yield from ("code", "app_code")
    if field:
        first, _, _ = field.partition(".")
        _, _, last = field.rpartition(".")
        yield from (field, field.replace(".", "_"), first, last)
        yield _TYPED_AS.get(last, field)


def _is_sent(form: re.Match[str], visit: Visit) -> bool:
    """Return whether it is the submitted form, among others of the same address."""
    path, _, _ = (visit.act or visit.address).partition("?")
    if unescape(form[1]).partition("?")[0] != path:
        return False
    fixed = [each[0] for each in _fields(form[0]) if _HIDDEN in each[0]]
    sent = [each for each in fixed if _name(each) not in _OF_THE_PAGE]
    return all(visit.form[_name(each)] in {_value(each), ""} for each in sent)


def _fields(form: str) -> Iterator[re.Match[str]]:
    return _FIELD.finditer(form)


def _name(tag: str) -> str:
    found = _NAME.search(tag)
    return found[1] if found else ""


def _value(tag: str) -> str:
    found = _VALUE.search(tag)
    return unescape(found[1]) if found else ""


def _marked(tag: str, *, ties: bool) -> str:
    if _HIDDEN in tag:
        return tag
    if ties:
        found = _DESCRIBED.search(tag)
        tag = _DESCRIBED.sub("", tag)
        described = f"{MESSAGE} {found[1]}" if found else MESSAGE
        tag = f'{tag[:-1]} aria-describedby="{described}">'
    return tag if _RADIO in tag else f'{tag[:-1]} aria-invalid="true">'

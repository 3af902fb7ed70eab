"""Forms sent after the session had ended, kept for the same user's next sign-in."""

from __future__ import annotations

import base64
import json
import zlib
from dataclasses import dataclass
from datetime import timedelta
from typing import Final
from urllib.parse import unquote

from gateway.core.calls import Call
from gateway.core.clocks import Now
from gateway.core.errors import ServiceError
from gateway.core.user_errors import CSRF_FAILED
from gateway.http.panel.pages.visit import HOME, Visit
from gateway.security.sealing import SealBroken, Sealer
from policies.authentication.session import DeviceCookie, cookie_value
from policies.traffic.quota import PERSON
from policies.validation.forms import MULTIPART, Form, read_form

SECRETS: Final = (
    *("code", "app_code", "password", "current_password", "new_password", "new_again"),
    *("credentials", "csrf_token", "token", "passkey", "own_passkey", "registration"),
    *("webhook", "endpoint", "auth", "client_secret"),
)
"""Fields that are typed again, never kept."""
KEPT: Final = "kept"
"""The reason of a page that shows such a form."""
LABEL: Final = "kept forms"
"""The label that the server's keys are derived under."""
_COOKIE: Final = "pixgate-typed"
_KEPT_FOR: Final = timedelta(minutes=15)
_MOST_CHARS: Final = 3800
"""Browsers keep cookies of about 4,096 bytes, name and attributes included."""


@dataclass(frozen=True, slots=True)
class KeptForms:
    """
    Stores a form in a sealed cookie, bound to a user and to the page of the form.

    The device cookie identifies the user: the last one signed in in that browser.
    """

    sealer: Sealer
    device: DeviceCookie
    now: Now

    def keep(self, call: Call, page: str, act: str) -> str:
        """
        Return the header that stores a call's form; empty for no form or one too large.

        Args:
            call: The refused one, with its body.
            page: The address of the page that holds the form.
            act: Where the form was sent.
        """
        self.device(call)
        if call.known is None or call.quota != PERSON or not call.asked.body:
            return ""
        if (call.asked.content_type or "").startswith(MULTIPART):
            return ""  # a file cannot be given back
        try:
            sent = read_form(call.asked)
        except ServiceError:
            return ""
        typed = dict(sent.without(*SECRETS).values)
        if sent["credentials"]:  # an empty field would mean that the old ones stay
            typed["had_credentials"] = ("yes",)
        content = json.dumps([self.now().timestamp(), act, typed])
        whose = _bound(call.known.user_id, page)
        sealed = self.sealer.seal_bytes(zlib.compress(content.encode()), whose)
        value = base64.urlsafe_b64encode(sealed).decode("ascii")
        return self._cookie(value, _KEPT_FOR) if len(value) <= _MOST_CHARS else ""

    @property
    def taken(self) -> str:
        """The header that deletes the stored form."""
        return self._cookie("", timedelta(0))

    def show(self, visit: Visit) -> None:
        """Fill the page of a visit with the stored form; nothing is submitted."""
        value = cookie_value(visit.call.asked.headers, _COOKIE)
        if not value or visit.person is None or visit.is_partial:
            return
        whose = _bound(visit.person.user_id, visit.address.partition("?")[0])
        try:
            sealed = base64.urlsafe_b64decode(value)
            at, act, values = json.loads(zlib.decompress(self.sealer.open_bytes(sealed, whose)))
        except (ValueError, SealBroken):
            return
        visit.cookies.append(self.taken)
        if self.now().timestamp() - at < _KEPT_FOR.total_seconds():
            visit.form = Form({name: tuple(each) for name, each in values.items()})
            visit.act, visit.problem = act, ServiceError(CSRF_FAILED, KEPT)

    def _cookie(self, value: str, lasts: timedelta) -> str:
        secure = "; Secure" if self.device.form.secure else ""
        attributes = f"Path={HOME}{secure}; HttpOnly; SameSite=Strict"
        return f"{_COOKIE}={value}; {attributes}; Max-Age={int(lasts.total_seconds())}"


def _bound(user_id: str, page: str) -> str:
    return f"{user_id} {unquote(page)}"

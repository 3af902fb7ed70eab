"""A page request: user, language, theme, form."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, TypeVar
from urllib.parse import quote, urlencode

from gateway.core.account import Account
from gateway.core.browsers import Browser, ClientInfo
from gateway.core.calls import Call
from gateway.core.errors import ServiceError
from gateway.core.headers import Headers
from gateway.core.permissions import Action
from gateway.core.rights import Area, Right
from gateway.core.sessions import SignedInUser
from gateway.core.user import NOTHING_CHOSEN
from gateway.core.user_errors import MFA_INVALID, PASSKEY_INVALID, STEP_UP_REQUIRED
from gateway.http.gates import admit_anonymous
from policies.authentication.session import cookie_value
from policies.traffic.csrf import follows_link, mask_token
from policies.validation.forms import EMPTY, Form

LANGUAGE_COOKIE: Final = "pixgate-language"
THEME_COOKIE: Final = "pixgate-theme"
"""Neither opens anything: what a browser shows before somebody has signed in, or has chosen."""

_FOR_A_FACTOR: Final = (STEP_UP_REQUIRED, MFA_INVALID, PASSKEY_INVALID)
_KIND: Final = "HX-Request-Type"
_PARTIAL: Final = "partial"
_FURTHER: Final = ("cursor", "before", "after")
"""Where a page of a list begins that is read by cursor."""
_WAITING: Final = ("unresolved", "approvals")
HOME: Final = "/panel"


class Language(StrEnum):
    """Languages of the panel; values are language tags."""

    PORTUGUESE = "pt-BR"
    ENGLISH = "en"


class Theme(StrEnum):
    """Appearance of the panel; ``SYSTEM`` leaves it to the browser."""

    SYSTEM = "system"
    LIGHT = "light"
    DARK = "dark"


Word = TypeVar("Word", Language, Theme)


@dataclass(slots=True, kw_only=True)
class Visit:
    """
    One request for a page.

    Attributes:
        browser: None before a browser has a session.
        person: None before the sign-in.
        single_keys: Keys without a modifier shorten ways.
        is_partial: A script requests a part of the page alone.
        form: The form's input, once its token was compared; of a page that is shown
            again with it, too.
        problem: Why the page is shown again.
        cookies: Values of ``Set-Cookie`` that the answer gives.
        address: Of this page, with its query; filled in by the page. After a form was sent,
            that of the page which holds it.
        act: Where the form was sent to; empty where none was.
        mask: Random bytes, as many as its token has; another mask for every answer.
        counts: The numbers beside entries of the side column, by name.
        accounts: Those that rows of this page have found visible to the person, by id as
            it was asked for; the next row of the page need not look again.
    """

    call: Call
    client: ClientInfo
    browser: Browser | None
    person: SignedInUser | None
    language: Language
    theme: Theme
    is_partial: bool
    single_keys: bool = True
    form: Form = EMPTY
    problem: ServiceError | None = None
    cookies: list[str] = field(default_factory=list)
    address: str = HOME
    act: str = ""
    mask: bytes = b""
    counts: Mapping[str, int] = field(default_factory=dict)
    accounts: dict[str, Account] = field(default_factory=dict)

    @property
    def csrf(self) -> str:
        """The token of every form of this page, masked; empty without a session."""
        token = "" if self.browser is None else self.browser.panel.csrf
        return mask_token(token, self.mask) if self.mask else token

    @property
    def waiting(self) -> int:
        """Number of items that wait for the user, without mere states such as stops."""
        return sum(self.counts.get(name, 0) for name in _WAITING)

    @property
    def asks_code(self) -> bool:
        """Return whether the form is shown again for a second factor, if the user has one."""
        asks = self.problem is not None and self.problem.error in _FOR_A_FACTOR
        return asks and self.person is not None and self.person.has_factor

    @property
    def is_foreign(self) -> bool:
        """Return whether a link on another site was followed, so that the cookie is missing."""
        return follows_link(self.call.asked.headers)

    @property
    def reads_bank(self) -> bool:
        """Return whether the request may wait for a bank: a deferred or requested part."""
        return self.is_partial or self.query("read") == "1"

    @property
    def is_further(self) -> bool:
        """Return whether a page after the first is requested."""
        page = self.query("page").lstrip("0")
        is_later = page.isascii() and page.isdigit() and page != "1"
        return is_later or any(map(self.query, _FURTHER))

    def may(self, needed: Right) -> bool:
        """Return whether the user holds a right; never before the sign-in."""
        return self.person is not None and self.person.may(needed)

    def reads(self, *areas: Area) -> frozenset[str]:
        """Return the areas among these that the user may read."""
        return frozenset(each.value for each in areas if self.may(Right(each, Action.READ)))

    def query(self, name: str) -> str:
        """Return the first value of a query parameter, stripped; empty when it is absent."""
        return next(iter(self.queries(name)), "")

    def chosen(self, name: str, words: Collection[str], otherwise: str = "") -> str:
        """Return a query parameter that is one of our words; else ``otherwise``."""
        asked = self.query(name)
        return asked if asked in words else otherwise

    def queries(self, name: str) -> Sequence[str]:
        """Return every value of a query parameter; values that are not UTF-8 are left out."""
        sent = self.call.asked.query.get(name, ())
        return [each.strip() for each in sent if is_text(each)]

    def parameter(self, name: str) -> str:
        """Return a parameter of the path, decoded."""
        return self.call.asked.path[name]

    def with_query(self, **changed: str) -> str:
        """Write this page's address with some parameters changed; an empty one is left out."""
        path, _, _ = self.address.partition("?")
        kept = {name: self.queries(name) for name in self.call.asked.query if name not in changed}
        asked = {**kept, **{name: [each] for name, each in changed.items() if each}}
        return f"{path}?{urlencode(asked, doseq=True)}" if any(asked.values()) else path


def admit_visitor(call: Call) -> Visit:
    """Return the visit of a call that was let through."""
    headers = call.asked.headers
    chosen = call.person.preferences if call.person else NOTHING_CHOSEN
    return Visit(
        call=call,
        client=admit_anonymous(call).client,
        browser=call.browser,
        person=call.person,
        language=_known(Language, chosen.language) or language_of(headers),
        theme=_known(Theme, chosen.theme) or theme_of(headers),
        single_keys=chosen.single_keys is not False,
        is_partial=headers.get(_KIND) == _PARTIAL,
    )


def language_of(headers: Headers) -> Language:
    """Return the language chosen here, else the browser's, else Portuguese."""
    chosen = cookie_value(headers, LANGUAGE_COOKIE)
    if chosen in set(Language):
        return Language(chosen)
    for wanted in (headers.get("Accept-Language") or "").split(","):
        tag = wanted.strip().lower()
        if tag.startswith(("pt", "en")):
            return Language.PORTUGUESE if tag.startswith("pt") else Language.ENGLISH
    return Language.PORTUGUESE


def theme_of(headers: Headers) -> Theme:
    """Return the theme chosen here."""
    chosen = cookie_value(headers, THEME_COOKIE)
    return Theme(chosen) if chosen in set(Theme) else Theme.SYSTEM


def own_path(text: str) -> str:
    """Return an address if it is a page of ours, else the overview's."""
    is_ours = text == HOME or text.startswith((f"{HOME}/", f"{HOME}?"))
    is_plain = text.isascii() and text.isprintable() and not {"\\", " "} & set(text)
    return text if is_ours and is_plain and ".." not in text else HOME


def address(template: str, **values: str) -> str:
    """Write the address of a page: its template with these parameters, encoded."""
    return template.format_map({name: quote(each, safe="") for name, each in values.items()})


def is_text(value: str) -> bool:
    """Return whether a value of a path or a query was UTF-8."""
    return not any("\ud800" <= char <= "\udfff" for char in value)


def _known(kind: type[Word], chosen: str | None) -> Word | None:
    """Return a user's choice; None for none, and for a word of another release."""
    return kind(chosen) if chosen in set(kind) else None

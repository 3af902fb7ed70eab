"""The surface of pages: gates for reading and for forms, before and after the sign-in."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from gateway.core.calls import Input, Policy, RawRequest
from gateway.core.errors import ROUTE_UNKNOWN, ServiceError
from gateway.core.user_errors import CSRF_FAILED, SESSION_REQUIRED
from gateway.http.common import STORE_FAILS
from gateway.http.gates import BODY_BYTES, PanelPolicies
from gateway.http.panel.pages.badges import Badges
from gateway.http.panel.pages.page import Page, Result, Shown, Shows
from gateway.http.panel.pages.represent import PageResponses
from gateway.http.panel.pages.visit import HOME, Visit, address, admit_visitor, is_text
from gateway.http.route import OK, Answer, Gate, Route, RouteLimits, Surface
from policies.authorization.user import RequiresRight
from policies.traffic.csrf import FORM as FORM_MEDIA
from policies.traffic.csrf import FormFromOurPage, OpensOurPage, Origin, check_token
from policies.traffic.quota import PERSON
from policies.validation.forms import FILE_FORM, FORM, MULTIPART, Form
from policies.validation.inputs import NOTHING

Taken = TypeVar("Taken")

NAME: Final = "panel_pages"
_OPEN: Final = "these pages stand before the sign-in"
_OWN: Final = "every signed-in user may open these pages; what they hold asks for itself"
_SECRETS: Final = (
    *("code", "app_code", "passkey", "own_passkey", "registration"),
    *("password", "current_password", "new_password", "csrf_token"),
    *("webhook", "endpoint", "auth", "client_secret"),
)
"""Fields that are typed again, never shown again; ``kept.SECRETS`` holds them too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """
    The frame of every page.

    Attributes:
        step_up: Gives the second factor that a form of a signed-in user brings, after which the
            visit's browser and person are the ones who gave it.
    """

    responses: PageResponses
    badges: Badges
    policies: PanelPolicies
    step_up: Callable[[Visit], Awaitable[None]]


def pages_surface(frame: Frame, pages: Sequence[Page]) -> Surface:
    """Put every page behind its gate."""
    return Surface(
        name=NAME,
        prefix=HOME,
        gates=tuple(
            Gate(
                policies=_policies(frame.policies, is_open=is_open, media=media),
                admits=admit_visitor,
                routes=[
                    _route(frame, each)
                    for each in pages
                    if (each.is_open, _media(each)) == (is_open, media)
                ],
                scheme="session",
                opens=_OPEN if is_open else _OWN,
            )
            for is_open, media in (
                *((True, ""), (True, FORM_MEDIA)),
                *((False, ""), (False, FORM_MEDIA), (False, MULTIPART)),
            )
        ),
        challenge="",
        body_bytes=BODY_BYTES + max((each.file_bytes for each in pages), default=0),
        explains=True,
        refuse=frame.responses.refuse,
        keeps=SESSION_REQUIRED,
        knows=(frame.policies.session, frame.policies.users.user_quota),
    )


def _media(page: Page) -> str:
    """Return the media type of a form's action; empty for a page that only shows."""
    if page.does is None:
        return ""
    return MULTIPART if page.file_bytes else FORM_MEDIA


def _policies(policies: PanelPolicies, *, is_open: bool, media: str) -> Sequence[Policy]:
    """Return the policies: origin, user, quota, right."""
    users = policies.users
    place = _place(users.origin, is_open=is_open, media=media)
    if is_open:
        return (place, users.address_quota, policies.browser, policies.device)
    return (place, policies.session, users.user_quota, RequiresRight())


def _place(origin: Origin, *, is_open: bool, media: str) -> Policy:
    if not media:
        return OpensOurPage(origin=origin, links=is_open)
    return FormFromOurPage(origin, media)


def _route(frame: Frame, page: Page) -> Route[Visit]:
    if page.does is None:
        return _declared(frame, page, "GET", NOTHING, _read(frame, page))
    takes = FILE_FORM if page.file_bytes else FORM
    return _declared(frame, page, "POST", takes, _act(frame, page, page.does))


def _declared(
    frame: Frame,
    page: Page,
    method: str,
    takes: Input[Taken],
    runs: Callable[[Visit, Taken], Awaitable[Result]],
) -> Route[Visit]:
    body_bytes = 0 if takes.body is None else BODY_BYTES + page.file_bytes

    async def serve(visit: Visit, asked: RawRequest) -> Answer[bytes]:
        return await frame.responses.answer(await runs(visit, takes.read(asked)), visit)

    return Route(
        method=method,
        path=page.path,
        name=f"{NAME}.{page.name}",
        summary=page.summary,
        needs=page.needs,
        priority=page.priority,
        limits=RouteLimits("anonymous" if page.is_open else PERSON, body_bytes),
        takes=takes,
        serve=serve,
        fails=STORE_FAILS,
        raises=(),
        document=bytes,
        status=OK,
        media=page.media,
        also={},
        tells_version=False,
    )


def _read(frame: Frame, page: Page) -> Callable[[Visit, None], Awaitable[Result]]:
    async def runs(visit: Visit, _taken: None) -> Result:
        await _begin(frame, page, visit)
        frame.responses.kept.show(visit)
        return await page.shows(visit)

    return runs


def _act(frame: Frame, page: Page, does: Shows) -> Callable[[Visit, Form], Awaitable[Result]]:
    """Return the function that runs a form's action; after a refusal its page is shown again."""

    async def runs(visit: Visit, form: Form) -> Result:
        await _begin(frame, page, visit)
        if visit.browser is None:
            raise ServiceError(SESSION_REQUIRED, "missing")
        visit.form = form
        try:
            # another one was given by a sign-in or a code in another tab
            check_token(form["csrf_token"], visit.browser)
            await frame.step_up(visit)
            done = await does(visit)
            frame.badges.forget(visit)
            return done
        except ServiceError as problem:
            if problem.error is SESSION_REQUIRED:
                raise
            return await _again(page, visit, problem)

    return runs


async def _begin(frame: Frame, page: Page, visit: Visit) -> None:
    """Prepare rendering, and note the page's own address; an address that is not UTF-8 is 404."""
    await frame.responses.templates.loaded()
    asked = visit.call.asked
    if not all(map(is_text, asked.path.values())):
        raise ServiceError(ROUTE_UNKNOWN, "no_route")
    held = frame.responses.holders.get(page.path, page.path)
    visit.address = address(f"{HOME}{held}", **asked.path)
    if page.does is not None:
        visit.act = address(f"{HOME}{page.path}", **asked.path)
    if asked.query:
        visit.address = visit.with_query()
    visit.counts = await frame.badges.of(visit)


async def _again(page: Page, visit: Visit, problem: ServiceError) -> Result:
    """Show the page of a form with its input and errors; secrets are left out."""
    visit.form, visit.problem = visit.form.without(*_SECRETS), problem
    shown = await page.shows(visit)
    if problem.error is CSRF_FAILED and not isinstance(shown, Shown):
        raise problem
    return replace(shown, status=problem.error.status) if isinstance(shown, Shown) else shown

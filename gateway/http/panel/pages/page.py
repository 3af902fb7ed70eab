"""Declaration of a panel page: an address, a right, and its content."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from gateway.core.priority import Priority
from gateway.core.rights import Right
from gateway.http.panel.pages.visit import Visit

HTML: Final = ("text/html",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """
    A page to be rendered.

    Attributes:
        template: Its name below ``templates``.
        data: The template's data beside the visit.
        part: The template of the part that a script swaps; empty renders the page always.
        status: Other than 200.
        is_secret: It shows a secret that is shown once, or holds that of a link: it is
            not compressed.
    """

    template: str
    data: Mapping[str, object] = field(default_factory=dict)
    part: str = ""
    status: int = 200
    is_secret: bool = False


@dataclass(frozen=True, slots=True)
class Redirect:
    """A redirect after an accepted form; a path of ours."""

    to: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Download:
    """
    A file for the person.

    Attributes:
        rest: The further pieces; None where ``content`` is all of it.
    """

    content: bytes
    content_type: str
    filename: str
    rest: AsyncGenerator[bytes, None] | None = None


Result = Shown | Redirect | Download
Shows = Callable[[Visit], Awaitable[Result]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """
    A page, or a form that one holds.

    Attributes:
        path: Below ``/panel``, parameters in braces.
        name: Without the surface's; one word for logs and metrics.
        needs: The right that opens it; None for a page of every signed-in user, and before
            the sign-in.
        shows: Gathers the data shown. Of a form: the page that holds it, which is
            shown again with the form and the problem when the act is refused.
        does: The form's action; None for a page that only shows.
        is_open: It stands before the sign-in.
        media: The media types of its answers.
        priority: Its class under overload.
        file_bytes: Of a form with a file: the largest file; else 0.
    """

    path: str
    name: str
    summary: str
    shows: Shows
    needs: Right | None = None
    does: Shows | None = None
    is_open: bool = False
    media: Sequence[str] = HTML
    priority: Priority = Priority.PAGES
    file_bytes: int = 0


def holders(pages: Collection[Page]) -> Mapping[str, str]:
    """
    Return the pages of forms whose own address only accepts submissions.

    Both are paths below ``/panel``: of the form, and of the page that holds it.
    """
    shown = [each for each in pages if each.does is None]
    paths = {each.path for each in shown}
    return {
        act.path: each.path
        for act in pages
        if act.path not in paths
        for each in shown
        if each.shows == act.shows
    }

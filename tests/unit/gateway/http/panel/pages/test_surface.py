"""What is asked in front of a page, and what a refused form never shows again."""

from __future__ import annotations

from gateway.core.errors import ServiceError
from gateway.core.user_errors import MFA_INVALID
from gateway.http.panel.pages.page import Page, Shown
from gateway.http.panel.pages.surface import _again
from policies.authentication.session import SessionCookie
from policies.authorization.user import RequiresRight
from policies.validation.forms import Form
from tests.unit.gateway.http.panel.pages.visit import visit
from tests.world.surfaces import surface_named


def test_every_page_behind_the_sign_in_requires_its_right():
    """Pages, forms, and forms with a file."""
    asked = [{type(each) for each in gate.policies} for gate in surface_named("panel_pages").gates]

    behind = [kinds for kinds in asked if SessionCookie in kinds]

    assert len(behind) == 3
    assert all(RequiresRight in kinds for kinds in behind)


async def test_a_refused_form_is_shown_again_without_secrets():
    """The page contains what was typed, and others may see it."""
    looked = visit()
    secrets = ("code", "app_code", "password", "current_password", "new_password", "csrf_token")
    looked.form = Form(dict.fromkeys(("name", *secrets), ("typed",)))

    async def shows(again):
        return Shown(template="x.html", data={"form": again.form})

    page = Page(path="/x", name="x", summary="", shows=shows)

    shown = await _again(page, looked, ServiceError(MFA_INVALID, "code"))

    assert shown == Shown(
        template="x.html", data={"form": Form({"name": ("typed",)})}, status=MFA_INVALID.status
    )

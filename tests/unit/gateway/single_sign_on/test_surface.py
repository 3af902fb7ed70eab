"""Logout tokens over the socket: one form, answered as the standard says."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest

from gateway.core.calls import RawRequest
from gateway.core.errors import ServiceError
from gateway.single_sign_on.surface import sign_on_surface
from tests.unit.gateway.single_sign_on.world import COMPANY, SignOnWorld

FORM = "application/x-www-form-urlencoded"


def asked(token: str, media: str = FORM) -> RawRequest:
    body = urlencode({"logout_token": token}).encode()
    return RawRequest(path={"company_id": COMPANY}, body=body, content_type=media)


async def test_a_logout_token_is_answered_with_200_once(sign_on_world: SignOnWorld):
    await sign_on_world.sign_in()
    (gate,) = sign_on_surface(sign_on_world.sign_on, lambda _call: None).gates  # type: ignore[arg-type]
    (route,) = gate.routes
    token = sign_on_world.issuer.logout_token()

    done = await route.serve(None, asked(token))

    assert done.headers["Cache-Control"] == "no-store"
    for refused in (asked(token), asked(""), asked(token, "application/json")):
        with pytest.raises(ServiceError) as problem:
            await route.serve(None, refused)
        assert problem.value.reason == "logout_token"

"""The open routes of every surface."""

from __future__ import annotations

from gateway.core.account import Environment
from gateway.core.calls import RawRequest
from gateway.core.errors import CATALOGUE
from gateway.http.introduction import routes

DECLARED = routes("tests", Environment.PRODUCTION, CATALOGUE).declared
ROUTES = {route.path: route for route in DECLARED}


async def test_the_catalogue_is_listed_by_public_code():
    """A code with several statuses is one line with all its meanings."""
    listed = await ROUTES["/error-codes"].serve(None, RawRequest(path={}))

    lines = {line["code"]: line for line in listed["data"]}
    assert len(lines) == listed["meta"]["total"] == len({error.code for error in CATALOGUE})
    assert lines["SVC.ACC.005"]["status"] == [403, 422, 502]
    assert lines["SVC.AUT.010"]["status"] == [401, 403]
    for error in CATALOGUE:
        assert error.message in lines[error.code]["message"]

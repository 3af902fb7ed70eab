"""What several tests of visit share."""

from multidict import CIMultiDict

from gateway.core.calls import Call, RawRequest
from gateway.http.panel.pages.visit import (
    admit_visitor,
)


def visit(query=None, **headers):
    """Make a visit without a signed-in user."""
    sent = CIMultiDict({name.replace("_", "-"): value for name, value in headers.items()})
    asked = RawRequest(path={"reference": "a/b"}, query=query or {}, headers=sent)
    return admit_visitor(Call(asked=asked, needs=None, quota=""))

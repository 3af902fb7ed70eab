"""Identity providers of companies in the back office."""

from __future__ import annotations

from gateway.core import errors
from gateway.core.user_errors import FORBIDDEN
from gateway.http.route import OK
from gateway.http.routing import ABSENT, CHANGED, Routes
from gateway.single_sign_on.model import IdentityProvider
from gateway.single_sign_on.service import IdentityProviders


def routes(providers: IdentityProviders) -> Routes:
    """Return the routes."""
    office, one = Routes(), "/companies/{company_id}/single-sign-on"
    version = IdentityProvider.version
    office.get(one, "single_sign_on", providers.get, version=version, raises=ABSENT)
    office.put(
        one,
        "single_sign_on_set",
        providers.set,
        version=version,
        raises=(*CHANGED, FORBIDDEN, errors.ALREADY_IN_USE),
    )
    office.delete(
        one,
        "single_sign_on_remove",
        providers.remove,
        version=version,
        status=OK,
        raises=(*CHANGED, errors.ALREADY_IN_USE),
    )
    return office

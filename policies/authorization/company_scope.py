"""Which companies' records may this user see and change?"""

from __future__ import annotations

from gateway.domain.identity.errors import FORBIDDEN
from gateway.domain.kernel.company_scope import scope_of
from gateway.domain.kernel.errors import ServiceError
from gateway.domain.requests.calls import Call


class DecidesCompanyScope:
    """
    Fills in the scope of the signed-in user; the only place that decides it.

    Operations are given it, and the store puts it into its WHERE.
    """

    refuses = (FORBIDDEN,)

    def __call__(self, call: Call) -> None:
        """
        Fill in the scope.

        Raises:
            ServiceError: ``FORBIDDEN`` (403) where no policy has established the user.
        """
        if call.person is None:
            raise ServiceError(FORBIDDEN, "permission")
        call.scope = scope_of(call.person.companies)

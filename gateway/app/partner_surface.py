"""The partner's surface: the order in which its questions are asked."""

from __future__ import annotations

from collections.abc import Sequence

from gateway.app.partner_routes import BODY_BYTES
from gateway.core.account import Environment
from gateway.core.calls import Call, Caller
from gateway.core.errors import CATALOGUE
from gateway.http.common import open_gate
from gateway.http.route import Gate, Row, Surface
from policies.authentication.basic import BasicCredentials
from policies.authorization.credential import AccountScope, AccountState, RequiresPermission
from policies.traffic.quota import WithinQuota
from policies.traffic.throttle import NotBlocked
from policies.validation.parameters import Identifiers

PREFIX = "/baas/v1"
CHALLENGE = 'Basic realm="baas", charset="UTF-8"'


def banking_surface(
    rows: Sequence[Row[Caller]],
    credentials: BasicCredentials,
    quota: WithinQuota,
    scope: AccountScope,
    environment: Environment,
) -> Surface:
    """Put the partner's gate and the open gate together."""
    partner = Gate(
        policies=(
            NotBlocked(credentials.throttle),
            credentials,
            quota,
            RequiresPermission(),
            Identifiers(),
            scope,
            AccountState(),
        ),
        admits=admit_partner,
        rows=rows,
        scheme="basic",
    )
    return Surface(
        name="banking",
        prefix=PREFIX,
        gates=(partner, open_gate("banking", environment, CATALOGUE)),
        challenge=CHALLENGE,
        body_bytes=BODY_BYTES,
        exempt=frozenset({"banking.health"}),
    )


def admit_partner(call: Call) -> Caller:
    """Turn a call that passed every question into what operations take."""
    if call.principal is None or call.account is None:
        problem = "a policy of this gate is missing"
        raise RuntimeError(problem)
    return Caller(call.principal, call.account)

"""The partner's surface: the order in which its questions are asked."""

from __future__ import annotations

from dataclasses import dataclass

from gateway.domain.accounts.accounts import Environment
from gateway.domain.kernel.errors import CATALOGUE
from gateway.domain.requests.calls import Call, Caller
from gateway.http.banking.routes import BODY_BYTES, Operations, banking_rows
from gateway.http.common import open_gate
from gateway.http.route import Gate, Surface
from policies.authentication.basic import BasicCredentials
from policies.authorization.credential import AccountScope, AccountState, RequiresPermission
from policies.traffic.quota import WithinQuota
from policies.traffic.throttle import NotBlocked
from policies.validation.parameters import Identifiers

CHALLENGE = 'Basic realm="baas", charset="UTF-8"'


@dataclass(frozen=True, slots=True, kw_only=True)
class Questions:
    """The policies that need something to look at."""

    not_blocked: NotBlocked
    credentials: BasicCredentials
    quota: WithinQuota
    scope: AccountScope


def banking_surface(
    questions: Questions, operations: Operations, environment: Environment
) -> Surface:
    """Put the partner's gate and the open gate together."""
    partner = Gate(
        policies=(
            questions.not_blocked,
            questions.credentials,
            questions.quota,
            RequiresPermission(),
            Identifiers(),
            questions.scope,
            AccountState(),
        ),
        admits=admit_partner,
        rows=banking_rows(operations),
        scheme="basic",
    )
    return Surface(
        name="banking",
        prefix="/baas/v1",
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

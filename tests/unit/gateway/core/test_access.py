"""Who acts, and what service methods ask of them."""

import importlib
import inspect
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

import gateway
from gateway.core.access import Staff, StaffOf, requirement_of, requires
from gateway.core.account import Account
from gateway.core.audit_context import AuditContext
from gateway.core.catalogue import ErrorCode
from gateway.core.errors import ACCOUNT_INACTIVE, ACCOUNT_UNVERIFIED, ServiceError
from gateway.core.permissions import Action
from gateway.core.rights import Area, Role
from gateway.stops.service import Stops
from tests.world.people import ACCOUNT, account, somebody
from tests.world.standing import Clock

CLOCK = Clock()


def services() -> list[type]:
    """Return every class of a service that checks something about its caller."""
    return [
        each
        for found in sorted(Path(gateway.__path__[0]).glob("*/service.py"))
        for module in [importlib.import_module(f"gateway.{found.parent.name}.service")]
        for each in vars(module).values()
        if inspect.isclass(each)
        and each.__module__ == module.__name__
        and any(hasattr(method, "requirement") for method in vars(each).values())
    ]


class Service:
    @requires(Area.STOP, Action.WRITE)
    async def change(self, who: Staff, how: str) -> str:
        return f"{who.acting.actor} {how}"

    @requires(Area.STOP, Action.WRITE, fresh_factor=True)
    async def undo(self, who: Staff) -> str:
        return who.acting.actor

    @requires(Area.PIX_KEY, Action.WRITE)
    async def register(self, who: Staff) -> str:
        return who.acting.actor

    @requires(Area.REFUND, Action.WRITE, active=True)
    async def pay(self, who: Staff, account: Account) -> str:
        return f"{who.acting.actor} {account.id}"


def of(*roles: Role, demanded: Role | None = None, **changed: object) -> Staff:
    person = replace(somebody(*roles), **changed)  # type: ignore[arg-type]
    return StaffOf(CLOCK.now, frozenset({demanded} - {None}))(person)  # type: ignore[arg-type]


async def test_a_method_runs_with_its_right_and_factor():
    operator = of(Role.OPERATOR, has_factor=True, factor_at=CLOCK.now() - timedelta(minutes=5))

    assert await Service().change(operator, "so") == f"{operator.acting.actor} so"
    assert await Service().undo(operator) == operator.acting.actor
    assert await Service().undo(Staff(AuditContext("cli:ana", CLOCK.now))) == "cli:ana"


@pytest.mark.parametrize(
    ("who", "code"),
    [
        (of(Role.VIEWER, has_factor=True, factor_at=CLOCK.now()), "FORBIDDEN"),
        (of(Role.OPERATOR, has_factor=False, factor_at=None), "STEP_UP_REQUIRED"),
        (
            of(Role.OPERATOR, has_factor=True, factor_at=CLOCK.now() - timedelta(minutes=6)),
            "STEP_UP_REQUIRED",
        ),
    ],
)
async def test_a_caller_without_right_or_factor_is_refused(who: Staff, code: str):
    with pytest.raises(ServiceError) as refused:
        await Service().undo(who)

    assert refused.value.error.code == code


async def test_a_method_that_needs_a_fresh_factor_refuses_an_old_one():
    earlier = CLOCK.now() - timedelta(minutes=6)

    with pytest.raises(ServiceError) as refused:
        await Service().register(of(Role.OPERATOR, has_factor=True, factor_at=earlier))

    assert refused.value.error.code == "STEP_UP_REQUIRED"


async def test_a_role_that_requires_a_factor_changes_nothing_without_one():
    without = of(Role.OPERATOR, demanded=Role.OPERATOR, has_factor=False, factor_at=None)

    with pytest.raises(ServiceError) as refused:
        await Service().change(without, "so")

    assert refused.value.error.code == "STEP_UP_REQUIRED"


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"active": False, "verified": False}, ACCOUNT_INACTIVE),
        ({"verified": False}, ACCOUNT_UNVERIFIED),
    ],
)
async def test_money_moves_only_on_an_active_and_verified_account(
    changed: dict[str, bool], error: ErrorCode
):
    who = of(Role.OPERATOR, has_factor=True, factor_at=CLOCK.now())

    with pytest.raises(ServiceError) as refused:
        await Service().pay(who, account=replace(account(), **changed))  # type: ignore[arg-type]

    assert refused.value.error is error
    assert await Service().pay(who, account()) == f"{who.acting.actor} {ACCOUNT}"


def test_a_user_acts_in_their_companies():
    assert of(Role.OPERATOR, companies=frozenset({"a"})).scope.companies == {"a"}
    assert of(Role.OPERATOR, companies=frozenset()).scope.everything


NOT_FOR_PEOPLE = {
    "Approvals": {"order", "wait", "find", "text", "expire"},
    "Batches": {"begin", "paying_account", "payout"},
    "Configuration": {"take"},
    "Credentials": {"announce", "check_again", "carry_out", "order_document", "make_secret"},
    "Endpoints": {"check_again", "carry_out", "order_document", "make_secret"},
    "IdentityProviders": {"check_again", "carry_out", "order_document"},
    "Overviews": {"remember"},
}
"""What other services and the worker call, after a service has asked who orders or decides."""


def public(service: type) -> Iterator[str]:
    left_out = NOT_FOR_PEOPLE.get(service.__name__, set())
    assert left_out <= vars(service).keys()
    for name, method in inspect.getmembers(service, inspect.isfunction):
        if not name.startswith("_") and name not in left_out:
            yield name
            first = next(iter(list(inspect.signature(method).parameters)[1:]), "")
            assert first in {"who", "_who"}, f"{service.__name__}.{name}"


def test_every_public_method_of_a_service_requires_a_right():
    open_to_all = [
        f"{service.__name__}.{name}"
        for service in services()
        for name in public(service)
        if not hasattr(getattr(service, name), "requirement")
    ]

    assert len(services()) > 15
    assert open_to_all == []
    assert requirement_of(Stops.lift).fresh_factor

"""The back office served a second time, behind the cookie."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gateway.domain.accounts.credentials import Action
from gateway.domain.identity.rights import Area, Right
from gateway.domain.identity.sessions import SignedInUser
from gateway.domain.requests.calls import Call
from gateway.http.identity.surface import UserPolicies
from gateway.http.panel.api import panel_api
from gateway.http.panel.surface import PanelPolicies
from gateway.http.route import Gate, Surface
from gateway.http.table import check_surfaces
from policies.authentication.bearer import BearerToken
from policies.authentication.session import HARDENED, BrowserCookie, DeviceCookie, SessionCookie
from policies.authorization.user import RequiresRight, RequiresSecondFactor
from policies.traffic.csrf import CsrfToken, ReadFromOurPage, WriteFromOurPage
from policies.traffic.quota import Quota, WithinAddressQuota, WithinPersonQuota
from tests.world.gateway.listener_client import row, surface
from tests.world.people import somebody

READ, WRITE = "tests.read", "tests.write"


async def nobody(*_arguments: object) -> Any:
    """Never asked here."""
    raise AssertionError


async def authenticate(_token: str) -> SignedInUser:
    return somebody()


QUESTIONS = PanelPolicies(
    users=UserPolicies(
        bearer=BearerToken(authenticate),
        factor=RequiresSecondFactor(()),
        address_quota=WithinAddressQuota({}, float, lambda *_: None),
        user_quota=WithinPersonQuota(Quota(1, 1), float, lambda *_: None),
        origin=str,
    ),
    browser=BrowserCookie(HARDENED, nobody),
    device=DeviceCookie(HARDENED, lambda _: None),
    session=SessionCookie(form=HARDENED, find=nobody, authenticate=nobody),
)


@pytest.fixture
def office() -> Surface:
    """A back office with a read, a write, and an open gate."""
    needs: Any = Right(Area.ACCOUNT, Action.READ)
    rows = [row(path="/read", needs=needs), row(path="/write", method="POST", needs=needs)]
    made = surface(*rows)
    asked = replace(
        made.gates[0], scheme="bearer", policies=(BearerToken(authenticate), RequiresRight())
    )
    everybody = Gate(
        policies=(), admits=lambda _: None, rows=[row(path="/info", needs=None)], opens="known"
    )
    return replace(made, name="backoffice", prefix="/backoffice/v1", gates=(asked, everybody))


def kinds(gate: Gate[Any]) -> list[type]:
    return [type(each) for each in gate.policies]


def test_reads_and_writes_stand_behind_their_own_guards(office: Surface):
    """What is asked after who it is, is asked here too."""
    reads, writes = panel_api(office, QUESTIONS, frozenset({READ, WRITE})).gates

    assert kinds(reads) == [ReadFromOurPage, SessionCookie, RequiresRight]
    assert kinds(writes) == [WriteFromOurPage, SessionCookie, CsrfToken, RequiresRight]
    assert {reads.scheme, writes.scheme} == {"session"}


def test_they_are_the_very_same_rows(office: Surface):
    """Nothing is sent on: no header to strip, no token to lend."""
    again = panel_api(office, QUESTIONS, frozenset({READ, WRITE}))

    assert [each for gate in again.gates for each in gate.rows] == list(office.gates[0].rows)
    assert (again.name, again.prefix) == ("panel_api", "/panel/api")
    assert check_surfaces([again]) == []


def test_what_is_not_named_is_not_served(office: Surface):
    (reads,) = panel_api(office, QUESTIONS, frozenset({READ})).gates

    assert [each.name for each in reads.rows] == [READ]


@pytest.mark.parametrize("name", ["tests.nothing", "tests.info"])
def test_a_name_that_is_no_row_s_stops_the_start(office: Surface, name: str):
    """An open row is none either: the panel has its own."""
    with pytest.raises(ValueError, match=name):
        panel_api(office, QUESTIONS, frozenset({name}))


def test_an_access_token_opens_no_gate_of_the_panel(office: Surface):
    again = panel_api(office, QUESTIONS, frozenset({READ, WRITE}))

    assert not [each for gate in again.gates for each in gate.policies if _is_bearer(each)]


def _is_bearer(policy: object) -> bool:
    return isinstance(policy, BearerToken)


def test_a_call_is_admitted_as_the_office_does(office: Surface):
    reads, _ = panel_api(office, QUESTIONS, frozenset({READ, WRITE})).gates
    asking = Call(asked=None, needs=None, quota="")  # type: ignore[arg-type]

    assert reads.admits(asking) is office.gates[0].admits(asking)

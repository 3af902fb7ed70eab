"""Who has no address of ours is refused before anything is read."""

from __future__ import annotations

from collections.abc import Mapping

from gateway.core import errors
from gateway.core.calls import RawRequest
from gateway.core.errors import ServiceError
from policies.authentication.callback import GivenAddress
from tests.unit.refusals import refused
from tests.world.people import call


def expect(path: Mapping[str, str]) -> None:
    if path["token"] != "right":
        raise ServiceError(errors.CREDENTIALS_INVALID, "forged")


def test_a_known_callback_address_is_accepted():
    GivenAddress(expect)(call(RawRequest(path={"provider": "p", "token": "right"})))


def test_an_unknown_callback_address_is_refused():
    with refused(errors.CREDENTIALS_INVALID):
        GivenAddress(expect)(call(RawRequest(path={"provider": "p", "token": "wrong"})))


def test_the_callback_address_policy_declares_its_refusals():
    assert GivenAddress(expect).refuses == (errors.CREDENTIALS_INVALID, errors.ROUTE_UNKNOWN)

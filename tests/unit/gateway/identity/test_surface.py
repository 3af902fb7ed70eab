"""The gates of identity."""

from gateway.core import errors, user_errors
from gateway.identity.surface import CATALOGUE
from policies.authentication.bearer import BearerToken, RefusesBasic
from policies.traffic.csrf import ReadFromOurPage
from policies.traffic.quota import WithinAddressQuota, WithinPersonQuota
from tests.world.surfaces import surface_named

IDENTITY = surface_named("identity")


def test_strangers_are_counted_and_members_asked_for_their_token():
    strangers, members, *_ = IDENTITY.gates

    asked = [ReadFromOurPage, WithinAddressQuota, RefusesBasic]
    assert [type(each) for each in strangers.policies] == asked
    assert [type(each) for each in members.policies] == [BearerToken, WithinPersonQuota]


def test_the_catalogue_is_of_people_and_of_every_surface():
    """No code of the banking surface alone is in it."""
    names = {each.name for each in CATALOGUE}

    people = [each for each in user_errors.CATALOGUE if not each.code.startswith("SVC.")]
    assert {each.name for each in people} <= names
    assert {errors.AUTH_UNAVAILABLE.name, errors.USER_CREDENTIALS_INVALID.name} <= names
    assert not names & {errors.BANK_REFUSED.name, errors.CREDENTIALS_MISSING.name}


def test_signing_out_works_while_others_are_shed():
    assert {"identity.health", "identity.logout"} == IDENTITY.exempt

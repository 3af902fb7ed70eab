"""Who calls."""

import pytest

from gateway.http.callers import admit_anonymous, admit_signed_in
from tests.world.people import call, headed, somebody

ASKED = headed(("User-Agent", "curl"))


def test_a_guest_is_where_they_come_from():
    guest = admit_anonymous(call(ASKED))

    assert (guest.client.address, guest.client.user_agent) == ("203.0.113.7", "curl")
    assert (guest.client.panel, guest.client.bound_to, guest.browser) == (False, "", None)


def test_a_member_is_a_person():
    maria = somebody()

    member = admit_signed_in(call(ASKED, person=maria))

    assert member.person is maria
    assert member.logout_headers == {}


def test_without_a_person_there_is_no_member():
    """A chain that forgot to ask is a mistake of ours, not an open door."""
    with pytest.raises(RuntimeError, match="a policy of this gate is missing"):
        admit_signed_in(call(ASKED))


def test_an_agent_that_is_silent_is_empty():
    assert admit_anonymous(call(headed())).client.user_agent == ""

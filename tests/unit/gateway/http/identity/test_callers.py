"""Who calls."""

import pytest

from gateway.http.identity.callers import admit_guest, admit_member
from tests.unit.people import call, headed, somebody

ASKED = headed(("User-Agent", "curl"))


def test_a_guest_is_where_they_come_from():
    guest = admit_guest(call(ASKED))

    assert (guest.visitor.address, guest.visitor.user_agent) == ("203.0.113.7", "curl")
    assert (guest.visitor.panel, guest.visitor.bound_to, guest.browser) == (False, "", None)


def test_a_member_is_a_person():
    maria = somebody()

    member = admit_member(call(ASKED, person=maria))

    assert member.person is maria
    assert member.farewell == {}


def test_without_a_person_there_is_no_member():
    """A chain that forgot to ask is a mistake of ours, not an open door."""
    with pytest.raises(RuntimeError, match="a policy of this gate is missing"):
        admit_member(call(ASKED))


def test_an_agent_that_is_silent_is_empty():
    assert admit_guest(call(headed())).visitor.user_agent == ""

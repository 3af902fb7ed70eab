"""Sign-ins, who is signed in, and what they may do."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from gateway.core.permissions import Action
from gateway.core.rights import RIGHTS, Area, Right, Role
from gateway.core.sessions import Session, person
from gateway.core.user import User

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
USER = User(
    id="u",
    email="maria@example.com",
    name="Maria",
    password="phc",
    roles=frozenset({Role.OPERATOR}),
    companies=frozenset(),
    created_at=NOW,
    updated_at=NOW,
)
SESSION = Session(
    id="s", user_id="u", created_at=NOW, ends_at=NOW + timedelta(hours=8), seen_at=NOW
)


def test_a_session_is_live_until_it_ends():
    ended = replace(SESSION, ended_at=NOW)

    assert SESSION.is_live(NOW)
    assert not SESSION.is_live(SESSION.ends_at)
    assert not ended.is_live(NOW)


def test_a_user_has_the_rights_of_their_roles():
    maria = person(USER, SESSION)

    assert maria.may(Right(Area.PAYOUT, Action.READ))
    assert maria.may(Right(Area.PAYOUT, Action.WRITE))
    assert not maria.may(Right(Area.APPROVAL, Action.WRITE))


def test_a_limited_user_lacks_only_the_right_to_add_companies():
    """They could not see a company they added."""
    admin = person(replace(USER, roles=frozenset({Role.ADMIN})), SESSION)
    limited = replace(admin, companies=frozenset({"a"}))
    adding, changing = (Right(Area.COMPANY, each) for each in (Action.MANAGE, Action.WRITE))

    assert admin.rights == RIGHTS[Role.ADMIN]
    assert admin.may(adding)
    assert not limited.may(adding)
    assert limited.rights == RIGHTS[Role.ADMIN] - {adding} | {changing}


def test_the_audit_log_names_a_person_by_address():
    assert person(USER, SESSION).actor == "user:maria@example.com"

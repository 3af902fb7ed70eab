"""``pixgate user``."""

import pytest

from gateway.cli.os_user import os_user
from tests.unit.gateway.identity.users import ANA
from tests.world.stores.samples import COMPANY

PASSWORD = "uma frase bem comprida"
WHO = "ana@example.com"


@pytest.fixture
def ana(shell) -> dict:
    """A viewer with a password."""
    return shell.reads("user", "create", *ANA, "--role", "viewer", typed=PASSWORD + "\n")


def test_a_user_is_created_with_a_password_from_standard_input(shell, ana):
    assert (ana["email"], ana["state"], ana["roles"]) == (WHO, "active", ["viewer"])
    assert shell.reads("user", "list") == [ana]


def test_mail_about_the_act_of_a_command_names_the_system_s_user_and_nothing_typed(shell):
    """A text of `--by` would be a link in our name, or blame another user."""
    keeper = ("--email", "bia@example.com", "--name", "Bia", "--role", "security")
    shell.reads("user", "create", *keeper, typed=PASSWORD + "\n")
    company = shell.reads("company", "create", "--name", "Padaria")["id"]
    by = ("--by", "https://thief.example bia@example.com")

    new = (*ANA, "--role", "viewer")
    shell.reads("user", "create", *new, *by, typed=PASSWORD + "\n")
    shell.reads("user", "roles", WHO, "--role", "operator", *by)
    shell.reads("credential", "issue", "--name", "ERP", "--company", company, *by)

    sent = shell.reads("mailbox")
    assert {each["subject"] for each in sent} == {
        "[pixgate] Nova credencial",
        "[pixgate] Novo usuário",
        "[pixgate] Um usuário pode mais do que antes",
    }
    assert all(f"por: cli:{os_user()}\n" in each["text"] for each in sent)
    assert not any("thief" in each["text"] for each in sent)


def test_a_password_is_neither_an_option_nor_printed(shell, ana):
    assert "--password" not in shell.says("user", "create", "--help")
    assert PASSWORD not in shell.says("user", "list", "--json")


def test_a_weak_password_creates_no_user(shell):
    done = shell.run("user", "create", *ANA, "--role", "viewer", typed="password1234\n")

    assert done.exit_code == 1
    assert "everybody tries" in done.stderr
    assert shell.reads("user", "list") == []


def test_creating_a_user_without_a_password_suggests_an_invitation(shell):
    assert "invite" in shell.fails("user", "create", *ANA, "--role", "viewer", status=2)


def test_an_invited_user_has_a_link_in_the_mailbox(shell):
    made = shell.reads("user", "invite", *ANA, "--role", "viewer", "--role", "operator")

    assert (made["state"], made["roles"]) == ("invited", ["operator", "viewer"])
    assert "/panel/invitation?token=" in shell.says("mailbox")
    shell.says("user", "invite-again", WHO)
    assert len(shell.reads("mailbox")) == 2


def test_a_user_can_be_limited_to_one_company(shell):
    shell.says("company", "create", "--name", "Padaria", "--id", COMPANY)

    made = shell.reads("user", "invite", *ANA, "--role", "viewer", "--company", COMPANY)

    assert made["companies"] == [COMPANY]


@pytest.mark.parametrize(
    ("arguments", "field", "value"),
    [
        (("disable", WHO, "--reason", "férias"), "state", "disabled"),
        (("enable", WHO), "state", "active"),
        (("roles", WHO, "--role", "approver"), "roles", ["approver"]),
        (("reset-mfa", WHO), "second_factor", False),
    ],
)
def test_a_user_is_changed(shell, ana, arguments: tuple, field: str, value: object):
    changed = shell.reads("user", *arguments, "--by", "chefe")

    assert changed[field] == value
    assert shell.reads("user", "list") == [changed]


def test_a_person_is_signed_out_everywhere(shell, ana):
    assert shell.reads("user", "end-sessions", ana["id"]) == {"ended": 0}


def test_an_unknown_user_is_not_changed(shell):
    assert "no person" in shell.fails("user", "disable", WHO)


def test_an_unknown_role_is_refused(shell):
    assert "chief" in shell.fails("user", "invite", *ANA, "--role", "chief", status=2)


def test_the_list_is_a_table(shell, ana):
    head, row = shell.says("user", "list").splitlines()

    assert head.split() == ["id", "email", "state", "roles", "companies", "second_factor"]
    assert row.split()[1:] == [WHO, "active", "viewer", "-", "no"]


def test_the_next_key_is_listed_before_it_signs(shell):
    first = shell.reads("keys", "rotate", "--now")
    following = shell.reads("keys", "rotate")

    listed = shell.reads("keys", "list")

    assert [(each["id"], each["state"]) for each in listed] == [
        (first["id"], "signs"),
        (following["id"], "next"),
    ]


def test_a_former_signing_key_only_verifies(shell):
    shell.says("keys", "rotate", "--now")
    shell.says("keys", "rotate", "--now")

    assert sorted(each["state"] for each in shell.reads("keys", "list")) == ["signs", "verifies"]


def test_a_key_is_retired(shell):
    old = shell.reads("keys", "rotate", "--now")["id"]
    shell.says("keys", "rotate", "--now")

    assert "may live" in shell.fails("keys", "retire", old)
    assert shell.reads("keys", "retire", old, "--now") == {"id": old, "state": "retired"}

    states = {each["id"]: each["state"] for each in shell.reads("keys", "list")}
    assert states[old] == "retired"


def test_the_only_signing_key_cannot_be_retired(shell):
    only = shell.reads("keys", "rotate", "--now")["id"]

    assert "rotate first" in shell.fails("keys", "retire", only, "--now")


def test_private_keys_are_not_printed(shell):
    made = shell.reads("keys", "rotate", "--now")

    assert set(made) == {"id", "state", "created_at", "signs_from", "retired_at"}

"""Who runs a command, by the system's own word."""

from __future__ import annotations

import os
import pwd
from pathlib import Path

import pytest

from gateway.cli.os_user import os_user

OWN = pwd.getpwuid(os.getuid()).pw_name
OTHER = next(each for each in pwd.getpwall() if each.pw_uid != os.getuid())
NOBODY_SIGNED_IN, WITHOUT_A_NAME = "4294967295", "987654321"


@pytest.fixture(autouse=True)
def forged(monkeypatch: pytest.MonkeyPatch):
    """Variables that anybody sets."""
    for name in ("LOGNAME", "USER", "LNAME", "USERNAME", "SUDO_USER"):
        monkeypatch.setenv(name, "somebody-else")


@pytest.mark.parametrize(
    ("login", "name"),
    [
        (str(OTHER.pw_uid), OTHER.pw_name),
        (WITHOUT_A_NAME, WITHOUT_A_NAME),
        (NOBODY_SIGNED_IN, OWN),
        ("", OWN),
    ],
)
def test_the_user_who_signed_in_to_the_machine_is_named(tmp_path: Path, login: str, name: str):
    """`sudo` keeps the sign-in; without one it is the user of the process."""
    file = tmp_path / "loginuid"
    file.write_text(login)

    assert os_user(file) == name


def test_a_system_without_sign_ins_names_the_user_of_the_process(tmp_path: Path):
    assert os_user(tmp_path / "absent") == OWN

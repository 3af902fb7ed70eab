"""The rows of PIX keys."""

from __future__ import annotations

import pytest

from gateway.banks.port.pix_keys import KeyOwner, PixKeyType
from gateway.banks.port.providers import NotFound, Unavailable
from gateway.pix_keys.routes import key_owner
from tests.unit.gateway.http.surface import OFFICE, ROWS, becomes, gate_of, line

READING = ["pix_keys", "pix_key"]
ACTING = ["pix_key_create", "pix_key_cancel", "pix_key_owner"]


@pytest.mark.parametrize(
    ("name", "declared"),
    [
        ("pix_keys", ("GET", "/pix/keys", "pix_key:read", 200)),
        ("pix_key", ("GET", "/pix/keys/{key_id}", "pix_key:read", 200)),
        ("pix_key_create", ("POST", "/pix/keys", "pix_key:write", 201)),
        ("pix_key_cancel", ("DELETE", "/pix/keys/{key_id}", "pix_key:write", 200)),
        ("pix_key_owner", ("POST", "/pix/keys/lookup", "pix_key:read", 200)),
    ],
)
def test_the_rows_are_those_decided(name: str, declared: tuple[str, str, str, int]):
    assert line(name) == declared


@pytest.mark.parametrize("name", [*READING, *ACTING])
def test_only_what_acts_asks_for_an_account_that_may_bank(name: str):
    assert ("AccountState" in gate_of(name)) is (name in ACTING)


@pytest.mark.parametrize(
    ("name", "absent"),
    [
        ("pix_keys", "pix_keys_unavailable"),
        ("pix_key_create", "pix_keys_unavailable"),
        ("pix_key", "pix_key_not_found"),
        ("pix_key_cancel", "pix_key_not_found"),
        ("pix_key_owner", "pix_key_not_found"),
    ],
)
def test_one_key_may_be_absent_and_a_list_may_not(name: str, absent: str):
    assert becomes(name, NotFound("a")) == absent
    assert becomes(name, Unavailable("a")) == "pix_keys_unavailable"


def test_a_key_that_is_asked_about_is_in_no_path():
    """Paths are logged; a key may be somebody's tax number."""
    assert "key}" not in ROWS["backoffice.pix_key_owner"].path


@pytest.mark.parametrize(
    ("stored", "shown"),
    [
        ("52998224725", "***.982.247-**"),
        ("***.982.247-**", "***.982.247-**"),
        ("11222333000181", "11222333000181"),
    ],
)
def test_the_ends_of_a_persons_number_are_hidden_whatever_the_bank_tells(stored: str, shown: str):
    owner = KeyOwner(
        key="a@b.c", type=PixKeyType.EMAIL, name="Maria", tax_number=stored, ispb="99999999"
    )

    assert key_owner(owner, OFFICE).tax_number == shown

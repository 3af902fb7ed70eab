"""The routes of PIX keys."""

from __future__ import annotations

import pytest

from gateway.banks.port.pix_keys import KeyOwner, PixKeyType
from gateway.pix_keys.routes import key_owner
from tests.unit.gateway.http.surface import OFFICE, ROUTES


def test_a_key_that_is_asked_about_is_in_no_path():
    """Paths are logged; a key may be somebody's tax number."""
    assert "key}" not in ROUTES["backoffice.pix_key_owner"].path


@pytest.mark.parametrize(
    ("stored", "shown"),
    [
        ("52998224725", "***.982.247-**"),
        ("***.982.247-**", "***.982.247-**"),
        ("11222333000181", "11222333000181"),
    ],
)
def test_the_ends_of_a_persons_number_are_always_hidden(stored: str, shown: str):
    owner = KeyOwner(
        key="a@b.c", type=PixKeyType.EMAIL, name="Maria", tax_number=stored, ispb="99999999"
    )

    assert key_owner(owner, OFFICE).tax_number == shown

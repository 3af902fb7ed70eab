"""The routes of PIX keys."""

from __future__ import annotations

import pytest

from gateway.banks.port.pix_keys import KeyOwner, PixKeyType
from gateway.pix_keys.routes import key_owner
from tests.unit.gateway.http.surface import OFFICE, ROUTES


def test_no_route_path_contains_a_pix_key():
    """Paths are logged, and a key may be a person's tax number."""
    assert "key}" not in ROUTES["backoffice.pix_key_owner"].path


@pytest.mark.parametrize(
    ("stored", "shown"),
    [
        ("52998224725", "***.982.247-**"),
        ("***.982.247-**", "***.982.247-**"),
        ("11222333000181", "11222333000181"),
    ],
)
def test_a_masked_cpf_hides_its_first_and_last_digits(stored: str, shown: str):
    owner = KeyOwner(
        key="a@b.c", type=PixKeyType.EMAIL, name="Maria", tax_number=stored, ispb="99999999"
    )

    assert key_owner(owner, OFFICE).tax_number == shown

"""Personal data is searched for without putting it into an address, which is logged and stored."""

from __future__ import annotations

import pytest

from gateway.search.pages import _names_somebody


@pytest.mark.parametrize(
    "text",
    [
        *("52998224725", "529.982.247-25", "11222333000181", "11.222.333/0001-81"),
        *("maria@example.com", "+5511987654321", "gws_a1b2c3"),
        *("(11) 98888-7777", "(11) 3888-7777", "11 98888-7777"),
    ],
)
def test_personal_data_is_kept_out_of_the_search_address(text: str):
    assert _names_somebody(f" {text} ")


@pytest.mark.parametrize(
    "text",
    [
        *("order-1042", "cli_abcdefghijklmnopqrst", "E0000000020261120134011abcdefghi"),
        *("0b7d7e4a-9e0e-4a3c-8f5e-3c1f0a9b2c01", "trf_1"),
    ],
)
def test_other_text_may_be_in_the_search_address(text: str):
    assert not _names_somebody(text)

"""What is hidden in a bank's own words."""

import pytest

from gateway.callbacks.model import redacted


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        ('{"cpf": "529.982.247-25"}', '{"cpf": "•••"}'),
        ('{"cpf":52998224725}', '{"cpf":•••}'),
        ("+5511987654321, 5511987654321", "•••, •••"),
        ('{"chave": "maria.silva+pix@mail.example.com"}', '{"chave": "•••"}'),
        ("mailto:maria@example.com", "mailto:•••"),
        ("a@maria@example.com", "a@•••"),
        ("52998224725maria@example.com", "•••"),
        ("maria-52998224725@example.com", "•••"),
        ("x" * 100 + "@example.com", "•••"),
        ("maria@localhost, 12345", "maria@localhost, 12345"),
        ("E00000000202511251200abcdefghijk", "E00000000202511251200abcdefghijk"),
    ],
)
def test_personal_data_is_hidden(body: str, shown: str):
    assert redacted(body) == shown


@pytest.mark.parametrize("piece", ["a", "a@", "a.", "1.", "a@a.", "@"])
def test_a_long_text_without_an_address_takes_no_time(piece: str):
    """A backtracking pattern would take minutes, more than the limit of a test."""
    assert redacted(piece * 100_000)

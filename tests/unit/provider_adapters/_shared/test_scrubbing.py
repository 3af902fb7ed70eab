"""What an operator may see of a bank's documents."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provider_adapters._shared.scrubbing import HIDDEN, scrubbed_body, scrubbed_headers

CANARIES = ("tok_canary", "52998224725", "maria@example.com", "Maria Silva", "order-1042")


def test_only_what_was_named_is_shown():
    document = {
        "situacao": "ATIVA",
        "valor_centavos": 1050,
        "token": CANARIES[0],
        "documento": int(CANARIES[1]),
        "chave": CANARIES[2],
        "novo": {"nome": CANARIES[3], "lista": [CANARIES[4], None, True, 1]},
    }

    shown = scrubbed_body(json.dumps(document).encode(), {"situacao", "valor_centavos"})

    assert shown == {
        "situacao": "ATIVA",
        "valor_centavos": 1050,
        "token": HIDDEN,
        "documento": HIDDEN,
        "chave": HIDDEN,
        "novo": {"nome": HIDDEN, "lista": [HIDDEN, None, True, HIDDEN]},
    }


def test_a_harmless_name_does_not_make_what_is_below_it_harmless():
    shown = scrubbed_body(b'{"tipo": {"nome": "Maria Silva"}}', {"tipo"})

    assert shown == {"tipo": {"nome": HIDDEN}}


@pytest.mark.parametrize("body", [b"<p>Maria Silva</p>", b'{"nome": "Maria', b"\xff\xfe", b"["])
def test_what_is_no_json_is_told_by_its_length(body: bytes):
    assert scrubbed_body(body, {"nome"}) == f"{len(body)} bytes, not JSON"


def test_nothing_is_nothing():
    assert scrubbed_body(b"", set()) is None


def test_depth_is_bounded():
    shown = json.dumps(scrubbed_body(b'{"a":' * 40 + b"1" + b"}" * 40, set()))

    assert shown.count("a") == 12


@given(
    st.recursive(
        st.sampled_from(CANARIES),
        lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["a", "b"]), inner),
    )
)
def test_no_canary_survives_where_nothing_was_named(document: object):
    shown = json.dumps(scrubbed_body(json.dumps(document).encode(), set()))

    assert not any(canary in shown for canary in CANARIES)


def test_header_values_go_unless_known():
    shown = scrubbed_headers(
        {"authorization": "Bearer tok_canary", "Set-Cookie": "a=b", "X-New": "x",
         "Retry-After": "1", "Idempotency-Key": "k"}
    )  # fmt: skip

    assert shown == {
        "authorization": HIDDEN,
        "Set-Cookie": HIDDEN,
        "X-New": HIDDEN,
        "Retry-After": "1",
        "Idempotency-Key": "k",
    }

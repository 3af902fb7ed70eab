"""Planted canaries: what must never be read in a log."""

import base64
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum

from hypothesis import example, given
from hypothesis import strategies as some

from gateway.telemetry.logs.redaction import ALLOWED, MASK, mask_quoted, mask_text, redact

PAIR = "cli_abcdefghij234567abcd:gws_Zm9vYmFyYmF6"
JWT = "eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl"
PEM = "-----BEGIN PRIVATE KEY-----\nMIIcanary\n-----END PRIVATE KEY-----"
SECRETS = {
    "basic": ("Basic " + base64.b64encode(PAIR.encode()).decode(), "Y2xpX2Fi"),
    "basic in lower case": ("authorization: basic Y2FuYXJ5OmNhbmFyeQ==", "Y2Fu"),
    "bearer": ("got Bearer canary.canary-1", "canary"),
    "secret": ("gws_canary-_123", "canary"),
    "pair in base64": (f"x={base64.b64encode(PAIR.encode()).decode()};", "Y2xp"),
    "pair in base64url": (base64.urlsafe_b64encode(b"a?>~canary:canary~~").decode(), "NhbmFy"),
    "tax number in base64": (base64.b64encode(b"cpf 529.982.247-25").decode(), "Y3BmIDUy"),
    "jwt": (f"token {JWT} end", "eyJ"),
    "cookie": ("Cookie: session=canary; other=canary", "canary"),
    "header": ("Authorization: canary", "canary"),
    "private key": (PEM, "MIIcanary"),
    "private key without end": (PEM[:40], "MIIcan"),
    "dsn": ("postgresql+asyncpg://gateway:canary@db:5432/x", "canary"),
    "dsn with an odd password": ("redis://:can/a@ry@cache/0", "can/a"),
    "user alone": ("https://canary@example.com/", "canary"),
    "password": ("password=canary", "canary"),
    "password in json": ('{"client_secret": "canary canary"}', "canary"),
    "password in portuguese": ("senha: canary", "canary"),
    "query": ("/x?api_key=canary&y=1", "canary"),
    "random token": ("value 9fXk2LmQ8pRt5vWz1yBc4dEg7hJk0nMp3sUw6xZa", "9fXk2"),
    "brcode": ("00020126580014br.gov.bcb.pix0136canary5204000053039865802BR", "canary"),
    "e-mail": ("chave canary@example.com nao existe", "canary@"),
    "e-mail in a url": ("/keys/canary%40example.com", "canary%40"),
    "short e-mail": ("ab@example.com", "ab"),
    "cpf": ("cpf 529.982.247-25", "529"),
    "cpf bare": ("cpf=52998224725.", "52998224725"),
    "cpf wrong": ("52998224724", "52998224724"),
    "cpf with spaces": ("529 982 247 25", "529"),
    "cpf with other digits": ("٥٢٩٩٨٢٢٤٧٢٥", "٥٢٩"),
    "cnpj": ("12.345.678/0001-95", "0001"),
    "cnpj bare": ("12345678000195", "0001"),
    "cnpj in a url": ("12.345.678%2F0001-95", "0001"),
    "new cnpj": ("12.ABC.345/01DE-35", "01DE"),
    "new cnpj bare": ("12ABC34501DE35", "01DE"),
    "new cnpj in small letters": ("12abc34501de35", "01de"),
    "new cnpj in small letters, written": ("12.abc.345/01de-35", "01de"),
    "new cnpj in a path": ("/12.ABC.345%2F01DE-35/", "01DE"),
    "new cnpj half punctuated": ("12ABC345/01DE-35", "01DE"),
    "phone": ("+5511987654321", "98765"),
    "phone in a url": ("%2B5511987654321", "98765"),
    "phone written out": ("+55 (11) 98765-4321", "98765"),
    "phone without country": ("(11) 98765-4321", "98765"),
    "phone without plus": ("5511987654321", "98765"),
}


def test_a_secret_in_a_text_is_hidden():
    for text, canary in SECRETS.values():
        assert canary in text

        masked = [mask_text(around.format(text)) for around in ("{}", "a {} b", "x\n{}\ny", "({})")]

        assert [each for each in masked if canary in each] == []


def test_a_masked_value_stays_recognizable():
    cases = [
        ("529.982.247-25", "***.982.247-**"),
        ("52998224725", "***.982.247-**"),
        ("12345678000195", "**.345.678/****-**"),
        ("maria@example.com", "ma***"),
        ("postgresql://gw:canary@db/x", "postgresql://gw:***@db/x"),
    ]

    wrong = [(text, masked) for text, masked in cases if mask_text(text) != masked]

    assert wrong == []


def test_fields_useful_for_debugging_are_kept():
    """A random Pix key is a UUID and looks like any id, so it is kept."""
    cases = [
        str(uuid.UUID(int=2**127 + 12345678901)),
        "98765432-1098-4765-8321-012345678901",
        "E12345678202611201015abcdefghijk",
        "configuration digest e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "2026-11-20T10:00:00.123456+00:00",
        "listening on 127.0.0.1:8080",
        "/baas/v1/account/{account_id}/balance",
        "SVC.AUT.010 not_visible provider_adapters.sandbox",
        "1763632800000 ms",
        "ABCDEFGHIJKL99",
    ]

    wrong = [text for text in cases if mask_text(text) != text]

    assert wrong == []


@given(some.uuids())
@example(uuid.UUID("836b5f21-fe02-c286-0237-e089a032d6ed"))
@example(uuid.UUID("6952685c-bc60-e106-71f5-1f68644c6fd4"))
def test_uuids_are_not_masked(value: uuid.UUID):
    """Faults are found by account and trace ids."""
    text = f"account {value} read at /baas/v1/account/{value}/balance"

    assert mask_text(text) == text


@given(some.text(max_size=300))
def test_any_text_can_be_masked(text: str):
    masked = mask_quoted(text)

    assert not set(masked) & {chr(code) for code in range(0x7F, 0xA0)}
    masked.encode()


def test_control_characters_allowed_by_json_are_escaped():
    """Terminals interpret 0x9b as an escape sequence; 0x202e reverses a line."""
    wrong = [
        character
        for character in ["\x7f", "\x9b", "\u2028", "\u202e", "\u2066", "\udc80"]
        if not mask_text(f"a{character}b").isascii()
    ]

    assert wrong == []


def test_values_quoted_by_libraries_are_hidden():
    cases = [
        "bad value 'canary'",
        'bad value "canary"',
        "can't read 'canary'",
        "it's b'canary\\'canary' again",
        "cut off: 'canary and so on",
        "repr of 'can't canary'",
        "{'x': ['canary', \"canary\"]}",
    ]

    wrong = [text for text in cases if "canary" in mask_quoted(text)]

    assert wrong == []


def test_truncating_a_text_leaves_no_part_of_a_secret():
    for length in [8191, 8192, 8193, 8200, 8210]:
        text = "x " * 4085 + "canary@example.com" * 10

        assert "canary" not in mask_text(text.ljust(length, "y"))


def test_masking_a_hostile_text_is_fast():
    hostile = [
        "a" * 8192,
        "00020" * 1638,
        "://a:" * 1638,
        "secret" * 1365,
        "a.a@" * 2048,
        "1." * 4096,
    ]

    for text in hostile:
        mask_quoted(text)


class Colour(Enum):
    RED = "red"


@dataclass
class Opaque:
    secret: str = "canary"


def test_a_field_not_allowed_is_hidden():
    cases = ["body", "headers", "password", "note", "reference", "query"]

    wrong = [name for name in cases if redact({name: "canary"}) != {name: MASK}]

    assert wrong == []


def test_a_canary_in_a_field_is_hidden():
    cases = [
        {"headers": {"Authorization": "canary"}},
        {"provider": {"body": "canary", "nested": [{"deep": "canary"}]}},
        {"status": "Basic Y2FuYXJ5OmNhbmFyeQ=="},
        {"state": ["gws_canary"]},
        {"state": ("gws_canary", {"gws_canary"})},
        {"state": b"canary"},
        {"state": Opaque()},
        {"state": ValueError("canary")},
        {"gws_canary": 1},
        {
            "state": {
                "state": {"state": {"state": {"state": {"state": {"state": {"state": "canary"}}}}}}
            }
        },
    ]

    for value in cases:
        cleaned = str(redact(value))

        assert "canary" not in cleaned
        assert "Y2Fu" not in cleaned


def test_a_tax_number_that_is_a_number_is_hidden():
    assert redact({"count": 52998224725}) == {"count": "***.982.247-**"}


def test_allowed_values_are_shown():
    now = datetime(2026, 11, 20, tzinfo=UTC)
    fields = {"ts": now, "port": 8080, "seconds": 0.5, "checks": {"store": True}, "state": None}

    assert redact(fields) == fields


def test_a_known_kind_is_shown_by_its_value():
    account = uuid.UUID(int=7)

    assert redact({"state": Colour.RED, "account_id": account}) == {
        "state": "red",
        "account_id": str(account),
    }


def test_redaction_does_not_change_the_given_fields():
    fields = {"body": {"x": "canary"}}

    redact(fields)

    assert fields == {"body": {"x": "canary"}}


def test_sensitive_field_names_are_not_on_the_allow_list():
    never = {"body", "headers", "query", "authorization", "cookie", "password", "tax_number", "key"}

    assert ALLOWED.isdisjoint(never)

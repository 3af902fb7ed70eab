"""The body is one well-formed JSON object, or it is refused; nothing in between."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.core import errors
from policies.validation.fields import Number, document
from tests.unit.refusals import refusal_of, refused
from tests.world.people import posted


@pytest.mark.parametrize(
    "media_type",
    [
        "application/json",
        "Application/JSON",
        "application/json; charset=utf-8",
        'application/json;charset="UTF-8"',
        "application/json ; charset=Utf-8",
        "application/json; version=1",
        "application/json;",
        "application/json; boundary=x; charset=utf-8",
    ],
)
def test_json_in_utf_8_is_read(media_type: str):
    assert document(posted({"a": "é"}, content_type=media_type)) == {"a": "é"}


@pytest.mark.parametrize(
    "media_type",
    [
        None,
        "",
        "json",
        "text/json",
        "text/plain",
        "application/x-www-form-urlencoded",
        "application/jsonx",
        "application/json-patch+json",
        "application/problem+json",
        "application/*",
        "application/json, text/plain",
        "application/json; charset=latin-1",
        "application/json; charset=utf8",
        "application/json; charset=utf-16",
        "application/json; charset=",
        "application/json; charset=utf-8; charset=latin-1",
        "application/json; CHARSET = 'utf-8'",
        "application/json\n",
        "application/json; x=é",
    ],
)
def test_another_media_type_is_refused(media_type: str | None):
    """A missing one too."""
    with refused(errors.PAYLOAD_INVALID) as refusal:
        document(posted({}, content_type=media_type))
    assert refusal.value.reason == "media_type"


@pytest.mark.parametrize("coding", ["gzip", "br", "identity", "deflate, gzip", ""])
def test_a_content_encoding_is_refused(coding: str):
    """A compressed body may be a decompression bomb."""
    with refused(errors.PAYLOAD_INVALID) as refusal:
        document(posted({}, content_encoding=coding))
    assert refusal.value.reason == "content_coding"


@pytest.mark.parametrize(
    "body",
    [
        "",
        " ",
        "{",
        "}",
        "{}{}",
        "{} x",
        "{'a': 1}",
        '{"a": 1,}',
        '{"a": 01}',
        '{"a": +1}',
        '{"a": .5}',
        '{"a": 1.}',
        '{"a": 0x1}',
        '{"a": "\n"}',
        '{"a": "\\x"}',
        '{"a": undefined}',
        "{/* */}",
        # not an object
        "[]",
        '["method"]',
        '"text"',
        "1",
        "null",
        "true",
        # numbers that are none
        '{"a": NaN}',
        '{"a": Infinity}',
        '{"a": -Infinity}',
        '{"a": {"b": [NaN]}}',
        # twice the same key
        '{"a": 1, "a": 1}',
        '{"a": 1, "\\u0061": 2}',
        '{"a": {"b": 1, "b": 2}}',
        '{"a": [{"b": 1, "b": 2}]}',
        # lone surrogates
        '{"a": "\\ud800"}',
        '{"a": "\\udc00\\ud800"}',
        '{"\\ud800": 1}',
        '{"a": {"b": ["\\udfff"]}}',
        '{"a": "\ud800"}',
        # other encodings
        "\ufeff{}",
        b"\xff\xfe{\x00}\x00",
        '{"a": 1}'.encode("utf-16"),
        b'{"a": "\xff"}',
        b'{"a": "\xc0\xaf"}',
        b"\x00",
        # deep
        "[" * 60_000,
        '{"a":' * 10_000 + "1" + "}" * 10_000,
        '{"a": ' + "[" * 30_000 + "]" * 30_000 + "}",
        '{"b": "\\u00e9", "a": ' + "[" * 900 + "]" * 30_000 + "}",
    ],
    ids=lambda body: ascii(body[:30]),
)
def test_a_body_other_than_one_json_object_is_refused(body: str | bytes):
    with refused(errors.PAYLOAD_INVALID):
        document(posted(body))


@pytest.mark.parametrize(
    "text",
    ["10.50", "-0.00", "0", "1e400", "1E+1", "9" * 5000, "0.10000000000000000555", "1e999999999"],
    ids=lambda text: text[:12],
)
def test_a_number_keeps_its_text(text: str):
    """Without a float; its meaning is checked by the reader of the field."""
    assert document(posted(f'{{"a": {text}}}')) == {"a": Number(text)}


def test_a_surrogate_pair_is_one_character():
    assert document(posted('{"a": "\\ud83d\\ude00"}')) == {"a": "😀"}


def test_true_false_and_null_are_read():
    assert document(posted('{"a": true, "b": false, "c": null}')) == {
        "a": True,
        "b": False,
        "c": None,
    }


TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
VALUES = st.recursive(
    st.none() | st.booleans() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=12,
)


@given(st.dictionaries(TEXTS, VALUES, max_size=5), st.booleans())
def test_a_json_object_round_trips(value: dict[str, object], escaped: bool):
    body = json.dumps(value, ensure_ascii=escaped).encode()

    assert document(posted(body)) == value


@given(st.one_of(st.binary(max_size=60), st.text('{}[]":,01eE.-\\u d8NaN', max_size=60)))
def test_any_bytes_are_read_as_an_object_or_refused(body: bytes | str):
    """Any other exception would be a 500."""
    refusal = refusal_of(lambda: document(posted(body)))

    assert refusal in {None, errors.PAYLOAD_INVALID}
    assert refusal or isinstance(document(posted(body)), dict)

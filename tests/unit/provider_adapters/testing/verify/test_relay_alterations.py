"""Changes of single fields of an answer, in every form that banks write them."""

import json

from provider_adapters.testing.verify import relay
from tests.world.tables import cases


@cases(
    ("amount", "other"),
    [
        (b"1050", b"1051"),
        (b"10.5", b"10.0"),
        (b'"10.50"', b'"10.51"'),
        (b'"1050"', b'"1051"'),
        (b"null", b"null"),
        (b"true", b"true"),
    ],
)
def test_another_amount_has_the_same_form(amount: bytes, other: bytes):
    alter = relay.alter_field("value", relay.another)

    changed = alter(b'{"payment": [{"value": %s, "fee": 1}], "value": %s}' % (amount, amount))

    assert changed == b'{"payment":[{"value":%s,"fee":1}],"value":%s}' % (other, other)


@cases("key", ["0" * 32, "f" * 32, "5f1c3a52-7f0e-4c2b-9d3f-000000000001"])
def test_another_key_has_the_same_form(key: str):
    other = relay.another(key)

    assert isinstance(other, str)
    assert (len(other), other != key) == (len(key), True)
    assert relay.another(None) is None


@cases("body", [b"", b"<html>", b'{"value": '])
def test_what_is_no_document_stays_as_it_is(body: bytes):
    assert relay.alter_field("value", "x")(body) == body


def test_a_field_is_changed_wherever_it_stands():
    alter = relay.alter_field("state", "NEW")

    changed = json.loads(alter(b'{"a": [{"state": null}, {"b": {"state": 1}}], "c": "state"}'))

    assert changed == {"a": [{"state": "NEW"}, {"b": {"state": "NEW"}}], "c": "state"}


def test_every_value_is_changed_but_what_holds_others():
    alter = relay.alter_leaves(lambda value: None if value == [] else 7, {"new": 0})

    changed = json.loads(alter(b'{"a": [{"b": 1.50}], "c": [], "d": {}}'))

    assert changed == {"a": [{"b": 7, "new": 0}], "c": None, "d": 7, "new": 0}

"""Forms are read as browsers send them, and nothing else is."""

import pytest

from gateway.core.calls import RawRequest
from gateway.core.errors import ServiceError
from policies.validation.forms import read_form


def read(body: bytes):
    return read_form(RawRequest(path={}, body=body))


def test_a_form_field_is_stripped_and_an_absent_one_is_empty():
    form = read(b"name=+Ana+%C3%89&empty=")

    assert (form["name"], form["empty"], form["none"]) == ("Ana É", "", "")


def test_a_password_is_read_as_typed():
    assert read(b"password=+a+").exactly("password") == " a "


def test_every_value_of_a_form_field_is_kept_in_order():
    assert read(b"role=a&role=b").all("role") == ("a", "b")


def test_secret_form_fields_can_be_omitted():
    form = read(b"password=x&name=y").without("password")

    assert (form["password"], form["name"]) == ("", "y")


@pytest.mark.parametrize(
    "body",
    [b"\xff", b"a=%FF", "ação=1".encode(), b"&".join(b"a=1" for _ in range(201))],
    ids=["bytes", "encoded bytes", "raw UTF-8", "too many fields"],
)
def test_a_malformed_form_is_refused(body):
    with pytest.raises(ServiceError) as refusal:
        read(body)

    assert refusal.value.error.code == "SVC.VAL.011"

"""Forms are read as browsers send them, and nothing else is."""

import pytest

from gateway.core.calls import RawRequest
from gateway.core.errors import ServiceError
from policies.validation.forms import read_file_form, read_form


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


BOUNDARY = "----WebKitFormBoundaryQ1"
MULTIPART = f"multipart/form-data; boundary={BOUNDARY}"
FIELD = 'Content-Disposition: form-data; name="{}"'
FILE = 'Content-Disposition: form-data; name="file"; filename="{}"\r\nContent-Type: text/csv'


def parts(*heads_and_contents: tuple[str, bytes]) -> bytes:
    lines = [
        f"--{BOUNDARY}\r\n{head}\r\n\r\n".encode() + content + b"\r\n"
        for head, content in heads_and_contents
    ]
    return b"".join([*lines, f"--{BOUNDARY}--\r\n".encode()])


def read_file(body: bytes, media: str = MULTIPART):
    return read_file_form(RawRequest(path={}, body=body, content_type=media))


def test_a_file_is_read_byte_by_byte_beside_the_fields_of_its_form():
    content = b"\xef\xbb\xbfa;1,00\r\n\r\n--" + BOUNDARY.encode()[:-1] + b"\r\n\xe9"

    form = read_file(
        parts((FIELD.format("name"), " Ana É ".encode()), (FILE.format("a.csv"), content))
    )

    assert form["name"] == "Ana É"
    assert (form.files["file"].name, form.files["file"].content) == ("a.csv", content)
    assert form["file"] == ""


@pytest.mark.parametrize(
    ("body", "media"),
    [
        (b"name=a", MULTIPART),
        (parts((FIELD.format("name"), b"a"))[:-6], MULTIPART),
        (b"before\r\n" + parts((FIELD.format("name"), b"a")), MULTIPART),
        (parts((FIELD.format("name"), b"\xff")), MULTIPART),
        (parts(("Content-Type: text/csv", b"a")), MULTIPART),
        (parts(*[(FIELD.format("a"), b"1")] * 201), MULTIPART),
        (parts((FIELD.format("name"), b"a")), "multipart/form-data"),
        (parts((FIELD.format("name"), b"a")), "multipart/mixed; boundary=" + BOUNDARY),
    ],
    ids=["fields", "cut", "preamble", "bytes", "nameless", "too many", "no boundary", "mixed"],
)
def test_a_malformed_form_with_a_file_is_refused(body: bytes, media: str):
    with pytest.raises(ServiceError) as refusal:
        read_file(body, media)

    assert refusal.value.error.code == "SVC.VAL.011"

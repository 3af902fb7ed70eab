"""Strict readers: a text is refused, or means exactly what it says."""

import base64
import re
import uuid
from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gateway.core import strict
from gateway.core.money import MAX_CENTAVOS, Money

ARABIC = "\u0661"
FULL_WIDTH = "\uff11"
UUID = "0b7d7e4a-9e0e-4a3c-8f5e-3c1f0a9b2c01"
# What the contract's forms are made of, and what Python's own readers take besides.
ALPHABET = "0123456789-+._:/ eExX{}abcdefABCDEF\n\t\0" + ARABIC + FULL_WIDTH + "\u2212"
NEAR = st.text(ALPHABET, max_size=40)


def refuses(read: Callable[[str], object], text: str) -> bool:
    """Say whether a reader refuses, and refuses as it should."""
    try:
        read(text)
    except ValueError:
        return True
    return False


READERS = [
    strict.uuid_text,
    strict.day,
    strict.whole_number,
    strict.amount,
    strict.tax_number,
    strict.trace_id,
    strict.basic_pair,
    strict.scheme,
]
FORMS: dict[Callable[[str], object], str] = {
    strict.uuid_text: UUID,
    strict.day: "2026-11-20",
    strict.whole_number: "15",
    strict.amount: "10.50",
    strict.tax_number: "52998224725",
    strict.trace_id: "abc",
    strict.basic_pair: "YTpi",
}


@pytest.mark.parametrize("read", READERS, ids=lambda read: read.__name__)
@given(text=st.one_of(st.text(), NEAR))
def test_any_text_is_read_or_refused_with_a_value_error(read: Callable[[str], object], text: str):
    """Any other exception would be a 500."""
    refuses(read, text)


def test_characters_around_a_value_are_refused():
    for read, text in FORMS.items():
        for added in ["\n", "\r\n", "\t", "\0", ARABIC, FULL_WIDTH, "\u00a0"]:
            assert not refuses(read, text)
            assert refuses(read, text + added)
            assert refuses(read, added + text)


def test_a_uuid_of_any_letter_case_becomes_lower_case():
    cases = [UUID, UUID.upper(), "00000000-0000-0000-0000-000000000000", "F" * 8 + UUID[8:]]

    wrong = [text for text in cases if strict.uuid_text(text) != text.lower()]

    assert wrong == []


def test_an_invalid_hyphenated_uuid_is_refused():
    """Python accepts most of these."""
    cases = [
        "",
        UUID[:-1],
        UUID + "0",
        UUID.replace("-", ""),
        f"{{{UUID}}}",
        f"urn:uuid:{UUID}",
        f" {UUID}",
        UUID.replace("0", ARABIC, 1),
        UUID.replace("0", FULL_WIDTH, 1),
        UUID.replace("-", "_"),
        UUID.replace("-", "\u2010"),
        "0x" + UUID[2:],
        UUID.replace("b", "g", 1),
    ]

    wrong = [text for text in cases if not refuses(strict.uuid_text, text)]

    assert wrong == []


@given(st.one_of(st.uuids().map(str), NEAR))
def test_a_parsed_uuid_equals_python_s(text: str):
    if not refuses(strict.uuid_text, text):
        assert strict.uuid_text(text) == str(uuid.UUID(text))


@given(st.dates())
def test_every_date_survives_writing_and_parsing(day: date):
    assert strict.day(day.isoformat()) == day


def test_a_date_has_one_form_and_must_exist():
    cases = [
        "",
        "20260922",
        "2026-W39-2",
        "2026-9-2",
        "2026-265",
        "2026-09-22T00:00:00Z",
        "22-09-2026",
        "2026/09/22",
        "2026-02-29",
        "2026-13-01",
        "2026-00-10",
        "2026-04-31",
        "0000-01-01",
        "-026-01-01",
        "+2026-01-01",
        "2026-0" + ARABIC + "-01",
        "2026-0" + FULL_WIDTH + "-01",
        "2026-09-2\u0662",
        " 2026-09-22",
        "2026-09-22\n",
    ]

    wrong = [text for text in cases if not refuses(strict.day, text)]

    assert wrong == []


@given(st.one_of(st.from_regex(r"\A[0-9]{4}-[0-9]{2}-[0-9]{2}\Z"), NEAR))
def test_a_parsed_date_is_written_the_same(text: str):
    if not refuses(strict.day, text):
        assert strict.day(text).isoformat() == text


@given(st.one_of(st.integers(0, 10**19).map(str), NEAR))
def test_a_whole_number_has_one_to_eighteen_ascii_digits(text: str):
    expected = re.fullmatch(r"[0-9]{1,18}", text)

    assert refuses(strict.whole_number, text) == (expected is None)
    if expected:
        assert strict.whole_number(text) == int(text)


def test_other_spellings_accepted_by_int_are_refused():
    cases = [
        "",
        "+5",
        "-5",
        " 5",
        "5 ",
        "1_000",
        "5\n",
        "5.0",
        "0x5",
        ARABIC,
        FULL_WIDTH,
        "9" * 5000,
    ]

    wrong = [text for text in cases if not refuses(strict.whole_number, text)]

    assert wrong == []


@given(st.integers(-MAX_CENTAVOS, MAX_CENTAVOS))
def test_every_amount_survives_writing_and_parsing(centavos: int):
    assert strict.amount(str(Money(centavos))) == Money(centavos)


def test_an_amount_has_at_most_two_decimals():
    """Some clients cannot write ``10.50``."""
    cases = [
        ("0", 0),
        ("-0", 0),
        ("-0.00", 0),
        ("0.0", 0),
        ("10", 1000),
        ("10.5", 1050),
        ("10.50", 1050),
        ("1.15", 115),
        ("-19.99", -1999),
        ("9999999999999.99", MAX_CENTAVOS),
        ("-9999999999999.99", -MAX_CENTAVOS),
    ]

    wrong = [(text, centavos) for text, centavos in cases if strict.amount(text) != Money(centavos)]

    assert wrong == []


def test_an_inexact_amount_is_refused():
    cases = [
        "",
        "-",
        ".5",
        "5.",
        "+1",
        "00",
        "01.00",
        "1.005",
        "0.10000000000000000555",
        "1e1",
        "1E+1",
        "1e400",
        "1e999999999",
        "NaN",
        "Infinity",
        "-Infinity",
        "1_000",
        "1,50",
        " 1",
        "10000000000000",
        "10000000000000.00",
        "9007199254740993.01",
        "9" * 5000,
        ARABIC,
        "1." + ARABIC,
        "true",
    ]

    wrong = [text for text in cases if not refuses(strict.amount, text)]

    assert wrong == []


@given(st.one_of(st.from_regex(r"\A-?[0-9]{1,15}(\.[0-9]{0,4})?\Z"), NEAR))
def test_a_parsed_amount_equals_the_written_number(text: str):
    if not refuses(strict.amount, text):
        assert Decimal(strict.amount(text).centavos) == Decimal(text) * 100


@given(st.text(max_size=50))
def test_a_plain_text_is_returned_unchanged_or_refused(text: str):
    """Never trimmed, never normalised."""
    bad = re.search(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]", text)

    assert refuses(strict.plain_text, text) == (bad is not None)
    if bad is None:
        assert strict.plain_text(text) == text


def test_a_text_has_at_most_1024_code_points():
    """Contract part 8; characters, not bytes."""
    wrong = [
        (length, character)
        for length in [1024, 1025]
        for character in ["a", "é", "🜁"]
        if refuses(strict.plain_text, character * length) != (length > 1024)
    ]

    assert wrong == []


def test_a_reference_is_not_a_dot_segment_or_unstorable_text():
    wrong = [
        text
        for text in ["", ".", "..", "a\0", "a\n", "\x85", "\ud800", "a" * 1025]
        if not refuses(strict.reference, text)
    ]

    assert wrong == []


def test_any_other_reference_is_unchanged():
    cases = ["...", " ", "a/b", "a?x=1", "%2e%2e", "Ação", "e\u0301", "🜁" * 1024]

    wrong = [text for text in cases if strict.reference(text) != text]

    assert wrong == []


def test_the_authorization_scheme_is_read_in_any_letter_case():
    cases = [
        ("Basic YTpi", ("basic", "YTpi")),
        ("BASIC YTpi", ("basic", "YTpi")),
        ("basic   YTpi", ("basic", "YTpi")),
        ("Basic", ("basic", "")),
        ("Basic ", ("basic", "")),
        ("Bearer a b c", ("bearer", "a b c")),
        ("xBasic YTpi", ("xbasic", "YTpi")),
    ]

    wrong = [(header, expected) for header, expected in cases if strict.scheme(header) != expected]

    assert wrong == []


def test_a_header_without_a_scheme_is_no_authorization():
    cases = ["", " ", " Basic YTpi", "Basic\tYTpi", "Básic YTpi", "Ba(sic YTpi", "BasicYTpi="]

    wrong = [header for header in cases if not refuses(strict.scheme, header)]

    assert wrong == []


PART = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=30)


def token(pair: bytes) -> str:
    return base64.b64encode(pair).decode()


@given(PART.filter(lambda text: ":" not in text), PART)
@example("cli", "a:b:c")
@example("cli", " sp ace ")
@example("", "")
def test_a_pair_is_split_at_its_first_colon(client_id: str, secret: str):
    assert strict.basic_pair(token(f"{client_id}:{secret}".encode())) == (client_id, secret)


def test_credentials_not_in_base64_of_utf_8_are_refused():
    """``base64.b64decode`` ignores unknown characters by default."""
    cases = [
        "",
        "=",
        "YTpi=",
        "YTpi==",
        "YT pi",
        "YTpi ",
        "YTp",
        "YTp\u0131",
        "YTp-",
        "YTp_",
        "YT=pi",
        "Y",
        "YTpiYR==",
        token(b"no colon"),
        token(b"\xff\xfe:a"),
        token(b"\xed\xa0\x80:a"),
        token(b"\xc0\xaf:a"),
        token(b"a:b\0"),
        token(b"a\n:b"),
        token("a:b\u0085".encode()),
        token(b"a:\x7f"),
    ]

    wrong = [text for text in cases if not refuses(strict.basic_pair, text)]

    assert wrong == []


@given(st.binary(max_size=60))
def test_any_bytes_in_base64_are_a_pair_or_refused(content: bytes):
    if not refuses(strict.basic_pair, token(content)):
        assert ":".join(strict.basic_pair(token(content))).encode() == content


@given(st.one_of(st.from_regex(r"\A[A-Za-z0-9._:\-]{1,140}\Z"), st.text(max_size=5)))
def test_a_trace_id_has_1_to_128_unreserved_characters(text: str):
    expected = re.fullmatch(r"[A-Za-z0-9._:\-]{1,128}", text) is not None

    assert refuses(strict.trace_id, text) != expected


def test_a_trace_id_that_could_do_harm_is_refused():
    wrong = [
        text
        for text in ["", "<script>", "a b", "a\n", "é", "a" * 129, "a/b", "%0a"]
        if not refuses(strict.trace_id, text)
    ]

    assert wrong == []


def test_a_parsed_day_is_a_date_without_a_time():
    assert not isinstance(strict.day("2026-11-20"), datetime)


def test_foreign_text_is_cleaned_to_plain_text():
    cases = [
        (None, ""),
        ("", ""),
        ("Pão de queijo", "Pão de queijo"),
        (
            "Pão\u00a0de queijo \U0001f469\u200d\U0001f373",
            "Pão\u00a0de queijo \U0001f469\u200d\U0001f373",
        ),
        ("um\r\ndois\tdrei\x00", "um  dois drei "),
        ("\x9b31m\ud800", " 31m "),
        ("x" * 2000, "x" * 1024),
        ("\n" * 2000, " " * 1024),
    ]

    for text, cleaned in cases:
        assert strict.cleaned_text(text) == cleaned
        assert strict.plain_text(cleaned) == cleaned


def test_an_end_to_end_id_has_the_central_banks_form():
    """API Pix 2.9.0: the ISPB may hold capital letters."""
    cases = [
        ("E99999999202611221230abcDEF12345", True),
        ("D99999999202611221230abcDEF12345", True),
        ("EA1B2C3D4202611221230abcDEF12345", True),
        ("Ea1b2c3d4202611221230abcDEF12345", False),
        ("E9999999920261122123Aabc1DEF1234", False),
        ("e99999999202611221230abcDEF12345", False),
        ("E99999999202611221230abcDEF1234", False),
        ("E99999999202611221230abcDEF12345\n", False),
        ("E99999999202611221230abcDEF1234é", False),
        ("", False),
    ]

    wrong = [(text, is_one) for text, is_one in cases if strict.is_e2e_id(text) is not is_one]

    assert wrong == []


@pytest.mark.parametrize(
    "text", ["maria@example.com", " Maria@Example.COM ", "m+a.r@sub.example.com.br"]
)
def test_an_e_mail_address_is_lower_cased(text: str):
    assert strict.email(text) == text.strip().lower()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "maria",
        "@example.com",
        "maria@",
        "maria@example",
        "a@b@example.com",
        "maria@exa mple.com",
        "maria@-example.com",
        "mária@example.com",
        "maria@example.com\nx",
        f"{'a' * 65}@example.com",
        f"a@{'b.' * 126}com",
    ],
)
def test_an_invalid_address_is_refused(text: str):
    """Including two at-signs: an address is matched as a whole."""
    with pytest.raises(strict.Malformed):
        strict.email(text)

"""The BR Code against every published payload we hold."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provider_adapters.kit import brcode
from provider_adapters.kit.brcode import BrCode
from tests.world.tables import cases

VECTORS = json.loads(Path("tests/vectors/brcode.json").read_text(encoding="utf-8"))
VALID = VECTORS["valid"]
INVALID = VECTORS["published_but_invalid"]
MINE = BrCode(name="Loja", city="Sao Paulo", key="maria@example.com", amount="10.50", txid="ab1")


@cases("vector", VALID)
def test_a_published_payload_is_read(vector):
    """Every field, and the checksum."""
    payload, expect = vector["payload"], vector["expect"]

    code = brcode.decode(payload)

    assert brcode.checksum(payload[:-4]) == payload[-4:].upper() == expect["crc"]
    assert (code.key, code.url, code.info) == (expect["key"], expect["url"], expect["info"])
    assert (code.name, code.city) == (expect["merchant_name"], expect["merchant_city"])
    assert (code.amount, code.postal_code) == (expect["amount"], expect["postal_code"])
    assert (code.txid, code.point_of_initiation) == (
        expect["txid"],
        expect["point_of_initiation"],
    )


# Without fields the sandbox never writes: recurrence, an account with neither key nor URL.
OURS = [
    vector
    for vector in VALID
    if not vector["expect"]["has_recurrence_template"]
    and (vector["expect"]["key"] or vector["expect"]["url"])
]


@cases("vector", OURS)
def test_a_published_payload_is_reproduced(vector):
    """Field for field; the official examples letter for letter."""
    code = brcode.decode(vector["payload"])

    written = brcode.encode(code)

    assert brcode.decode(written) == code


@cases("crc", ["1D3D", "64E4"])
def test_the_central_bank_s_examples_are_reproduced_exactly(crc):
    """Manual of the BR Code: one static, one dynamic payload."""
    payload = next(one["payload"] for one in VALID if one["expect"]["crc"] == crc)

    assert brcode.encode(brcode.decode(payload)) == payload


@cases("vector", INVALID)
def test_a_published_invalid_payload_is_refused(vector):
    with pytest.raises(ValueError, match=r"checksum|field|PIX"):
        brcode.decode(vector["payload"])


def test_the_checksum_is_crc_16_ccitt_false():
    """By its published check value."""
    assert brcode.checksum("123456789") == "29B1"


def test_a_name_is_shortened_to_ascii():
    """25 characters of name, 15 of city, no accents."""
    code = BrCode(name="Associação São João da Conceição", city="Conceição do Mato Dentro", key="k")

    written = brcode.decode(brcode.encode(code))

    assert (written.name, written.city) == ("Associacao Sao Joao da Co", "Conceicao do Ma")


@cases(
    "payload",
    [
        "",
        "6304",
        "000201" + "6304" + brcode.checksum("0002016304"),
        "0x02016304" + brcode.checksum("0x02016304"),
        "00990126304" + brcode.checksum("00990126304"),
    ],
)
def test_an_altered_payload_is_refused(payload):
    with pytest.raises(ValueError, match=r"checksum|field|PIX"):
        brcode.decode(payload)


NAMES = st.text(st.characters(codec="ascii", min_codepoint=33, max_codepoint=126), min_size=1)


@given(
    name=NAMES,
    city=NAMES,
    cents=st.integers(1, 10**12),
    txid=st.from_regex(r"[A-Za-z0-9]{1,25}", fullmatch=True),
)
def test_an_encoded_payload_decodes_to_the_same_values(name, city, cents, txid):
    code = replace(
        MINE, name=name, city=city, amount=f"{cents // 100}.{cents % 100:02d}", txid=txid
    )

    read = brcode.decode(brcode.encode(code))

    assert read == replace(code, name=name[:25], city=city[:15])


@given(place=st.integers(0, 200), letter=st.sampled_from("0AZ*"))
def test_one_changed_character_is_detected(place, letter):
    payload = brcode.encode(MINE)
    place %= len(payload)
    changed = payload[:place] + letter + payload[place + 1 :]

    if changed == payload:
        return

    with pytest.raises(ValueError, match="checksum"):
        brcode.decode(changed)


def test_letters_without_a_decomposition_are_transliterated():
    assert brcode.plain("Straße Đorđe") == "Strasse Dorde"


def test_symbols_are_written_in_ascii():
    assert brcode.plain("Loja n° 5 – “Bem\u2011te\u2011vi”\u00a0漢") == 'Loja no 5 - "Bem-te-vi" '


def test_a_text_is_shortened_to_the_maximum_field_length():
    """A field has at most two digits of length; the text beside a long key is cut."""
    long = replace(MINE, key="a" * 60 + "@example.com", info="x" * 60)

    assert brcode.decode(brcode.encode(long)).info == "x"
    with pytest.raises(ValueError, match="field 01 is longer than 99"):
        brcode.encode(replace(MINE, key="a" * 100))


def test_a_payload_with_byte_lengths_and_a_lower_case_checksum_is_read():
    """Both variants occur in practice."""
    body = (
        "00020126330014br.gov.bcb.pix0111529982247255204000053039865802BR"
        "5905{}6006Recife62070503***6304"
    )
    names = {}
    for name in ("Pedro", "João"):
        text = body.format(name)
        names[name] = brcode.decode(text + brcode.checksum(text).lower()).name

    assert names == {"Pedro": "Pedro", "João": "João"}


def arranged(*templates: str) -> str:
    body = f"000201{''.join(templates)}5204000053039865802BR5904Loja6006Recife62070503***6304"
    return body + brcode.checksum(body)


def template(number: int, domain: str) -> str:
    content = f"00{len(domain):02d}{domain}011152998224725"
    return f"{number}{len(content):02d}{content}"


@cases("number", [26, 27, 51])
def test_pix_is_found_in_any_account_template(number):
    """Another arrangement may precede it, in its own format."""
    others = [f"2604abcd{template(30, 'com.example')}"] if number > 26 else []

    read = brcode.decode(arranged(*others, template(number, "BR.GOV.BCB.PIX")))

    assert read.key == "52998224725"


@cases("number", [25, 52])
def test_pix_is_found_in_no_other_field(number):
    with pytest.raises(ValueError, match="not a PIX payload"):
        brcode.decode(arranged(template(number, "br.gov.bcb.pix")))


@cases("around", [" {}", "{}\n", "\r\n{}\r\n", "\t{} "])
def test_whitespace_around_a_payload_is_ignored(around):
    payload = brcode.encode(MINE)

    assert brcode.decode(around.format(payload)) == brcode.decode(payload)


def test_a_placeholder_receiver_is_empty():
    code = brcode.receiver(brcode.encode(replace(MINE, name="", city="")))

    assert (code.name, code.city) == ("", "")


def test_an_invalid_payload_has_an_empty_receiver():
    assert brcode.receiver(brcode.encode(MINE)).name == "Loja"
    assert brcode.receiver("0002") == BrCode(name="", city="")

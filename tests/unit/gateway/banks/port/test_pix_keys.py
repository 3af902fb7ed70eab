"""PIX keys: the form they are sent and compared in, and the id they are shown under."""

import uuid

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gateway.banks.port.pix_keys import KeyOrder, PixKey, PixKeyStatus, PixKeyType, normal_key
from gateway.core.strict import hidden_tax_number, is_other_number

CPF, CNPJ, EMAIL, PHONE, EVP = (
    PixKeyType.CPF,
    PixKeyType.CNPJ,
    PixKeyType.EMAIL,
    PixKeyType.PHONE,
    PixKeyType.EVP,
)
ACCOUNT = "0b7d7e4a-9e0e-4a3c-8f5e-3c1f0a9b2c01"
RANDOM_KEY = "3C9F8E7D-6B5A-4C3D-8E2F-1A0B9C8D7E6F"
KELVIN = "\u212a"  # lowered, it is an ASCII k


def test_a_pix_key_is_normalised():
    cases = [
        (CPF, "529.982.247-25", "52998224725"),
        (CPF, "52998224725", "52998224725"),
        (CNPJ, "11.222.333/0001-81", "11222333000181"),
        (EMAIL, "Maria@Example.COM", "maria@example.com"),
        (EMAIL, "a.b+c_d@x-y.com.br", "a.b+c_d@x-y.com.br"),
        (PHONE, "+5511987654321", "+5511987654321"),
        (PHONE, "+551133334444", "+551133334444"),
        (PHONE, "+6834000", "+6834000"),
        (EMAIL, "maria@example", "maria@example"),
        (EMAIL, ".a..b@example.com", ".a..b@example.com"),
        (EVP, RANDOM_KEY, RANDOM_KEY.lower()),
    ]

    wrong = [
        (kind, text, normal) for kind, text, normal in cases if normal_key(kind, text) != normal
    ]

    assert wrong == []


def test_a_pix_key_that_does_not_fit_its_type_is_refused():
    cases = [
        (CPF, "11.222.333/0001-81"),
        (CPF, "52998224726"),
        (CPF, "11111111111"),
        (CNPJ, "529.982.247-25"),
        (CNPJ, "11222333000182"),
        (CNPJ, "12ABC34501DE36"),
        (EMAIL, "maria"),
        (EMAIL, "@example.com"),
        (EMAIL, "maria@"),
        (EMAIL, "maria@example.com\n"),
        (EMAIL, " maria@example.com"),
        (EMAIL, "maria@exa mple.com"),
        (EMAIL, "maría@example.com"),
        (EMAIL, f"{KELVIN}aren@example.com"),
        (EMAIL, f"karen@ban{KELVIN}.com"),
        (EMAIL, "a@b@c.com"),
        (EMAIL, "a" * 65 + "@b.com"),
        (EMAIL, "a" * 60 + "@" + "b" * 17),
        (EMAIL, "a@b..c"),
        (EMAIL, "maria@example.com."),
        (EMAIL, "maria@-example.com"),
        (EMAIL, "maria@example-.com"),
        (EMAIL, "m@" + "x" * 64 + ".com"),
        (PHONE, "+55"),
        (PHONE, "+5511"),
        (PHONE, "+551198765432100"),
        (PHONE, "+550187654321"),
        (PHONE, "+14"),
        (PHONE, "5511987654321"),
        (PHONE, "+05511987654321"),
        (PHONE, "+1"),
        (PHONE, "+1234567890123456"),
        (PHONE, "+55 11 98765-4321"),
        (PHONE, "+55119876543\u0662"),
        (PHONE, "+5511987654321\n"),
        (EVP, RANDOM_KEY.replace("-", "")),
        (EVP, f"{{{RANDOM_KEY}}}"),
        (EVP, "maria@example.com"),
        *((kind, "") for kind in PixKeyType),
    ]

    for kind, text in cases:
        with pytest.raises(ValueError, match=r"|."):
            normal_key(kind, text)


def test_an_email_key_has_at_most_77_characters():
    """The central bank's limit."""
    longest = "a" * 60 + "@" + "b" * 16

    assert normal_key(EMAIL, longest) == longest


def test_an_alphanumeric_cnpj_is_a_valid_key():
    """An adapter that takes only digits can still be declared so."""
    assert normal_key(CNPJ, "12.abc.345/01DE-35") == "12ABC34501DE35"
    with pytest.raises(ValueError, match=r"|."):
        normal_key(CNPJ, "12ABC34501DE35", alphanumeric_cnpj=False)


@pytest.mark.parametrize("kind", PixKeyType)
@given(text=st.one_of(st.text(max_size=80), st.emails(), st.uuids().map(str)))
@example(text=f"{KELVIN}@{KELVIN}")
def test_a_normalised_pix_key_is_ascii_and_stable(kind: PixKeyType, text: str):
    try:
        normal = normal_key(kind, text)
    except ValueError:
        return
    assert normal.isascii()
    assert text.isascii()
    assert normal_key(kind, normal) == normal


def key(provider_id: str, text: str = "maria@example.com") -> PixKey:
    return PixKey(
        provider_id=provider_id, key=text, type=EMAIL, status=PixKeyStatus.ACTIVE, created_at=None
    )


def test_a_provider_s_uuid_is_the_id():
    assert key(RANDOM_KEY).public_id(ACCOUNT) == RANDOM_KEY.lower()


def test_any_other_key_has_an_id_derived_from_account_and_key():
    """UUIDv5 in the account's namespace: always the same."""
    for provider_id in ["", "1234", RANDOM_KEY.replace("-", ""), "key_1"]:
        public = key(provider_id).public_id(ACCOUNT)

        assert public == str(uuid.uuid5(uuid.UUID(ACCOUNT), "maria@example.com"))
        assert public != key(provider_id, "x@example.com").public_id(ACCOUNT)
        assert public != key(provider_id).public_id(str(uuid.uuid4()))


def test_only_a_random_key_is_ordered_without_its_name():
    cases = [
        (PixKeyType.EVP, "", True),
        (PixKeyType.EMAIL, "a@example.com", True),
        (PixKeyType.EVP, "0b7d7e4a-9e0e-4a3c-8f5e-3c1f0a9b2c01", False),
        (PixKeyType.CPF, "", False),
    ]

    for kind, key, fits in cases:
        if fits:
            assert KeyOrder(kind, key).key == key
        else:
            with pytest.raises(ValueError, match="named"):
                KeyOrder(kind, key)


HIDEABLE = ("52998224725\n", " 52998224725", "52998224725\ufffd", "529.982.247-25")
"""A CPF as banks may send it, with signs of their own or damaged ones."""


def test_a_cpf_is_masked_at_both_ends():
    """As the central bank's directory shows it."""
    cases = [
        ("52998224725", "***.982.247-**"),
        ("***.982.247-**", "***.982.247-**"),
        ("11222333000181", "11222333000181"),
        ("", ""),
        *((text, "***.982.247-**") for text in HIDEABLE),
        ("12ABC34501DE35", "12ABC34501DE35"),
    ]

    wrong = [(told, shown) for told, shown in cases if hidden_tax_number(told) != shown]

    assert wrong == []


def test_a_masked_tax_number_is_compared_by_its_visible_digits():
    """Differing visible digits or another kind of number are proof; a fully hidden one is not."""
    cases = [
        ("52998224725", "***.982.247-**", False),
        ("52998224725", "529.982.247-25", False),
        ("52998224725", "", False),
        ("11222333000181", "11.222.333/0001-81", False),
        ("11144477735", "***.982.247-**", True),
        ("11144477735", "52998224725", True),
        ("11222333000181", "***.982.247-**", True),
        ("11222333000181", "11.222.333/0002-62", True),
    ]

    wrong = [
        (typed, shown)
        for typed, shown, is_other in cases
        if is_other_number(typed, shown) is not is_other
    ]

    assert wrong == []

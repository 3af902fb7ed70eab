"""Money, times and tax numbers, Brazilian in every language."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pytest

from gateway.core.errors import ServiceError
from gateway.core.money import Money
from gateway.http.panel.pages import formats


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (Decimal("0.00"), "0,00"),
        (Decimal("1234.56"), "1.234,56"),
        (Decimal("-7.10"), "7,10"),
        (Decimal("12345678901234.99"), "12.345.678.901.234,99"),
    ],
    ids=str,
)
def test_money_is_written_as_in_brazil(value, written):
    assert formats.money(value) == written


@pytest.mark.parametrize(
    ("typed", "centavos"),
    [
        *(("1.234,56", 123456), ("1234,56", 123456), ("0,01", 1), ("1.000.000,00", 100_000_000)),
        *(
            ("1234", 123400),
            ("R$ 5,00", 500),
            ("R$\xa01.234,56", 123456),
            ("1.000.000", 100_000_000),
        ),
    ],
)
def test_a_typed_amount_is_parsed(typed, centavos):
    assert formats.typed_money(typed, "value") == Money(centavos)


@pytest.mark.parametrize(
    "typed",
    [
        *(
            "",
            "1.234",
            "R$ 1.234",
            "R$",
            "1,5",
            "1.5",
            "1,234.56",
            "1234.56",
            "1.234.56",
            "12.34",
            "1.23,45",
            "12.34,56",
        ),
        *("-1,00", "US$ 1,00", "١,٠٠", "9" * 18 + ",00"),
        pytest.param("9" * 5000 + ",00", id="thousands of digits"),
        pytest.param("1" + ".000" * 2000 + ",00", id="thousands of points"),
    ],
)
def test_an_invalid_typed_amount_is_refused(typed):
    with pytest.raises(ServiceError) as refusal:
        formats.typed_money(typed, "value")

    assert (refusal.value.error.code, refusal.value.field) == ("SVC.VAL.011", "value")


def test_a_count_has_thousands_separators():
    assert (formats.number(7), formats.number(1284310)) == ("7", "1.284.310")


INSTANT = datetime(2026, 11, 20, 13, 40, 5, 214_000, UTC)


@pytest.mark.parametrize(
    "value",
    [INSTANT, "2026-11-20T13:40:05.214Z", "2026-11-20T10:40:05.214-03:00"],
    ids=["datetime", "utc", "offset"],
)
def test_every_time_format_of_a_document_is_read(value):
    assert formats.moment(value) == INSTANT


def test_a_time_without_a_zone_is_utc_and_a_number_is_seconds():
    minute = datetime(2026, 11, 20, 13, 40, tzinfo=UTC)

    assert formats.moment("2026-11-20 13:40") == minute
    assert formats.moment(int(minute.timestamp())) == minute


@pytest.mark.parametrize(
    ("form", "written"),
    [
        ("minute", "20/11/2026 10:40"),
        ("second", "10:40:05"),
        ("millisecond", "10:40:05,214"),
        ("full", "20/11/2026 10:40:05"),
        ("day", "20/11/2026"),
    ],
)
def test_times_are_shown_in_sao_paulo_time(form, written):
    assert formats.local(INSTANT, form) == written


def test_a_bank_s_zero_time_is_formatted():
    """Banks use year 1 for a missing time, which São Paulo's zone cannot represent."""
    assert formats.local("0001-01-01T00:00:00Z", "day") == "01/01/0001"


def test_a_day_changes_at_midnight_in_sao_paulo():
    assert formats.local("2026-11-21T02:59:59Z", "day") == "20/11/2026"


@pytest.mark.parametrize("day", ["20/11/2026", "2026-11-20"])
def test_a_day_is_read_in_brazilian_and_iso_format(day):
    assert formats.day_of(day) == date(2026, 11, 20)
    assert formats.day_begins(day) == "2026-11-20T03:00:00Z"
    assert formats.day_ends(day) == "2026-11-21T03:00:00Z"


@pytest.mark.parametrize("day", ["", "20", "11/20/2026", "31/02/2026", "amanhã"])
def test_an_invalid_day_sets_no_filter(day):
    assert formats.day_of(day) is None
    assert formats.day_begins(day) == formats.day_ends(day) == ""


def test_the_first_and_last_days_of_the_calendar_do_not_overflow():
    assert formats.day_begins("01/01/0001") == "0001-01-01T03:06:28Z"
    assert formats.day_begins("31/12/9999") == "9999-12-31T03:00:00Z"
    assert formats.day_ends("31/12/9999") == "9999-12-31T23:59:59Z"


@pytest.mark.parametrize(
    ("later", "left"),
    [
        (timedelta(hours=71, minutes=59), (2, 23)),
        (timedelta(days=1), (1, 0)),
        (timedelta(hours=23, minutes=59), (0, 23)),
        (timedelta(hours=-5), (0, 0)),
    ],
    ids=str,
)
def test_remaining_time_is_written_in_days_and_hours(later, left):
    assert formats.days_left(INSTANT + later, INSTANT) == left


def test_hints_and_machine_times_are_in_utc():
    assert formats.universal(INSTANT) == "20/11/2026 13:40:05 UTC"
    assert formats.machine(INSTANT) == "2026-11-20T13:40:05Z"


@pytest.mark.parametrize(
    ("sent", "written"),
    [
        ("11222333000181", "11.222.333/0001-81"),
        ("12ABC34501DE35", "12.ABC.345/01DE-35"),
        ("52998224725", "***.982.247-**"),
        ("***.982.247-**", "***.982.247-**"),
        ("", ""),
    ],
)
def test_a_cpf_is_masked_and_a_cnpj_is_not(sent, written):
    assert formats.tax_number(sent) == written


_WEBKIT = "AppleWebKit/537.36 (KHTML, like Gecko)"


@pytest.mark.parametrize(
    ("agent", "written"),
    [
        (
            f"Mozilla/5.0 (X11; Linux x86_64) {_WEBKIT} Chrome/156.0.0.0 Safari/537.36",
            "Chrome 156 · Linux",
        ),
        (
            f"Mozilla/5.0 (Windows NT 10.0) {_WEBKIT} Chrome/156.0 Safari/537.36 Edg/156.0",
            "Edge 156 · Windows",
        ),
        (
            "Mozilla/5.0 (Macintosh; Mac OS X 15) Gecko/20100101 Firefox/140.0",
            "Firefox 140 · macOS",
        ),
        (
            f"Mozilla/5.0 (iPhone; like Mac OS X) {_WEBKIT} Version/19.0 Mobile Safari/604",
            "Safari 19 · iPhone",
        ),
        ("Python/3.11 aiohttp/3.14.5", "Python/3.11 aiohttp/3.14.5"),
        ("", ""),
    ],
)
def test_a_user_agent_is_shown_as_browser_and_system(agent: str, written: str):
    assert formats.browser(agent) == written


def test_invisible_characters_are_shown():
    assert formats.visible("a\u202eb\u200bc\u0007é😀") == "a␣b␣c␣é😀"


@pytest.mark.parametrize(
    ("share", "written"),
    [(0, "0 %"), (0.777, "77,7 %"), (0.9999, "99,9 %"), (1, "100 %"), (Decimal("0.5"), "50 %")],
)
def test_a_percentage_is_a_hundred_only_when_it_is_exact(share, written):
    """One failure in a thousand must not be rounded away; decimals only where needed."""
    assert formats.percent(share) == written


@pytest.mark.parametrize(
    ("value", "written"),
    [(0.0384, "38 ms"), (1, "1 s"), (1.44, "1,4 s"), (Decimal("5.0"), "5 s"), (720, "12 min")],
)
def test_a_duration_is_shown_in_short_form(value, written):
    assert formats.seconds(value) == written


def test_a_time_for_scripts_is_in_milliseconds():
    assert formats.epoch_ms("1970-01-01T00:00:02Z") == 2000


@pytest.mark.parametrize(
    ("seconds", "written"),
    [(0, "0 min 00 s"), (65, "1 min 05 s"), (3600, "1 h 00 min"), (35_999, "9 h 59 min")],
)
def test_the_remaining_time_is_written_like_the_script_does(seconds: int, written: str):
    now = datetime(2026, 11, 20, 12, tzinfo=UTC)

    assert formats.time_left(now + timedelta(seconds=seconds), now) == written


@pytest.mark.parametrize(
    ("told", "name", "read"),
    [
        ("12.34", "value", Decimal("12.34")),
        ("1000.00", "limit_per_day", Decimal("1000.00")),
        ("none", "limit_per_day", None),
        ("open", "value", None),
        ("12.34", "payment", None),
    ],
)
def test_an_amount_in_audit_details_is_recognised_by_its_name(
    told: str, name: str, read: Decimal | None
):
    assert formats.detail_amount(told, name) == read


def test_a_typed_phone_key_is_normalised():
    """Area code 55 is Rio Grande do Sul: followed by 8 or 9 digits it is no country code."""
    cases = [
        ("(11) 98888-7777", "+5511988887777"),
        ("11988887777", "+5511988887777"),
        ("11 3333.4444", "+551133334444"),
        ("011 98888 7777", "+5511988887777"),
        ("5511988887777", "+5511988887777"),
        ("+55 11 98888-7777", "+5511988887777"),
        ("55 98888-7777", "+5555988887777"),
        ("55 5598888-7777", "+5555988887777"),
        ("+1 (212) 555-0100", "+12125550100"),
        ("+55", "+55"),
        ("98888-7777", "988887777"),
    ]

    read = {text: formats.typed_key(text, "phone") for text, _ in cases}

    assert read == dict(cases)
    assert formats.typed_key("a.b-c@example.com", "email") == "a.b-c@example.com"

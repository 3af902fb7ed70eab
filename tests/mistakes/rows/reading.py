"""What is read from a request and written into an answer: numbers, money, windows, pages."""

from __future__ import annotations

from tests.mistakes.mistake import Mistake

_BODY = "tests/unit/gateway/net/server/test_request.py"
_DOCUMENT = "tests/unit/policies/validation/test_fields_document.py"
_JSON = "tests/unit/gateway/http/test_rendering_json.py"
_COMPANIES = "tests/contract/stores/test_companies.py"
_ORDER = "tests/surfaces/identity/test_order.py"
_PAYOUT = "tests/unit/gateway/payouts/test_bodies.py"
_REPORTS = "tests/unit/gateway/statements/test_reports.py"
_REPORTS_DOCUMENT = "tests/unit/gateway/reports/test_document.py"
_SCHEMAS = "tests/unit/gateway/http/openapi/test_schemas.py"
_SEARCH = "tests/unit/policies/validation/test_search.py"
_STRICT = "tests/unit/gateway/core/test_strict.py"
_TAX_NUMBERS = "tests/properties/test_tax_numbers.py"
_WINDOWS = "tests/unit/gateway/core/test_windows.py"

ROWS = (
    Mistake(
        name="identifier-with-a-tail",
        promise="An identifier is a hyphenated UUID and nothing behind it.",
        source="decisions 2 (step 11)",
        file="gateway/core/strict.py",
        right="if _UUID.fullmatch(text) is None:",
        wrong="if _UUID.match(text) is None:",
        tests=(_STRICT,),
    ),
    Mistake(
        name="third-decimal-dropped",
        promise="An amount has at most two decimals; a third is refused, never dropped.",
        source="decisions 4",
        file="gateway/core/strict.py",
        right="found = _AMOUNT.fullmatch(text)",
        wrong="found = _AMOUNT.match(text)",
        tests=(f"{_STRICT}::test_an_inexact_amount_is_refused",),
    ),
    Mistake(
        name="one-decimal-is-centavos",
        promise="10.5 is ten reais and fifty centavos.",
        source="contract 2.1",
        file="gateway/core/strict.py",
        right='(found[2] or "0").ljust(2, "0")',
        wrong='(found[2] or "0").rjust(2, "0")',
        tests=(f"{_STRICT}::test_an_amount_has_at_most_two_decimals",),
    ),
    Mistake(
        name="foreign-digits-read",
        promise="A page or limit is 1 to 18 ASCII digits.",
        source="decisions 7",
        file="gateway/core/strict.py",
        right="if _WHOLE.fullmatch(text) is None:",
        wrong="if not text.isdigit():",
        tests=(f"{_STRICT}::test_other_spellings_accepted_by_int_are_refused",),
    ),
    Mistake(
        name="repeated-digit-tax-number",
        promise="A tax number of one repeated digit is invalid.",
        source="decisions 4",
        file="gateway/core/strict.py",
        right="if len(set(number)) == 1:",
        wrong="if len(set(number)) == 0:",
        tests=(_TAX_NUMBERS,),
    ),
    Mistake(
        name="trace-id-too-long",
        promise="A caller's trace id has at most 128 characters.",
        source="decisions 7",
        file="gateway/core/strict.py",
        right='_TRACE_ID = re.compile(r"[A-Za-z0-9._:\\-]{1,128}", re.ASCII)',
        wrong='_TRACE_ID = re.compile(r"[A-Za-z0-9._:\\-]{1,1280}", re.ASCII)',
        tests=(f"{_STRICT}::test_a_trace_id_that_could_do_harm_is_refused",),
    ),
    Mistake(
        name="json-key-twice",
        promise="A JSON object whose key stands twice is malformed.",
        source="decisions 4",
        file="policies/validation/fields.py",
        right="if len(found) != len(pairs):",
        wrong="if len(found) > len(pairs):",
        tests=(f"{_DOCUMENT}::test_a_body_other_than_one_json_object_is_refused",),
    ),
    Mistake(
        name="payout-of-zero",
        promise="An amount is above zero.",
        source="contract 2.6",
        file="policies/validation/fields.py",
        right="if value.centavos <= 0:",
        wrong="if value.centavos < 0:",
        tests=(f"{_PAYOUT}::test_an_amount_that_is_not_above_zero_is_refused",),
    ),
    Mistake(
        name="one-decimal-on-the-wire",
        promise="Money is written with exactly two decimals.",
        source="contract 2.1",
        file="gateway/core/money.py",
        right="{whole}.{rest:02d}",
        wrong="{whole}.{rest}",
        tests=(f"{_JSON}::test_money_is_a_number_with_two_decimals",),
    ),
    Mistake(
        name="window-of-91-days",
        promise="A window has at most 90 days, both ends counted.",
        source="contract 8, decisions 5",
        file="gateway/core/windows.py",
        right="< timedelta(days=LONGEST_DAYS)",
        wrong="<= timedelta(days=LONGEST_DAYS)",
        tests=(f"{_WINDOWS}::test_a_window_of_another_length_is_refused",),
    ),
    Mistake(
        name="last-day-left-out",
        promise="The last day of a window lies inside.",
        source="contract 8",
        file="gateway/core/windows.py",
        right="after = self.ends + timedelta(days=1)",
        wrong="after = self.ends",
        tests=(f"{_WINDOWS}::test_a_window_includes_both_days",),
    ),
    Mistake(
        name="page-off-by-one",
        promise="Page 1 begins with the first item.",
        source="contract 8",
        file="gateway/core/windows.py",
        right="(self.page - 1) * self.limit",
        wrong="self.page * self.limit",
        tests=(f"{_WINDOWS}::test_a_page_s_offset_follows_the_earlier_pages",),
    ),
    Mistake(
        name="limit-not-clamped",
        promise="A limit over 100 counts as 100.",
        source="contract 8",
        file="policies/validation/search.py",
        right="min(limit, LARGEST_LIMIT)",
        wrong="max(limit, LARGEST_LIMIT)",
        tests=(f"{_SEARCH}::test_a_limit_over_100_counts_as_100",),
    ),
    Mistake(
        name="total-of-one-page",
        promise="`meta.total` counts the whole list.",
        source="contract 2.1",
        file="gateway/store/kernel/database.py",
        right="wanted.order_by(None).limit(count_at_most).subquery()",
        wrong="wanted.order_by(None).limit(paging.limit).subquery()",
        tests=(f"{_COMPANIES}::test_companies_are_listed_oldest_first",),
    ),
    Mistake(
        name="body-measured-by-piece",
        promise="A body over its limit is refused, however it is cut into pieces.",
        source="decisions 2 (step 6)",
        file="gateway/net/server/request.py",
        right="if len(body) > limit_bytes:",
        wrong="if len(piece) > limit_bytes:",
        tests=(_BODY,),
    ),
    Mistake(
        name="declared-length-looked-at-late",
        promise=("A body declared too large is refused before anybody is asked for a credential."),
        source="decisions 2 (step 6)",
        file="gateway/http/server.py",
        right="declared > place.surface.body_bytes:",
        wrong="declared > place.surface.body_bytes > route.limits.body_bytes:",
        tests=(f"{_ORDER}::test_a_large_body_is_refused_before_the_token",),
    ),
    Mistake(
        name="amount-schema",
        promise="The OpenAPI document says what an amount in an answer looks like.",
        source="decisions 1, ADR 0016",
        file="gateway/http/openapi/schemas.py",
        right="REF.format(name=Sum.__name__): AMOUNT,",
        wrong="REF.format(name=Sum.__name__): PAID_AMOUNT,",
        tests=(f"{_SCHEMAS}::test_an_amount_in_an_answer_may_be_zero_or_negative",),
    ),
    Mistake(
        name="number-without-format",
        promise="A number of the documents has 64 bits in every generated client.",
        source="ADR 0016",
        file="gateway/http/openapi/schemas.py",
        right='        return {"format": "double"}',
        wrong="        return {}",
        tests=("tests/contract/openapi/test_numbers.py",),
    ),
    Mistake(
        name="report-adds-both-ways",
        promise="A report's total of credits counts credits alone.",
        source="contract 4.3, decisions 1",
        file="gateway/reports/document.py",
        right=" for entry in entries if entry.direction is direction",
        wrong=" for entry in entries",
        tests=(f"{_REPORTS_DOCUMENT}::test_totals_are_summed_per_direction",),
    ),
    Mistake(
        name="opening-balance-calculated-forward",
        promise="A report's opening balance and movements lead to the closing one.",
        source="decisions 1",
        file="gateway/statements/reports.py",
        right="opening = closing.centavos - sum(",
        wrong="opening = closing.centavos + sum(",
        tests=(f"{_REPORTS}::test_a_window_up_to_today_has_opening_and_closing_balances",),
    ),
)

"""Reports and statements: amounts, signs, days, totals, and texts that a spreadsheet would run."""

from __future__ import annotations

from tests.mistakes.mistake import Mistake

_BANK = "tests/unit/gateway/statements"
_LINKED = "tests/unit/gateway/statements/test_service.py"
_REPORTS = "tests/unit/gateway/reports"

ROWS = (
    Mistake(
        name="formula-behind-a-blank",
        promise="A formula behind blanks or invisible signs is made a text in a table.",
        source="OWASP, CSV Injection",
        file="gateway/reports/texts.py",
        right="((?:(?![{_BREAK}])[{_BLANK}])*[{_SIGN}])",
        wrong="([{_SIGN}])",
        tests=(
            f"{_REPORTS}/test_texts.py::test_a_formula_after_an_invisible_character_is_escaped",
        ),
    ),
    Mistake(
        name="formula-behind-a-quotation-mark",
        promise="A formula behind a separator and a quotation mark is made a text in a table.",
        source="OWASP, CSV Injection",
        file="gateway/reports/texts.py",
        right="""{UNSEEN}\\"'\"""",
        wrong='{UNSEEN}"',
        tests=(f"{_REPORTS}/test_csv.py::test_no_csv_reader_finds_a_formula",),
    ),
    Mistake(
        name="reference-is-a-formula",
        promise="A partner's reference is no formula in the table of payouts.",
        source="OWASP, CSV Injection",
        file="gateway/payouts/report_file.py",
        right="        text_cell(payout.reference),",
        wrong="        payout.reference,",
        tests=(
            "tests/unit/gateway/payouts/test_report_file.py::test_a_partner_s_reference_is_not_a_formula",
        ),
    ),
    Mistake(
        name="whole-cpf-in-the-table",
        promise="The table of payouts shows no whole CPF.",
        source="docs/panel.md",
        file="gateway/payouts/model.py",
        right="return self.destination.name, hidden_tax_number(self.destination.tax_number)",
        wrong="return self.destination.name, self.destination.tax_number",
        tests=(
            "tests/unit/gateway/payouts/test_report_file.py::test_a_table_opens_in_a_portuguese_spreadsheet",
        ),
    ),
    Mistake(
        name="debit-in-ofx-without-its-minus",
        promise="A debit is negative in OFX.",
        source="Open Financial Exchange 2.2, 11.4.3 (`TRNAMT`)",
        file="gateway/reports/ofx.py",
        right='("TRNAMT", str(change(entry))),',
        wrong='("TRNAMT", str(entry.value)),',
        tests=(f"{_REPORTS}/test_ofx.py::test_the_transaction_type_matches_the_sign",),
    ),
    Mistake(
        name="ofx-day-in-utc",
        promise="A movement of 22:00 in Brazil is booked on that day, not on the next one.",
        source="Open Financial Exchange 2.2, 3.2.8",
        file="gateway/reports/ofx.py",
        right="    local = local_time(at)",
        wrong="    local = at.astimezone(UTC)",
        tests=(f"{_REPORTS}/test_ofx.py::test_an_ofx_movement_has_every_field",),
    ),
    Mistake(
        name="ofx-identifier-of-a-new-wording",
        promise="A movement whose description a bank words anew is imported once.",
        source="Open Financial Exchange 2.2, 11.4.3 (`FITID`)",
        file="gateway/reports/ofx.py",
        right='    words = "" if known else f"',
        wrong='    words = f"',
        tests=(
            f"{_REPORTS}/test_ofx_identifiers.py::test_an_identifier_does_not_depend_on_wording",
        ),
    ),
    Mistake(
        name="debit-in-csv-without-its-minus",
        promise="A debit is negative in a CSV file.",
        source="contract 4.3",
        file="gateway/reports/csv.py",
        right="        str(change(entry)),",
        wrong="        str(entry.value),",
        tests=(f"{_REPORTS}/test_csv.py::test_the_plain_csv_is_exact",),
    ),
    Mistake(
        name="unknown-balance-is-zero",
        promise="A balance that is not known is null in a report, not zero.",
        source="contract 4.3, decisions 1",
        file="gateway/reports/json.py",
        right='        "opening": document.opening,',
        wrong='        "opening": document.opening or Sum(0),',
        tests=(
            f"{_REPORTS}/test_json.py::test_an_unknown_value_is_null_and_an_absent_time_is_empty",
        ),
    ),
    Mistake(
        name="balance-of-today-closes-an-old-window",
        promise="The balance of now is not told as the closing one of days that are over.",
        source="decisions 1",
        file="gateway/statements/reports.py",
        right="closing = after.balance if is_open and document.generated_at < window.end else None",
        wrong="closing = after.balance",
        tests=(
            f"{_BANK}/test_reports.py::test_a_past_or_future_window_has_no_opening_or_closing_balance",
        ),
    ),
    Mistake(
        name="opening-balance-while-money-moves",
        promise="No opening balance is told if money moved while the movements were read.",
        source="decisions 1",
        file="gateway/statements/reports.py",
        right="opening=_opening(closing, found) if stood_still else None,",
        wrong="opening=_opening(closing, found),",
        tests=(
            (
                f"{_BANK}/test_reports.py"
                "::test_a_balance_that_changed_meanwhile_leaves_the_opening_unknown"
            ),
        ),
    ),
    Mistake(
        name="sums-of-part-of-a-window",
        promise="Sums are of the whole window, or are not told.",
        source="ADR 0021",
        file="gateway/statements/reads.py",
        right=(
            "        if whole.total > len(whole.entries):\n"
            '            problem = "too_many_items"\n'
            "            raise BadReply(problem)\n"
        ),
        wrong="",
        tests=(f"{_BANK}/test_reads.py::test_a_complete_window_is_refused_rather_than_truncated",),
    ),
    Mistake(
        name="page-of-two-snapshots",
        promise="A page of a statement comes from one reading of the bank, never from two.",
        source="ADR 0021",
        file="gateway/statements/snapshots.py",
        right="            if part is None or part.id != head.id:",
        wrong="            if part is None:",
        tests=(f"{_BANK}/test_snapshots.py::test_parts_of_two_snapshots_are_never_mixed",),
    ),
    Mistake(
        name="snapshot-of-a-sister-account",
        promise="What was read of one account is never shown as the statement of another.",
        source="ADR 0021, contract 5.1",
        file="gateway/statements/snapshots.py",
        right="place = (account.account_id, bank.name, account.provider_account, ",
        wrong="place = (bank.name, ",
        tests=((f"{_BANK}/test_reads.py::test_a_snapshot_belongs_to_one_account_bank_and_window"),),
    ),
    Mistake(
        name="panel-day-in-utc",
        promise="The panel adds movements up by the days of Brazil.",
        source="docs/panel.md",
        file="gateway/statements/model.py",
        right="    return local_time(at).date()",
        wrong="    return at.date()",
        tests=(f"{_LINKED}::test_days_are_in_brasilia_time",),
    ),
    Mistake(
        name="export-beyond-the-companies",
        promise="A file of requests holds those of a person's own companies alone.",
        source="decisions 11 (four eyes)",
        file="gateway/request_log/service.py",
        right="self.records.export(behind, who.scope, ROWS_A_PAGE)",
        wrong="self.records.export(behind, type(who.scope)(None), ROWS_A_PAGE)",
        tests=(
            "tests/unit/gateway/request_log/test_service.py::test_an_export_has_every_request_once_in_order",
        ),
    ),
)

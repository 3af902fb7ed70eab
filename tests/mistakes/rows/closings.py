"""Days of accounts: what is reconciled, what one act may sign, and what a package holds."""

from __future__ import annotations

from tests.mistakes.mistake import Mistake

_READINGS = "tests/contract/stores/test_day_readings.py"
_DAYS = "tests/contract/stores/test_closing_days.py"
_PACKAGES = "tests/contract/stores/test_closing_packages.py"
_ADR = "docs/adr/0083-the-day-closes-itself.md"

ROWS = (
    Mistake(
        name="day-reconciled-while-the-bank-did-not-answer",
        promise="A day without a good reading is never called reconciled.",
        source=_ADR,
        file="gateway/closings/days.py",
        right="    (and_(_WAS_READ, _WITHOUT_DIFFERENCE), DayState.READY.value),",
        wrong="    (_WITHOUT_DIFFERENCE, DayState.READY.value),",
        tests=(f"{_READINGS}::test_a_day_is_not_reconciled_before_its_bank_has_answered",),
    ),
    Mistake(
        name="day-signed-with-a-difference-called-reconciled",
        promise="A day that was signed with a difference is not counted as reconciled.",
        source="docs/panel.md",
        file="gateway/closings/days.py",
        right="in done) - self.signed_with_difference",
        wrong="in done)",
        tests=(f"{_DAYS}::test_a_day_that_was_locked_with_a_difference_is_not_called_reconciled",),
    ),
    Mistake(
        name="difference-of-a-day-without-a-reading-lost",
        promise="A difference that was signed counts, also where the day has no reading.",
        source="docs/panel.md",
        file="gateway/closings/days.py",
        right="    (and_(_READ.read_at.is_(None), _SIGNED.differences != 0), 1),\n",
        wrong="",
        tests=(f"{_DAYS}::test_a_difference_that_was_signed_on_a_day_without_a_reading_counts",),
    ),
    Mistake(
        name="late-day-without-an-alert",
        promise="A day that no bank's answer reached by nine o'clock is counted.",
        source=_ADR,
        file="gateway/closings/readings.py",
        right="            _READ.read_at.is_(None),\n            func.coalesce",
        wrong="            _READ.tried_at.is_(None),\n            func.coalesce",
        tests=(f"{_READINGS}::test_a_day_is_not_reconciled_before_its_bank_has_answered",),
    ),
    Mistake(
        name="late-movement-of-the-day-before-unseen",
        promise="A day must open with the balance that the day before closed with.",
        source=_ADR,
        file="gateway/closings/readings.py",
        right="gap = 0 if before is None else read.figures.opening - before",
        wrong="gap = 0",
        tests=(f"{_READINGS}::test_a_movement_that_came_late_is_found_by_the_next_day",),
    ),
    Mistake(
        name="failure-forgets-what-was-found",
        promise="A failure never replaces what an earlier reading found.",
        source=_ADR,
        file="gateway/closings/readings.py",
        right='row = {"tried_at": now, ',
        wrong='row = {"read_at": None, "tried_at": now, ',
        tests=(f"{_READINGS}::test_a_failure_keeps_what_an_earlier_reading_found",),
    ),
    Mistake(
        name="day-signed-that-changed-since-it-was-shown",
        promise="One act signs the figures that were shown, or nothing.",
        source=_ADR,
        file="gateway/closings/days.py",
        right="        if not rows or _digest_of(rows) != digest:",
        wrong="        if not rows:",
        tests=(f"{_DAYS}::test_no_day_is_signed_whose_figures_changed_since_it_was_shown",),
    ),
    Mistake(
        name="days-locked-by-whoever-signed-them",
        promise="Another person locks what one person has signed.",
        source=_ADR,
        file="gateway/closings/days.py",
        right="(_SIGNED.signed_by != who.acting.actor, _WAS_READ, _WITHOUT_DIFFERENCE)",
        wrong="(_WAS_READ, _WITHOUT_DIFFERENCE)",
        tests=(f"{_DAYS}::test_one_act_signs_all_days_and_another_person_s_act_locks_them",),
    ),
    Mistake(
        name="one-signature-for-an-explained-difference",
        promise="A day with a difference takes two signatures, also when it was explained.",
        source=_ADR,
        file="gateway/closings/days.py",
        right="if self.one_signature and not row.differing:",
        wrong="if self.one_signature and not row.differences:",
        tests=(f"{_DAYS}::test_a_day_with_a_difference_takes_two_signatures_always",),
    ),
    Mistake(
        name="one-signature-for-a-difference-on-its-own-page",
        promise="A day with a difference takes two signatures, by either way of signing.",
        source=_ADR,
        file="gateway/closings/readings.py",
        right="return bool(self.differing or self.gap)",
        wrong="return bool(self.differences)",
        tests=(
            f"{_DAYS}::test_a_day_with_a_difference_takes_two_signatures_always",
            f"{_DAYS}::test_a_day_that_does_not_join_the_day_before_takes_two_signatures",
        ),
    ),
    Mistake(
        name="days-of-other-companies-signed",
        promise="A person signs days of companies in scope alone.",
        source="docs/people.md",
        file="gateway/closings/days.py",
        right="*of_company(accounts.c.company_id, who.scope),\n                _READ.day > day",
        wrong="_READ.day > day",
        tests=(f"{_DAYS}::test_days_of_other_companies_are_neither_shown_nor_signed",),
    ),
    Mistake(
        name="package-of-movements-that-were-not-signed",
        promise="A package holds the movements that were signed, or there is none.",
        source=_ADR,
        file="gateway/closings/packages.py",
        right="if movements_digest(by_day[each.day]) != each.movements:",
        wrong="if False:",
        tests=(f"{_PACKAGES}::test_movements_other_than_signed_are_in_no_package",),
    ),
    Mistake(
        name="package-with-the-time-of-writing",
        promise="The same days give the same bytes.",
        source=_ADR,
        file="gateway/closings/packages.py",
        right="            generated_at=window.end,",
        wrong="            generated_at=self.statements.reports.now(),",
        tests=(f"{_PACKAGES}::test_the_same_days_give_the_same_bytes",),
    ),
    Mistake(
        name="account-with-an-open-day-in-the-package",
        promise="An account with an open day is left out of a package, and named.",
        source=_ADR,
        file="gateway/closings/packages.py",
        right="            if missing:\n",
        wrong="            if not closings:\n",
        tests=(f"{_PACKAGES}::test_a_month_with_an_open_day_is_no_package",),
    ),
)

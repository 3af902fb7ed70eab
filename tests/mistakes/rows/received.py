"""Payments that a walk finds, and days that a partner can prove."""

from __future__ import annotations

from tests.mistakes.mistake import Mistake

_WALKS = "tests/contract/stores/test_payment_walks.py"
_STRETCHES = "tests/unit/gateway/received/test_model.py"
_CLOSINGS = "tests/surfaces/banking/test_closings.py"
_PAGE = "docs/events.md"
_ADR = "ADR 0076"

ROWS = (
    Mistake(
        name="callback-done-before-its-answer-is-stored",
        promise="A callback is done once the bank's answer about its charge is stored.",
        source="ADR 0075",
        file="gateway/callbacks/processing.py",
        right="await self.paid(account, found, asked_at)",
        wrong="asyncio.get_running_loop().create_task(self.paid(account, found, asked_at))",
        tests=(
            (
                "tests/unit/gateway/callbacks/test_processing.py"
                "::test_a_callback_ends_once_the_answer_about_its_charge_is_stored"
            ),
        ),
    ),
    Mistake(
        name="returns-told-as-payments",
        promise="A walk tells payments; money of ours that comes back is none.",
        source=_PAGE,
        file="gateway/received/walk.py",
        right="entry.kind is not MovementKind.PIX_RETURN and not is_return_id(entry.e2e_id)",
        wrong="entry.is_pix",
        tests=(f"{_WALKS}::test_movements_that_are_no_payments_have_no_event",),
    ),
    Mistake(
        name="walk-pays-whatever-is-named",
        promise="A payment that a walk finds pays the charge it names only if its amount suffices.",
        source="ADR 0052, ADR 0076",
        file="gateway/charges/records.py",
        right="dataclasses.replace(_paid(account_id, payment, at), is_listed=True)",
        wrong="_paid(account_id, payment, at)",
        tests=(f"{_WALKS}::test_a_payment_pays_the_charge_that_it_names_if_its_amount_suffices",),
    ),
    Mistake(
        name="payment-told-before-its-charge-is-known",
        promise="A payment waits ten minutes for the bank's list, which names its charge.",
        source=_ADR,
        file="gateway/received/walk.py",
        right="waits_since = now - _NAMED_WITHIN",
        wrong="waits_since = now",
        tests=(f"{_WALKS}::test_a_payment_waits_ten_minutes_for_the_list_that_names_its_charge",),
    ),
    Mistake(
        name="payments-guessed-from-a-statement",
        promise="A statement without kinds and end-to-end ids is not walked for payments.",
        source=_ADR,
        file="gateway/received/walk.py",
        right="capabilities.entry_fields >= _TELLS",
        wrong="capabilities.entry_fields",
        tests=(f"{_WALKS}::test_a_statement_without_ids_or_kinds_is_not_read",),
    ),
    Mistake(
        name="return-shown-by-another-bank-account",
        promise="Only the bank account that a payout was sent from shows its return.",
        source="decisions 11",
        file="gateway/received/walk.py",
        right="            if payout.was_sent_from(bank):",
        wrong="            if payout.provider:",
        tests=(f"{_WALKS}::test_another_bank_account_shows_no_return_of_a_payout",),
    ),
    Mistake(
        name="walked-on-after-a-failure",
        promise="A walk that failed is made from the same instant again.",
        source=_ADR,
        file="gateway/received/walks.py",
        right="outcome, until = WalkOutcome.FAILED, walk.until",
        wrong="outcome, until = WalkOutcome.FAILED, now",
        tests=(f"{_WALKS}::test_a_failing_bank_of_one_account_affects_no_other",),
    ),
    Mistake(
        name="one-place-for-all-accounts-of-a-bank",
        promise="A bank that hangs for one account delays no other.",
        source=_ADR,
        file="gateway/banks/followup_rate.py",
        right="_FEWEST: Final = 2\n",
        wrong="_FEWEST: Final = 1\n",
        tests=(
            (
                "tests/unit/gateway/banks/test_followup_rate.py::"
                "test_background_readers_of_movements_share_half_of_that"
            ),
        ),
    ),
    Mistake(
        name="the-same-accounts-first-each-time",
        promise="Accounts are walked in the order in which they were last tried.",
        source=_ADR,
        file="gateway/received/store.py",
        right=".order_by(_WALKS.tried_at.asc().nulls_first(), accounts.c.id)",
        wrong=".order_by(accounts.c.id)",
        tests=(f"{_WALKS}::test_accounts_take_turns",),
    ),
    Mistake(
        name="accounts-walked-that-nobody-reads",
        promise="Only accounts whose feed was read within a day are walked.",
        source=_PAGE,
        file="gateway/received/store.py",
        right="_WALKS.read_at >= now - _READ_WITHIN",
        wrong="_WALKS.read_at <= now",
        tests=(f"{_WALKS}::test_accounts_are_walked_whose_feed_was_read_within_a_day",),
    ),
    Mistake(
        name="walk-without-an-overlap",
        promise="A payment that the bank shows some minutes or hours late is found.",
        source=_PAGE,
        file="gateway/received/model.py",
        right="walk.until - overlap",
        wrong="walk.until",
        tests=(
            f"{_STRETCHES}::test_a_stretch_begins_before_the_end_of_the_one_before",
            f"{_WALKS}::test_a_payment_that_the_bank_shows_late_has_an_event",
        ),
    ),
    Mistake(
        name="days-without-times-passed-over",
        promise="A bank that tells days without times is walked for payments too.",
        source=_PAGE,
        file="gateway/received/walk.py",
        right="if latest(at(item)) >= since",
        wrong="if at(item) >= since",
        tests=(f"{_WALKS}::test_a_bank_whose_entries_have_days_without_times_is_read_by_day",),
    ),
    Mistake(
        name="walk-begins-before-the-first-read",
        promise="Payments before the first read of a feed are not told.",
        source=_PAGE,
        file="gateway/received/model.py",
        right="max(walk.begun_at - _CLOCKS_APART, now - FEED_KEPT)",
        wrong="now - FEED_KEPT",
        tests=(f"{_WALKS}::test_payments_before_the_first_read_of_the_feed_have_no_event",),
    ),
    Mistake(
        name="closing-of-another-account",
        promise="A partner reads the closings of its own account alone.",
        source=_PAGE,
        file="gateway/closings/signed.py",
        right='day_closings.c.account_id == bindparam("account"), ',
        wrong='bindparam("account").is_not(None), ',
        tests=(
            (
                f"{_CLOSINGS}::"
                "test_a_closing_is_for_credentials_that_may_read_movements_of_its_account"
            ),
        ),
    ),
    Mistake(
        name="closings-for-whoever-reads-events",
        promise="A closing wants the permission transaction:read.",
        source=_PAGE,
        file="gateway/closings/routes.py",
        right="Permission(Resource.TRANSACTION, Action.READ)",
        wrong="Permission(Resource.EVENT, Action.READ)",
        tests=(
            (
                f"{_CLOSINGS}::"
                "test_a_closing_is_for_credentials_that_may_read_movements_of_its_account"
            ),
        ),
    ),
)

"""The outflow guard: what counts, what is outside, what it stops, and who lifts it."""

from __future__ import annotations

from tests.mistakes.mistake import Mistake

_ENVELOPE = "tests/unit/gateway/outflow/test_envelope.py"
_GUARD = "tests/contract/stores/test_outflow.py"
_ANOTHER_LIFTS = "test_what_a_person_orders_is_of_an_account_and_another_person_lifts_the_stop"
_SECRET = "test_who_ordered_or_approved_a_secret_does_not_lift_the_stop_of_its_payouts"
_PAGE = "docs/outflow.md"

ROWS = (
    Mistake(
        name="second-payout-to-a-stranger-is-to-an-acquaintance",
        promise="A payee is new for a day from the first payout to it.",
        source=_PAGE,
        file="gateway/outflow/guard.py",
        right="is_new = each.at - since < _KNOWN_AFTER",
        wrong="is_new = each.at == since",
        tests=(f"{_GUARD}::test_many_payouts_to_one_stranger_are_many_to_a_new_payee",),
    ),
    Mistake(
        name="guard-counts-what-failed",
        promise="Payouts that moved nothing are not judged.",
        source=_PAGE,
        file="gateway/outflow/guard.py",
        right="if doubtful := doubtful - exact:",
        wrong="if False:",
        tests=(f"{_GUARD}::test_payouts_that_moved_nothing_do_not_count",),
    ),
    Mistake(
        name="guard-stops-the-company-for-one-credential",
        promise="The narrowest subject is stopped, and the others pay on.",
        source=_PAGE,
        file="gateway/outflow/guard.py",
        right="                await self._read_anew(looked, stopped, now)\n",
        wrong="",
        tests=(f"{_GUARD}::test_a_flood_to_strangers_stops_the_credential_alone",),
    ),
    Mistake(
        name="guard-judges-again-what-people-let-go",
        promise="What people let go by lifting a stop is not judged again.",
        source=_PAGE,
        file="gateway/outflow/guard.py",
        right="(stop.lifted_at is None or payout.at <= stop.lifted_at)",
        wrong="stop.lifted_at is None",
        tests=(f"{_GUARD}::test_payouts_released_by_people_are_not_judged_again",),
    ),
    Mistake(
        name="theft-becomes-history",
        promise="What the guard stopped does not become history while the stop holds.",
        source=_PAGE,
        file="gateway/outflow/guard.py",
        right="if each.lifted_at is None]",
        wrong="if each.lifted_at is not None]",
        tests=(f"{_GUARD}::test_what_led_to_a_stop_is_no_history",),
    ),
    Mistake(
        name="orderer-lifts-the-guards-stop",
        promise="Who ordered payouts that led to a stop of the guard does not lift it.",
        source="docs/adr/0060-an-outflow-guard-beside-the-payouts.md",
        file="gateway/stops/service.py",
        right="        if await self._led_to(who, stop_id):",
        wrong="        if False:",
        tests=(f"{_GUARD}::{_ANOTHER_LIFTS}",),
    ),
    Mistake(
        name="approver-lifts-the-guards-stop",
        promise="Who approved payouts that led to a stop of the guard does not lift it.",
        source=_PAGE,
        file="gateway/stops/service.py",
        right="            _approved_by(user_id),\n",
        wrong="",
        tests=(f"{_GUARD}::{_ANOTHER_LIFTS}",),
    ),
    Mistake(
        name="holder-of-the-secret-lifts-the-guards-stop",
        promise="Who ordered or approved a credential's secret does not lift a stop of it.",
        source=_PAGE,
        file="gateway/stops/service.py",
        right="            payouts.c.client_id.in_(_with_secrets_of(user_id, since)),\n",
        wrong="",
        tests=(f"{_GUARD}::{_SECRET}",),
    ),
    Mistake(
        name="former-holder-never-lifts-the-guards-stop",
        promise="A secret that ended an hour before a stop keeps nobody from lifting it.",
        source=_PAGE,
        file="gateway/stops/service.py",
        right="secrets.c.expires_at > since",
        wrong="secrets.c.expires_at.is_not(None)",
        tests=(f"{_GUARD}::test_a_secret_that_ended_an_hour_before_the_stop_has_no_hand_in_it",),
    ),
    Mistake(
        name="releaser-lifts-the-guards-stop",
        promise="Who let a held payout go does not lift the guard's stop that it led to.",
        source=_PAGE,
        file="gateway/stops/service.py",
        right="await self.database.rows(judged.where(_RELEASED))",
        wrong="()",
        tests=(f"{_GUARD}::test_who_let_a_held_payout_go_does_not_lift_the_stop_that_it_led_to",),
    ),
    Mistake(
        name="orderer-with-a-faster-clock-lifts-the-guards-stop",
        promise="Payouts led to a stop also where their process's clock is faster.",
        source=_PAGE,
        file="gateway/stops/service.py",
        right="payouts.c.created_at <= row.created_at + _AHEAD",
        wrong="payouts.c.created_at <= row.created_at",
        tests=(f"{_GUARD}::test_payouts_of_a_faster_clock_led_to_the_stop_too",),
    ),
    Mistake(
        name="week-end-like-a-working-day",
        promise="Hours alike are of working days, Saturdays or Sundays.",
        source=_PAGE,
        file="gateway/outflow/envelope.py",
        right="return max(hour % _WEEK // _DAY, _SATURDAY - 1), hour % _DAY",
        wrong="return 0, hour % _DAY",
        tests=(f"{_ENVELOPE}::test_a_week_end_has_an_envelope_of_its_own",),
    ),
    Mistake(
        name="one-payout-is-a-pattern",
        promise="Fewer than three payouts are never outside.",
        source=_PAGE,
        file="gateway/outflow/envelope.py",
        right="_FEWEST: Final = 3",
        wrong="_FEWEST: Final = 1",
        tests=(f"{_ENVELOPE}::test_one_payout_is_no_pattern",),
    ),
    Mistake(
        name="held-payout-not-judged",
        promise="The guard counts held payouts from when they were ordered.",
        source=_PAGE,
        file="gateway/payouts/model.py",
        right="*(PayoutState.HELD, PayoutState.SENDING, PayoutState.UNKNOWN),",
        wrong="*(PayoutState.SENDING, PayoutState.UNKNOWN),",
        tests=(
            "tests/contract/stores/test_outflow.py::test_held_payouts_are_judged_while_they_can_be_stopped",
        ),
    ),
    Mistake(
        name="late-payout-never-judged",
        promise="A payout that was stored up to 30 s after it was ordered is judged 30 s later.",
        source=_PAGE,
        file="gateway/outflow/guard.py",
        right="            since = looked.late_at - _LATEST\n        new",
        wrong="            pass\n        new",
        tests=(f"{_GUARD}::test_a_payout_that_is_stored_late_is_judged_later",),
    ),
)

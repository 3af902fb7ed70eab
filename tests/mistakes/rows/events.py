"""The feed of events: told with the change, of one account, in the order of commit."""

from __future__ import annotations

from tests.mistakes.mistake import Mistake

_STORE = "tests/contract/stores/test_events.py"
_PAGE = "docs/events.md"
_ADR = "docs/adr/0073-a-feed-of-events-numbered-when-it-is-read.md"

ROWS = (
    Mistake(
        name="events-of-every-account-in-a-feed",
        promise="A feed has the events of its account alone.",
        source=_PAGE,
        file="gateway/events/store.py",
        right="_OWN: Final = events.c.account_id == _ACCOUNT",
        wrong='_OWN: Final = _ACCOUNT != ""',
        tests=(f"{_STORE}::test_a_feed_has_the_events_of_its_account_alone",),
    ),
    Mistake(
        name="events-in-the-order-in-which-they-were-written",
        promise="Whoever goes on from a cursor misses no event that is committed late.",
        source=_ADR,
        file="gateway/events/store.py",
        right='"new_position": last + count}',
        wrong='"new_position": row.number}',
        tests=(
            f"{_STORE}::test_a_reader_misses_no_event_that_is_committed_late",
            f"{_STORE}::test_readers_beside_many_writers_read_all_in_one_order",
        ),
    ),
    Mistake(
        name="two-readers-number-a-feed-at-once",
        promise="Positions of a feed are given by one transaction at a time.",
        source=_ADR,
        file="gateway/events/store.py",
        right="locked = _FEED.with_for_update()",
        wrong="locked = _FEED",
        tests=(f"{_STORE}::test_two_readers_give_each_position_once",),
    ),
    Mistake(
        name="return-told-in-a-transaction-of-its-own",
        promise="An event is written in the transaction of the change that it tells.",
        source=_PAGE,
        file="gateway/payouts/store.py",
        right="""            if told:
                await account_events.append(connection, *told)
""",
        wrong="""        async with self._database.writing() as connection:
            if told:
                await account_events.append(connection, *told)
""",
        tests=(f"{_STORE}::test_a_return_whose_event_cannot_be_written_is_not_kept",),
    ),
    Mistake(
        name="rejection-not-told",
        promise="The end of a payout is told, whoever ends it and however.",
        source=_PAGE,
        file="gateway/store/migrations/versions/0001_first.py",
        right="NEW.state IN ('paid', 'rejected', 'failed')",
        wrong="NEW.state IN ('paid', 'failed')",
        tests=(f"{_STORE}::test_each_end_of_a_payout_has_one_event",),
    ),
    Mistake(
        name="cursor-of-another-account-read",
        promise="A cursor leads nowhere in the feed of another account: 400 SVC.VAL.011.",
        source=_PAGE,
        file="gateway/events/service.py",
        right="if after is not None and after.account_id != account_id:",
        wrong="if after is None and account_id is None:",
        tests=(f"{_STORE}::test_a_cursor_of_another_account_is_refused",),
    ),
    Mistake(
        name="cursor-outlives-the-events-behind-it",
        promise="A cursor behind which events may be missing is refused: 400 SVC.VAL.008.",
        source=_PAGE,
        file="gateway/events/service.py",
        right="found[-1].position, events[-1].at, now)",
        wrong="found[-1].position, now, now)",
        tests=(f"{_STORE}::test_a_cursor_in_the_middle_is_as_old_as_its_event",),
    ),
    Mistake(
        name="events-without-a-position-taken-for-read",
        promise="A cursor is as old as the oldest event that may follow it.",
        source=_PAGE,
        file="gateway/events/service.py",
        right="now if is_end else after.at",
        wrong="now if last else after.at",
        tests=(f"{_STORE}::test_events_of_other_types_are_passed_over_for_good",),
    ),
    Mistake(
        name="waiting-calls-hold-their-places",
        promise="A call that waits for events holds no place of other requests.",
        source=_PAGE,
        file="gateway/http/admission.py",
        right="""        self.leave(priority)
        try:
            yield
        finally:
            self.held[priority] += 1

    @asynccontextmanager
""",
        wrong="""        yield

    @asynccontextmanager
""",
        tests=(
            (
                "tests/unit/gateway/http/test_server.py::"
                "test_a_request_that_waits_holds_no_place_and_its_wait_is_not_measured"
            ),
        ),
    ),
    Mistake(
        name="a-stop-waits-for-waiting-calls",
        promise="A gateway that stops answers waiting calls at once.",
        source=_PAGE,
        file="gateway/app/lifecycle.py",
        right="    gateway.services.event_feed.waits.end()\n",
        wrong="",
        tests=(
            (
                "tests/surfaces/banking/test_events.py::"
                "test_a_stop_answers_waiting_calls_at_once_with_an_empty_page"
            ),
        ),
    ),
    Mistake(
        name="payment-told-each-time-it-is-seen",
        promise="A payment of a charge is told once, however often and wherever it is seen.",
        source=_PAGE,
        file="gateway/charges/store.py",
        right="if is_new and seen.paid_at",
        wrong="if seen.paid_at",
        tests=(f"{_STORE}::test_each_payment_of_a_charge_has_one_event_from_any_source",),
    ),
    Mistake(
        name="refund-told-before-it-moved-money",
        promise="A refund is told once the bank shows it paid.",
        source=_PAGE,
        file="gateway/refunds/store.py",
        right="if refund.status is not RefundStatus.PAID or not refund.return_id:",
        wrong="if not refund.return_id:",
        tests=(f"{_STORE}::test_a_pending_or_old_refund_has_no_event",),
    ),
    Mistake(
        name="end-of-a-credential-told-every-hour",
        promise="The end of a credential is told a week before and a day before, once each.",
        source=_PAGE,
        file="gateway/credentials/expiry.py",
        right="""            if not await self.database.add(connection, expiry_notices, notice):
                return False
""",
        wrong="            await self.database.add(connection, expiry_notices, notice)\n",
        tests=(f"{_STORE}::test_the_end_of_a_credential_is_announced_a_week_and_a_day_before",),
    ),
)

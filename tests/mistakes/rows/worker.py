"""Work in the background: follow-up, leases, retention, and what is kept of the store."""

from __future__ import annotations

from tests.mistakes.mistake import Mistake

_UNIT = "tests/unit/gateway"

ROWS = (
    Mistake(
        name="payouts-claimed-by-a-wrong-clock",
        promise="A process whose clock is wrong claims no payout.",
        source="ADR 0066, docs/reliability.md",
        file="gateway/payouts/reconciler.py",
        right="        if not self._work.may_claim():\n            return []\n",
        wrong="",
        tests=(
            (
                f"{_UNIT}/payouts/test_reconciler.py"
                "::test_a_process_that_may_not_claim_claims_nothing"
            ),
        ),
    ),
    Mistake(
        name="leases-kept-by-a-wrong-clock",
        promise="A process whose clock is wrong leaves its tasks to others.",
        source="ADR 0066, docs/reliability.md",
        file="gateway/process/leases.py",
        right="        if not self._may_claim():\n            return False\n",
        wrong="",
        tests=(
            (
                f"{_UNIT}/process/test_leases.py"
                "::test_a_process_that_may_not_claim_leaves_its_tasks_to_others"
            ),
        ),
    ),
    Mistake(
        name="review-forgotten-by-a-look",
        promise="A payout that waits for a person waits until it is final.",
        source="ADR 0003, docs/reliability.md",
        file="gateway/payouts/reconciler.py",
        right="review=stuck or (payout.review and payout.state not in FINAL_STATES),",
        wrong="review=stuck,",
        tests=(
            (
                f"{_UNIT}/payouts/test_reconciler.py"
                "::test_a_payout_in_review_stays_there_until_it_is_final"
            ),
        ),
    ),
    Mistake(
        name="one-account-stops-other-looks",
        promise="A payout whose account cannot be read keeps no other payout from its look.",
        source="ADR 0026",
        file="gateway/payouts/reconciler.py",
        right="        except Exception:  # noqa: BLE001 - an adapter's or a key's mistake",
        wrong="        except KeyError:  # noqa: BLE001 - an adapter's or a key's mistake",
        tests=(
            (
                f"{_UNIT}/payouts/test_reconciler.py"
                "::test_a_payout_whose_account_cannot_be_read_delays_no_other_query"
            ),
        ),
    ),
    Mistake(
        name="run-goes-on-without-its-lease",
        promise="A run ends when another worker has its lease.",
        source="ADR 0032",
        file="gateway/process/leases.py",
        right="lease.reschedule(clock() + self._left(task).total_seconds() * is_held)",
        wrong="lease.reschedule(clock() + LEASE.total_seconds())",
        tests=(
            f"{_UNIT}/process/test_leases.py::test_a_run_is_stopped_when_another_worker_takes_its_lease",
        ),
    ),
    Mistake(
        name="lease-kept-at-the-end",
        promise="A worker that stops leaves its tasks to the others at once.",
        source="ADR 0032",
        file="gateway/process/leases.py",
        right=(
            "        if self._leases is not None and self._ends:\n            self._ends.clear()\n"
        ),
        wrong="        self._ends.clear()\n        if self._leases is not None and self._ends:\n",
        tests=(
            f"{_UNIT}/process/test_leases.py::test_releasing_leases_lets_another_process_continue_at_once",
        ),
    ),
    Mistake(
        name="cancellation-of-another-ends-the-work",
        promise="A cancellation that nobody asked a task for does not end its work.",
        source="docs/reliability.md",
        file="gateway/process/periodic_task.py",
        right="            if task is None or task.cancelling():\n",
        wrong="            if task is not None:\n",
        tests=(
            (
                f"{_UNIT}/process/test_periodic_task.py"
                "::test_a_cancellation_raised_inside_a_run_does_not_end_the_task"
            ),
        ),
    ),
    Mistake(
        name="failing-server-asked-without-a-pause",
        promise="The pause between attempts grows while a server fails, up to its bound.",
        source="docs/reliability.md",
        file="gateway/process/periodic_task.py",
        right="            self._pause_s = min(self._pause_s * 2, longest_s)",
        wrong="            self._pause_s = min(self._schedule.every_s, longest_s)",
        tests=(
            (
                f"{_UNIT}/process/test_periodic_task.py"
                "::test_consecutive_failures_lengthen_the_pause_up_to_a_bound"
            ),
        ),
    ),
    Mistake(
        name="callbacks-deleted-with-requests",
        promise="Callbacks of banks are kept for 90 days.",
        source="docs/operations.md",
        file="gateway/app/retention.py",
        right="CallbackRecords(database).forget(now - CALLBACKS_KEPT)",
        wrong="CallbackRecords(database).forget(now - REQUESTS_KEPT)",
        tests=(f"{_UNIT}/app/test_retention.py::test_old_rows_are_deleted",),
    ),
    Mistake(
        name="ended-sessions-deleted-at-once",
        promise="A session that ended is kept for a week, so that a stolen token is recognized.",
        source="contract 5.4, docs/people.md",
        file="gateway/app/retention.py",
        right="store.sessions.forget(before)",
        wrong="store.sessions.forget(now)",
        tests=(f"{_UNIT}/app/test_retention.py::test_a_session_that_ended_is_kept_for_a_week",),
    ),
    Mistake(
        name="belief-from-the-end-of-a-reading",
        promise="Kept records are believed for four seconds from the beginning of a reading.",
        source="ADR 0013",
        file="gateway/app/kept_records.py",
        right="        self._kept.validity.until = followed_at + VALID_S",
        wrong="        self._kept.validity.until = self._clock() + VALID_S",
        tests=(
            (
                f"{_UNIT}/app/test_kept_records_feed.py::test_validity_starts_before_the_feed_is_read"
            ),
        ),
    ),
    Mistake(
        name="another-log-changes-nothing",
        promise="When the audit log is another one, everything kept is forgotten.",
        source="ADR 0013",
        file="gateway/app/kept_records.py",
        right="                self._kept.forget_all()",
        wrong="                self._mark = news.mark",
        tests=(
            (f"{_UNIT}/app/test_kept_records_feed.py::test_a_restarted_log_drops_every_record"),
        ),
    ),
    Mistake(
        name="reading-of-before-the-change-kept",
        promise="What was read before a change is not kept after it.",
        source="ADR 0013",
        file="gateway/app/kept_records.py",
        right="            if self._end(read):  # before those who wait go on",
        wrong="            if self._end(read) is not None:",
        tests=(
            (
                f"{_UNIT}/app/test_kept_records_cache.py"
                "::test_a_read_begun_before_a_change_is_not_cached_even_without_another_read"
            ),
        ),
    ),
    Mistake(
        name="refused-by-a-cached-record",
        promise="No well-formed secret is refused by a record read before the request came.",
        source="ADR 0013",
        file="gateway/app/kept_records.py",
        right="        if entry is not None and entry.asked > instant:",
        wrong="        if entry is not None:",
        tests=(
            (
                f"{_UNIT}/app/test_kept_records_wrong_secrets.py"
                "::test_a_refused_secret_is_checked_against_the_store"
            ),
        ),
    ),
    Mistake(
        name="value-shown-after-its-time",
        promise="A cache shows nothing whose time is over.",
        source="ADR 0021",
        file="gateway/process/cache.py",
        right="await self._values.set(key, tuple(parts), ttl=ttl_s)",
        wrong="await self._values.set(key, tuple(parts))",
        tests=((f"{_UNIT}/process/test_cache.py::test_an_expired_value_frees_its_memory"),),
    ),
    Mistake(
        name="mail-address-in-the-log",
        promise="A mail that waits is logged without the server's words, which may name a person.",
        source="docs/operations.md",
        file="gateway/identity/mail.py",
        right='_log.warning("mail waits: %s", type(problem).__name__)',
        wrong='_log.warning("mail waits: %s", problem)',
        tests=(
            (
                f"{_UNIT}/identity/test_mail.py"
                "::test_refused_mail_waits_five_minutes_while_other_mail_is_sent"
            ),
        ),
    ),
    Mistake(
        name="account-of-a-stranger-logged",
        promise="The account that a stranger asked for is not kept with the request.",
        source="docs/operations.md",
        file="gateway/request_log/writer.py",
        right='account_id=record.account_id if record.client_id or record.user_id else "",',
        wrong="account_id=record.account_id,",
        tests=(
            (
                f"{_UNIT}/request_log/test_writer.py"
                "::test_an_account_named_by_an_unauthorized_caller_is_not_kept"
            ),
        ),
    ),
    Mistake(
        name="watchdog-fed-too-late",
        promise="The watchdog of systemd is fed twice in its time.",
        source="ADR 0043",
        file="gateway/process/systemd.py",
        right="/ 2e6 if is_ours",
        wrong="/ 1e6 if is_ours",
        tests=(
            (
                f"{_UNIT}/process/test_systemd.py"
                "::test_the_watchdog_is_notified_twice_per_interval_while_the_loop_runs"
            ),
        ),
    ),
)

"""Files of payouts: read strictly, approved by another person, each row paid once."""

from __future__ import annotations

from tests.mistakes.mistake import Mistake

_READING = "tests/unit/gateway/batches/test_reading.py"
_STORES = "tests/contract/stores/test_batches.py"
_KILLED = "test_a_worker_that_is_killed_after_the_bank_has_a_payout_does_not_pay_it_again"
_CANCELLED = "test_the_rest_of_a_file_is_cancelled_by_its_maker_or_with_the_right_to_stop_payouts"
_STORED_LATER = "test_a_row_whose_payout_is_stored_after_its_file_was_cancelled_is_what_that_is"
_ALL_DECIDED = "test_a_file_is_done_when_it_is_decided_what_became_of_every_payout"
_LEARNS_NOTHING = "test_users_who_may_not_approve_see_no_earlier_payouts_to_a_number"
_REFUSED = "        except ServiceError as refusal:\n"
_PAGE = "docs/batches.md"

ROWS = (
    Mistake(
        name="row-paid-twice-on-resume",
        promise="The reference of a row is fixed when the file is read, so it is paid once.",
        source=_PAGE,
        file="gateway/batches/worker.py",
        right="order = replace(self.payout(row), date=batch.day or self.now().date())",
        wrong=(
            "order = replace(self.payout(row), date=batch.day or self.now().date(),"
            ' reference=f"{row.reference}-{row.state}")'
        ),
        tests=(f"{_STORES}::{_KILLED}",),
    ),
    Mistake(
        name="maker-approves-the-file",
        promise="Another person than whoever uploaded a file approves it.",
        source=_PAGE,
        file="gateway/batches/service.py",
        right="if batch.made_by != person.user_id:",
        wrong="if False:",
        tests=(f"{_STORES}::test_nobody_approves_their_own_file_and_only_its_maker_orders_it",),
    ),
    Mistake(
        name="maker-lets-a-held-file-go-on",
        promise="Another person than whoever uploaded a held file lets it go on.",
        source=_PAGE,
        file="gateway/batches/service.py",
        right="if batch.made_by == person.user_id:",
        wrong="if False:",
        tests=(f"{_STORES}::test_the_maker_of_a_held_file_does_not_let_it_go_on",),
    ),
    Mistake(
        name="same-file-twice-at-once",
        promise="Of the same file uploaded twice at once, one upload is taken.",
        source=_PAGE,
        file="gateway/batches/store.py",
        right="                await _refuse_same_file(connection, batch)",
        wrong="                pass",
        tests=(f"{_STORES}::test_of_the_same_file_twice_at_once_one_upload_is_taken",),
    ),
    Mistake(
        name="ambiguous-amount-is-guessed",
        promise="An amount that can be read in two ways is refused with its row.",
        source=_PAGE,
        file="gateway/batches/reading.py",
        right='raise _Refused(Fault.AMOUNT_TWO_WAYS, number, "value")',
        wrong="return Number(f\"{bare.replace('.', '').replace(',', '')}.00\")",
        tests=(f"{_READING}::test_an_amount_that_may_mean_two_things_or_none_is_refused",),
    ),
    Mistake(
        name="two-rows-of-one-reference",
        promise="Two rows of one reference are refused.",
        source=_PAGE,
        file="gateway/batches/reading.py",
        right="if first != number:",
        wrong="if False:",
        tests=(f"{_READING}::test_two_rows_of_one_reference_are_refused",),
    ),
    Mistake(
        name="bad-row-is-left-out",
        promise="A file with a bad row is refused as a whole.",
        source=_PAGE,
        file="gateway/batches/reading.py",
        right="        if problems:\n            return ReadFile(problems=problems)\n",
        wrong="",
        tests=(f"{_STORES}::test_a_file_with_one_bad_row_is_refused_as_a_whole",),
    ),
    Mistake(
        name="cancelled-file-goes-on",
        promise="Rows that nobody began are never paid once the file is cancelled.",
        source=_PAGE,
        file="gateway/batches/store.py",
        right="                .values(state=_OF_ENDED, code=code)",
        wrong="                .values(code=code)",
        tests=(f"{_STORES}::{_CANCELLED}",),
    ),
    Mistake(
        name="cancelled-row-forgets-its-payout",
        promise="A cancelled row whose payout is stored later is what became of that.",
        source=_PAGE,
        file="gateway/batches/store.py",
        right="from_ = _BEGUN if state is RowState.ORDERED else _ORDERING",
        wrong="from_ = _ORDERING",
        tests=(f"{_STORES}::{_STORED_LATER}",),
    ),
    Mistake(
        name="cancelled-row-that-was-tried-has-no-payout",
        promise="A row that was tried before its file was cancelled is what becomes of its payout.",
        source=_PAGE,
        file="gateway/batches/store.py",
        right="    (batch_rows.c.began_at.is_(None), RowState.CANCELLED.value), else_=",
        wrong="    (batch_rows.c.number > 0, RowState.CANCELLED.value), else_=",
        tests=(f"{_STORES}::test_a_cancelled_row_that_was_tried_is_what_becomes_of_its_payout",),
    ),
    Mistake(
        name="stop-only-delays-a-file",
        promise="A stop holds the rest of a file until another person lets it go on.",
        source=_PAGE,
        file="gateway/batches/worker.py",
        right=f"{_REFUSED}            await self._hold(batch, refusal.reason)\n",
        wrong=_REFUSED,
        tests=(f"{_STORES}::test_a_stop_holds_the_rest_until_another_person_lets_it_go_on",),
    ),
    Mistake(
        name="file-tells-whom-the-company-paid",
        promise="Earlier payouts to a file's recipients are told to people who may approve alone.",
        source="docs/adr/0071-what-reads-tell-is-counted.md",
        file="gateway/batches/service.py",
        right="return every if who.may(_APPROVES) and not _is_maker(who, batch) else",
        wrong="return every if not _is_maker(who, batch) else",
        tests=(f"{_STORES}::{_LEARNS_NOTHING}",),
    ),
    Mistake(
        name="file-approver-had-no-hand",
        promise="Who approved a file had a hand in its payouts.",
        source="docs/outflow.md",
        file="gateway/approvals/store.py",
        right="    return approved, let_go_on",
        wrong="    return (let_go_on,)",
        tests=(f"{_STORES}::test_the_approver_of_a_file_had_a_hand_in_its_payouts",),
    ),
    Mistake(
        name="who-lets-a-file-go-on-reviews-its-payouts",
        promise="Whoever let a held file go on had a hand in its payouts.",
        source=_PAGE,
        file="gateway/approvals/store.py",
        right="    return approved, let_go_on",
        wrong="    return (approved,)",
        tests=(f"{_STORES}::test_people_who_resumed_a_file_count_as_involved_in_its_payouts",),
    ),
    Mistake(
        name="who-let-a-file-go-on-first-is-forgotten",
        promise="Everybody who let a held file go on had a hand in its payouts, not only the last.",
        source=_PAGE,
        file="gateway/batches/store.py",
        right="people = tuple(dict.fromkeys((*held.resumed_by, user_id)))",
        wrong="people = (user_id,)",
        tests=(f"{_STORES}::test_people_who_resumed_a_file_count_as_involved_in_its_payouts",),
    ),
    Mistake(
        name="text-of-a-header-repeated",
        promise="A name in the header that could not be one of ours is named by its place.",
        source="gateway/batches/reading.py",
        file="gateway/batches/reading.py",
        right='like_ours(each) or f"{COLUMN} {place}"',
        wrong="each",
        tests=(f"{_READING}::test_a_file_that_is_no_table_of_payouts_is_refused",),
    ),
    Mistake(
        name="late-failure-without-its-code",
        promise="The code of a row is that of its payout's failure.",
        source=_PAGE,
        file="gateway/batches/store.py",
        right="return self.failure if has_failed else self.row.code",
        wrong="return self.row.code",
        tests=(f"{_STORES}::test_a_row_whose_payout_failed_later_has_the_code_of_the_failure",),
    ),
    Mistake(
        name="file-done-while-payouts-are-at-the-bank",
        promise="A file is done when it is decided what became of every payout.",
        source=_PAGE,
        file="gateway/batches/store.py",
        right="if each in MAY_MOVE_MONEY - FINAL_STATES",
        wrong="if each is PayoutState.UNKNOWN",
        tests=(f"{_STORES}::{_ALL_DECIDED}",),
    ),
    Mistake(
        name="payout-in-review-shown-as-sent",
        promise="A payout in review is shown as one that needs opinions.",
        source=_PAGE,
        file="gateway/batches/model.py",
        right="            if in_review:\n                return Progress.REVIEW\n",
        wrong="",
        tests=(f"{_STORES}::{_ALL_DECIDED}",),
    ),
    Mistake(
        name="approver-of-a-file-releases-its-holds",
        promise="Whoever approved a file or let it go on may not release its held payouts.",
        source=_PAGE,
        file="gateway/payouts/holds.py",
        right='return "own_file" if person.user_id in people else ""',
        wrong='return ""',
        tests=(f"{_STORES}::test_people_who_approved_or_resumed_a_file_may_not_release_its_holds",),
    ),
    Mistake(
        name="drafts-without-a-bound",
        promise="A company has at most 20 files that were not ordered.",
        source=_PAGE,
        file="gateway/batches/store.py",
        right="                await _refuse_many(connection, batch)\n",
        wrong="",
        tests=(f"{_STORES}::test_a_company_has_twenty_files_that_were_not_ordered_at_most",),
    ),
    Mistake(
        name="draft-forgotten-while-it-begins",
        promise="A file that begins while old drafts are deleted is carried out.",
        source=_PAGE,
        file="gateway/batches/store.py",
        right="old.limit(_FORGOTTEN_AT_ONCE).with_for_update()",
        wrong="old.limit(_FORGOTTEN_AT_ONCE)",
        tests=(f"{_STORES}::test_a_draft_that_begins_while_drafts_are_forgotten_stays",),
    ),
)

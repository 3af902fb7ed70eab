"""The archive: old payouts leave for files, and their references are never paid again."""

from __future__ import annotations

from tests.mistakes.mistake import Mistake

_SERVICE = "tests/unit/gateway/archive/test_service.py"
_STORE = "tests/contract/stores/test_archive.py"
_PAGE = "docs/archive.md"
_DECIDED = "ADR 0072, docs/archive.md"

ROWS = (
    Mistake(
        name="archived-reference-is-new",
        promise="The reference of an archived payout is not paid again.",
        source="contract 2.6, ADR 0072",
        file="gateway/payouts/writes.py",
        right='each_of(ARCHIVED, archived, "keys")',
        wrong='each_of(ARCHIVED, archived, "keys").where(ARCHIVED.selected_columns.review)',
        tests=(f"{_SERVICE}::test_a_repetition_gets_the_stored_answer_and_pays_nothing",),
    ),
    Mistake(
        name="archive-deletes-before-proof",
        promise="A file is read back and compared with the database before anything is deleted.",
        source=_DECIDED,
        file="gateway/archive/service.py",
        right="if not await self.records.are_stored(account_id, batch):",
        wrong="if not batch:",
        tests=(f"{_STORE}::test_a_draft_that_cannot_be_read_back_deletes_nothing",),
    ),
    Mistake(
        name="archive-deletes-what-changed",
        promise="A payout that changed after its file was proven stays.",
        source=_PAGE,
        file="gateway/archive/store.py",
        right="if written[row.reference_sha256] == by_digest[row.reference_sha256]",
        wrong="if row.reference_sha256 in by_digest",
        tests=(f"{_STORE}::test_a_payout_that_changed_after_the_proof_stays",),
    ),
    Mistake(
        name="archive-trusts-a-changed-file",
        promise="Nothing is deleted by a file that is not the one that was proven.",
        source=_PAGE,
        file="gateway/archive/folder.py",
        right="        if _sha256(path) != file.sha256:\n",
        wrong="        if not file.sha256:\n",
        tests=(f"{_STORE}::test_nothing_is_deleted_by_a_file_that_was_damaged",),
    ),
    Mistake(
        name="unsettled-payout-archived",
        promise="A payout without a final state stays in the database.",
        source=_DECIDED,
        file="gateway/archive/store.py",
        right="        payouts.c.state.in_(sorted(FINAL_STATES)),\n",
        wrong="",
        tests=(f"{_STORE}::test_a_payout_that_is_not_at_rest_stays",),
    ),
    Mistake(
        name="noted-file-is-forgotten",
        promise="A run that was killed doubles no payout in the files.",
        source=_PAGE,
        file="gateway/archive/service.py",
        right="for file in await self.records.begun():\n                say",
        wrong="for file in []:\n                say",
        tests=(f"{_STORE}::test_a_run_that_ends_anywhere_loses_and_doubles_nothing",),
    ),
)

"""Recipients paid before: read from payouts, masked, and filled in by the gateway."""

from __future__ import annotations

from tests.mistakes.mistake import Mistake

_SOURCE = "docs/adr/0085-recipients-are-read-from-payouts.md"
_FILE = "gateway/payouts/recipients.py"
_MIGRATION = "gateway/store/migrations/versions/0001_first.py"
_STORES = "tests/contract/stores/test_recipients.py"
_UPDATES = "tests/contract/stores/test_payout_updates.py"
_PAGES = "tests/surfaces/panel/pages/test_recipients.py"
_BY_NAME = "test_recipients_are_found_by_name_or_cnpj_and_never_by_a_cpf_or_a_key"
_PEOPLE = "test_whom_people_paid_is_found_behind_very_many_payouts_of_partners"

ROWS = (
    Mistake(
        name="chosen-recipient-replaced-by-typed-fields",
        promise="What a browser sends beside a chosen recipient does not count.",
        source=_SOURCE,
        file="gateway/payouts/order_pages.py",
        right='        if not visit.form["again"]:\n',
        wrong='        if not visit.form["again"] or visit.form["key"]:\n',
        tests=(f"{_PAGES}::test_a_chosen_recipient_cannot_be_changed_by_other_fields",),
    ),
    Mistake(
        name="recipients-of-other-accounts",
        promise="Only recipients whom the account itself paid are listed.",
        source=_SOURCE,
        file=_FILE,
        right="own = (payouts.c.account_id == account.id, payouts.c.created_at >= since)",
        wrong="own = (payouts.c.created_at >= since,)",
        tests=(f"{_STORES}::test_only_recipients_whom_the_account_paid_are_listed",),
    ),
    Mistake(
        name="recipients-with-whole-cpf",
        promise="A person's tax number and key are masked in the list of recipients.",
        source=_SOURCE,
        file=_FILE,
        right="name: text for name, text in hidden_destination({**to, **sent}).items() if text",
        wrong="name: text for name, text in {**to, **sent}.items() if text",
        tests=(f"{_STORES}::test_no_whole_cpf_is_in_what_is_listed",),
    ),
    Mistake(
        name="recipient-found-by-a-cpf",
        promise="Recipients are never found by a CPF.",
        source=_SOURCE,
        file=_FILE,
        right="        if number and strict.hidden_tax_number(number) == number:\n",
        wrong="        if number:\n",
        tests=(f"{_STORES}::{_BY_NAME}",),
    ),
    Mistake(
        name="recipient-of-a-failed-payout-chosen",
        promise="A recipient is chosen by a payout that was paid.",
        source=_SOURCE,
        file=_FILE,
        right=" or payout.archived or payout.state is not PayoutState.PAID:",
        wrong=" or payout.archived:",
        tests=(f"{_STORES}::test_a_chosen_recipient_is_that_of_a_payout_that_was_paid",),
    ),
    Mistake(
        name="refusal-since-the-last-payout-not-told",
        promise="A payout that was refused after the last paid one is told.",
        source=_SOURCE,
        file=_FILE,
        right="row.refused_at is not None and row.refused_at > row.created_at",
        wrong="row.refused_at is not None and row.refused_at < row.created_at",
        tests=(f"{_STORES}::test_changes_of_a_recipient_paid_before_are_shown",),
    ),
    Mistake(
        name="other-owner-of-a-chosen-key-not-told",
        promise="The owner of a chosen recipient's key is compared with the owner then.",
        source=_SOURCE,
        file=_FILE,
        right="            changed.append(RecipientChange.OTHER_OWNER)\n",
        wrong="            pass\n",
        tests=(f"{_STORES}::test_the_owner_of_a_key_is_compared_with_the_owner_then",),
    ),
    Mistake(
        name="people-s-recipients-behind-those-of-programs",
        promise="Whom people paid is found behind very many payouts of programs.",
        source=_SOURCE,
        file=_FILE,
        right="found = _recipients(_newest(*own), _newest_by_people(account.id, since))",
        wrong="found = _recipients(_newest(*own))",
        tests=(f"{_STORES}::{_PEOPLE}",),
    ),
    Mistake(
        name="people-s-payouts-of-other-accounts",
        promise="Only recipients whom the account itself paid are listed.",
        source=_SOURCE,
        file=_FILE,
        right=".where(index.account_id == account_id, index.created_at >= since)",
        wrong=".where(index.created_at >= since)",
        tests=(f"{_STORES}::test_only_recipients_whom_the_account_paid_are_listed",),
    ),
    Mistake(
        name="programs-in-the-index-of-people-s-payouts",
        promise="What a partner's program pays is not in the index of people's payouts.",
        source=_SOURCE,
        file=_MIGRATION,
        right="_PERSON: Final = \"substr({row}.client_id, 1, 5) = 'user:'\"",
        wrong="_PERSON: Final = \"substr({row}.client_id, 1, 5) <> ''\"",
        tests=(f"{_UPDATES}::test_the_index_of_payouts_by_people_holds_only_their_orders",),
    ),
    Mistake(
        name="deleted-payout-left-in-the-index-of-people-s",
        promise="A payout that is deleted is in none of the tables that serve as indexes.",
        source=_SOURCE,
        file=_MIGRATION,
        right='    "DELETE FROM payouts_by_people WHERE account_id = OLD.account_id "\n',
        wrong='    "DELETE FROM payouts_by_people WHERE account_id = OLD.provider_key "\n',
        tests=(f"{_UPDATES}::test_deleting_a_payout_deletes_it_in_every_index",),
    ),
    Mistake(
        name="eleventh-index-of-payouts",
        promise="Payouts have ten indexes at most.",
        source=_SOURCE,
        file=_MIGRATION,
        right='            "method created_at",',
        wrong='            "method created_at", "settled_at",',
        tests=(f"{_UPDATES}::test_no_more_than_ten_indexes_are_written_with_a_payout",),
    ),
)

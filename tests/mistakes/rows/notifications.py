"""What people and chats are told outside the panel: whom, when, once, and without content."""

from __future__ import annotations

from tests.mistakes.mistake import Mistake

_STORE = "tests/contract/stores/test_notifications.py"
_SCHEDULE = "tests/unit/gateway/notifications/test_schedule.py"
_TEXTS = "tests/unit/gateway/notifications/test_texts.py"
_PAGE = "docs/notifications.md"

ROWS = (
    Mistake(
        name="told-by-the-rights-of-the-evening",
        promise="A person is told by the rights that they have when the message is written.",
        source=_PAGE,
        file="gateway/notifications/watch.py",
        right="await recipient.concerned([each for each in occasions if each.key in keys])",
        wrong="[each for each in occasions if each.key in keys]",
        tests=(f"{_STORE}::test_a_person_who_lost_the_right_in_the_night_is_not_notified",),
    ),
    Mistake(
        name="what-is-over-waits-for-ever",
        promise="A notification whose occasion no longer holds ends.",
        source=_PAGE,
        file="gateway/notifications/watch.py",
        right="await self.records.drop([each for each in due if each.key not in holding])",
        wrong="pass",
        tests=(f"{_STORE}::test_an_order_decided_in_the_night_is_not_notified",),
    ),
    Mistake(
        name="orders-of-other-companies-told",
        promise="A person is told only of companies that they see.",
        source=_PAGE,
        file="gateway/notifications/occasions.py",
        right="if _sees(who.scope, each, own=each.kind is Kind.SECRET)",
        wrong="if True",
        tests=(f"{_STORE}::test_an_order_is_mailed_once_to_each_person_who_can_decide_it",),
    ),
    Mistake(
        name="mailed-without-the-end-of-the-row",
        promise="Two processes that mail the same at once mail it once.",
        source=_PAGE,
        file="gateway/notifications/store.py",
        right="    return (await connection.execute(change)).rowcount == len(ids)\n",
        wrong="    await connection.execute(change)\n    return True\n",
        tests=(f"{_STORE}::test_a_mail_whose_notifications_have_ended_is_not_stored",),
    ),
    Mistake(
        name="quiet-hours-not-kept",
        promise="What is not urgent waits for the morning.",
        source=_PAGE,
        file="gateway/notifications/schedule.py",
        right="return now if span is None else span.until",
        wrong="return now",
        tests=(
            f"{_SCHEDULE}::test_occasions_that_are_not_urgent_wait_for_the_morning_or_the_evening",
            f"{_STORE}::test_notifications_of_the_night_are_one_mail_with_one_link",
        ),
    ),
    Mistake(
        name="order-over-before-it-is-told",
        promise="What ends before it would be told is told at once.",
        source=_PAGE,
        file="gateway/notifications/schedule.py",
        right="occasion.ends_at <= due else due",
        wrong="occasion.ends_at <= now else due",
        tests=(
            f"{_SCHEDULE}::test_an_order_that_ends_before_its_notification_is_due_is_notified_at_once",
            f"{_STORE}::test_an_order_that_ends_before_the_morning_is_notified_in_the_night",
        ),
    ),
    Mistake(
        name="end-of-an-outage-told-to-everybody",
        promise="The end of an outage is told to people who were told of its beginning.",
        source=_PAGE,
        file="gateway/notifications/occasions.py",
        right="or not occasion.record or occasion.record[0] in told",
        wrong="or True",
        tests=(
            f"{_STORE}::test_the_end_of_an_outage_notifies_the_people_notified_of_its_beginning",
        ),
    ),
    Mistake(
        name="chat-told-of-another-company",
        promise="A company's chat is told of that company alone.",
        source=_PAGE,
        file="gateway/notifications/occasions.py",
        right="if (company_id is None or company_id in each.companies) and",
        wrong="if",
        tests=(f"{_STORE}::test_a_chat_is_notified_of_its_company_without_amount_and_name",),
    ),
    Mistake(
        name="claim-of-a-chat-not-held",
        promise="A message to a chat is claimed by one process until its claim ends.",
        source=_PAGE,
        file="gateway/notifications/store.py",
        right=".where(_N.id.in_([each.id for each in wanted]), WAITS, _free(now))",
        wrong=".where(_N.id.in_([each.id for each in wanted]), WAITS)",
        tests=(f"{_STORE}::test_a_claim_is_held_by_one_process_until_it_ends",),
    ),
    Mistake(
        name="limited-admin-adds-the-operators-chat",
        promise="Only an administrator without a limit adds the operators' chat.",
        source=_PAGE,
        file="gateway/notifications/service.py",
        right="elif who.scope.everything:",
        wrong="else:",
        tests=(f"{_STORE}::test_chats_are_within_the_companies_of_who_adds_them",),
    ),
    Mistake(
        name="message-of-one-browser-for-another",
        promise="A push message is encrypted for one browser by its secret.",
        source="RFC 8291, 3.3",
        file="gateway/security/webpush.py",
        right="_derived(shared, to.auth, b",
        wrong="_derived(shared, bytes(16), b",
        tests=(
            (
                "tests/unit/gateway/security/test_webpush.py"
                "::test_the_example_of_rfc_8291_is_encrypted_as_it_shows"
            ),
            f"{_STORE}::test_each_browser_of_a_person_is_pushed_what_it_alone_can_read",
        ),
    ),
    Mistake(
        name="ended-subscription-kept",
        promise="404 and 410 end a subscription.",
        source="RFC 8030, 7.3",
        file="gateway/notifications/push.py",
        right="if outcome.status in _ENDED:",
        wrong="if False:",
        tests=(f"{_STORE}::test_a_subscription_that_ended_is_forgotten",),
    ),
    Mistake(
        name="subscription-of-somebody-else-removed",
        promise="A person removes their own browsers alone.",
        source=_PAGE,
        file="gateway/notifications/subscriptions.py",
        right="own = (_S.id == subscription_id, _S.user_id == user_id)",
        wrong="own = (_S.id == subscription_id,)",
        tests=(f"{_STORE}::test_an_unusable_subscription_is_refused",),
    ),
    Mistake(
        name="text-sent-to-teams",
        promise="Teams is sent a message with a card.",
        source=_PAGE,
        file="gateway/notifications/texts.py",
        right="if form is ChatFormat.TEXT:",
        wrong="if form is not None:",
        tests=(f"{_TEXTS}::test_teams_takes_a_message_with_a_card",),
    ),
    Mistake(
        name="review-told-after-a-month",
        promise="An occasion is told for 30 days at most, also after a long stop.",
        source=_PAGE,
        file="gateway/notifications/occasions.py",
        right=", payouts.c.updated_at > now - LOOKS_BACK)",
        wrong=")",
        tests=(f"{_STORE}::test_occasions_older_than_thirty_days_are_not_notified",),
    ),
    Mistake(
        name="outage-told-after-a-month",
        promise="An outage is told for 30 days at most, also after a long stop.",
        source=_PAGE,
        file="gateway/notifications/outages.py",
        right=", _O.since > now - LOOKS_BACK\n",
        wrong="\n",
        tests=(f"{_STORE}::test_occasions_older_than_thirty_days_are_not_notified",),
    ),
    Mistake(
        name="each-order-a-message",
        promise="Orders that come up within a minute of a message come together.",
        source=_PAGE,
        file="gateway/notifications/watch.py",
        right="after_others(due, occasion.ends_at, now, told)",
        wrong="due",
        tests=(f"{_STORE}::test_orders_of_one_minute_are_two_mails",),
    ),
    Mistake(
        name="order-waits-for-one-that-was-dropped",
        promise="What was not told delays nothing.",
        source=_PAGE,
        file="gateway/notifications/store.py",
        right="about_now, counts)",
        wrong="about_now)",
        tests=(f"{_STORE}::test_an_order_after_a_dropped_notification_is_notified_at_once",),
    ),
    Mistake(
        name="chat-of-another-company-tried",
        promise="A chat is tried and removed by people who see its company alone.",
        source=_PAGE,
        file="gateway/notifications/service.py",
        right="(each for each in await self.list(who) if",
        wrong="(each for each in await self.records.every() if",
        tests=(f"{_STORE}::test_a_test_message_says_whether_a_chat_takes_messages",),
    ),
)

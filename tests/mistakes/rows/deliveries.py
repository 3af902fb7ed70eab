"""Deliveries: at least once, signed, to public addresses alone, and none that holds others up."""

from __future__ import annotations

from tests.mistakes.mistake import Mistake

_STORE = "tests/contract/stores/test_deliveries.py"
_SENDER = "tests/unit/gateway/deliveries/test_sender.py"
_WORKER = "tests/unit/gateway/deliveries/test_worker.py"
_PLACES = "tests/unit/gateway/deliveries/test_places.py"
_SCHEDULE = "tests/unit/gateway/deliveries/test_schedule.py"
_WATCH = "tests/unit/gateway/deliveries/test_watch.py"
_PAGE = "docs/events.md"
_ADR = "docs/adr/0075-deliveries-at-least-once.md"

ROWS = (
    Mistake(
        name="delivery-follows-a-redirect",
        promise="A redirect is a failure and is not followed.",
        source=_PAGE,
        file="gateway/deliveries/sender.py",
        right="allow_redirects=False",
        wrong="allow_redirects=True",
        tests=(f"{_SENDER}::test_a_redirect_is_never_followed",),
    ),
    Mistake(
        name="delivery-to-an-inner-address",
        promise="Each connection is made to a public address alone.",
        source=_ADR,
        file="gateway/deliveries/sender.py",
        right="if not is_public(found) and not (self._config.allow_local and found.is_loopback):",
        wrong="if found.is_multicast:",
        tests=(f"{_SENDER}::test_a_name_that_leads_inward_is_never_connected_to",),
    ),
    Mistake(
        name="local-deliveries-reach-every-inner-address",
        promise="The setting for trials admits this machine and no other private address.",
        source=_ADR,
        file="gateway/deliveries/sender.py",
        right="(self._config.allow_local and found.is_loopback)",
        wrong="self._config.allow_local",
        tests=(
            f"{_SENDER}::test_this_machine_is_called_where_the_settings_say_so_and_no_other_private_address",
        ),
    ),
    Mistake(
        name="delivery-by-a-proxy-of-the-environment",
        promise="No proxy is taken from the environment.",
        source=_PAGE,
        file="gateway/deliveries/sender.py",
        right="trust_env=False",
        wrong="trust_env=True",
        tests=(f"{_SENDER}::test_no_proxy_of_the_environment_is_used",),
    ),
    Mistake(
        name="endpoint-called-by-rules-that-no-longer-admit-it",
        promise="The endpoint's address is read again by the rules at each try.",
        source=_ADR,
        file="gateway/deliveries/sender.py",
        right="read_address(url, allow_local=self._config.allow_local)",
        wrong="read_address(url, allow_local=True)",
        tests=(f"{_SENDER}::test_an_address_that_breaks_the_rules_by_now_is_not_called",),
    ),
    Mistake(
        name="delivery-signed-with-the-time-of-the-event",
        promise="The time that is signed is that of the try.",
        source=_PAGE,
        file="gateway/deliveries/sender.py",
        right="map(secret_bytes, secrets), delivery.event_id, at, body)",
        wrong="map(secret_bytes, secrets), delivery.event_id, delivery.at, body)",
        tests=(f"{_SENDER}::test_the_time_that_is_signed_is_that_of_the_try",),
    ),
    Mistake(
        name="delivery-signed-with-one-of-two-secrets",
        promise="Both secrets sign while one is rotated.",
        source=_PAGE,
        file="gateway/security/webhooks.py",
        right='"webhook-signature": " ".join(f"v1,{each}" for each in made),',
        wrong='"webhook-signature": f"v1,{next(made)}",',
        tests=(f"{_SENDER}::test_both_secrets_sign_while_one_is_rotated",),
    ),
    Mistake(
        name="endpoint-that-is-gone-is-not-paused",
        promise="410 pauses the endpoint at once.",
        source=_PAGE,
        file="gateway/deliveries/worker.py",
        right="return DeliveryState.FAILED, None, DeliveryOutcome.GONE",
        wrong="return DeliveryState.WAITING, self._work.now(), DeliveryOutcome.GONE",
        tests=(f"{_WORKER}::test_410_pauses_the_endpoint_at_once",),
    ),
    Mistake(
        name="event-of-a-callback-waits-for-a-look",
        promise="Whoever processes a callback wakes the worker of deliveries.",
        source=_ADR,
        file="gateway/app/background.py",
        right="        processed=deliveries.wake,\n",
        wrong="",
        tests=(
            (
                "tests/surfaces/banking/test_deliveries.py"
                "::test_an_event_of_a_callback_is_delivered_without_waiting_for_the_next_look"
            ),
        ),
    ),
    Mistake(
        name="claim-of-a-delivery-without-an-end",
        promise="A worker that dies leaves its deliveries to another.",
        source=_ADR,
        file="gateway/deliveries/store.py",
        right='"until": now + CLAIM}',
        wrong='"until": now + 9 * CLAIM}',
        tests=(
            f"{_STORE}::test_what_is_due_is_claimed_once_and_again_after_the_claim",
            f"{_WORKER}::test_a_worker_that_is_killed_between_answer_and_note_leaves_it_to_another",
        ),
    ),
    Mistake(
        name="delivery-claimed-by-two",
        promise="A delivery is claimed by one worker at a time.",
        source=_ADR,
        file="gateway/deliveries/store.py",
        right="_DUE: Final = (_WAITING, _D.next_at <= _AT, _FREE)",
        wrong="_DUE: Final = (_WAITING, _D.next_at <= _AT)",
        tests=(f"{_STORE}::test_what_is_due_is_claimed_once_and_again_after_the_claim",),
    ),
    Mistake(
        name="more-than-four-deliveries-of-an-endpoint",
        promise="All processes together send four deliveries to an endpoint at once.",
        source=_ADR,
        file="gateway/deliveries/store.py",
        right="min(share, MOST_OF_ENDPOINT - held)",
        wrong="min(share, MOST_OF_ENDPOINT)",
        tests=(f"{_STORE}::test_all_processes_together_claim_four_of_an_endpoint",),
    ),
    Mistake(
        name="result-noted-without-the-claim",
        promise="A try is noted under its claim alone.",
        source=_ADR,
        file="gateway/deliveries/store.py",
        right='    _D.claimed_by == bindparam("of_owner"),\n    _D.claimed_until ==',
        wrong="    _D.claimed_until.is_not(None),\n    _D.claimed_until >=",
        tests=(f"{_STORE}::test_a_process_that_lost_its_claim_notes_nothing",),
    ),
    Mistake(
        name="body-written-anew-at-each-try",
        promise="The body is stored and sent unchanged at each try.",
        source=_PAGE,
        file="gateway/deliveries/store.py",
        right="[each if each.body is not None else _with_body(each) for each in found]",
        wrong="[_with_body(each) for each in found]",
        tests=(f"{_STORE}::test_the_body_is_the_document_of_the_feed_and_stays_the_same",),
    ),
    Mistake(
        name="events-to-an-endpoint-that-did-not-answer",
        promise="A pending endpoint is told nothing but pings.",
        source=_PAGE,
        file="gateway/deliveries/store.py",
        right="if len(found) < most and (pings or endpoint.state is EndpointState.ACTIVE):",
        wrong="if len(found) < most:",
        tests=(f"{_STORE}::test_an_endpoint_that_is_not_active_is_sent_pings_alone",),
    ),
    Mistake(
        name="events-to-endpoints-of-other-accounts",
        promise="An endpoint is told of the accounts that it names.",
        source=_PAGE,
        file="gateway/store/migrations/versions/0001_first.py",
        right="\"OR ' ' || endpoints.account_ids || ' ' LIKE '% ' || NEW.account_id || ' %')\"",
        wrong="\"OR ' ' || endpoints.account_ids || ' ' LIKE '% ' || '%')\"",
        tests=(f"{_STORE}::test_an_event_is_for_each_endpoint_that_wants_it",),
    ),
    Mistake(
        name="endpoint-that-hangs-takes-four-places-at-first",
        promise="An endpoint begins with one place.",
        source=_ADR,
        file="gateway/deliveries/places.py",
        right="    allowed: int = 1\n",
        wrong="    allowed: int = MOST_OF_ENDPOINT\n",
        tests=(
            f"{_WORKER}::test_an_endpoint_that_hangs_holds_no_other_up",
            f"{_PLACES}::test_an_endpoint_has_one_place_at_first_and_four_after_successes",
        ),
    ),
    Mistake(
        name="failing-endpoints-take-every-place",
        promise="Failing endpoints share 16 places.",
        source=_ADR,
        file="gateway/deliveries/places.py",
        right="rests = now < one.quiet_until or (one.failures > 0 and failing <= 0)",
        wrong="rests = now < one.quiet_until",
        tests=(f"{_PLACES}::test_failing_endpoints_share_a_quarter_of_the_places",),
    ),
    Mistake(
        name="retry-after-for-days",
        promise="Retry-After is obeyed up to an hour.",
        source=_PAGE,
        file="gateway/deliveries/schedule.py",
        right="min(retry_after or planned, LONGEST_RETRY_AFTER)",
        wrong="retry_after or planned",
        tests=(f"{_SCHEDULE}::test_retry_after_is_obeyed_up_to_an_hour",),
    ),
    Mistake(
        name="ping-of-a-former-address-activates",
        promise="An answered ping activates the address that it was sent to.",
        source=_ADR,
        file="gateway/endpoints/store.py",
        right=", endpoints.c.url == endpoint.url)",
        wrong=")",
        tests=(
            f"{_WORKER}::test_a_ping_to_an_address_that_was_changed_meanwhile_activates_nothing",
        ),
    ),
    Mistake(
        name="failing-endpoint-is-never-paused",
        promise="An endpoint that has taken nothing for 72 hours is paused.",
        source=_PAGE,
        file="gateway/deliveries/watch.py",
        right="if not is_paused and failed_for >= GIVEN_UP_AFTER:",
        wrong="if not is_paused and failed_for >= 9 * GIVEN_UP_AFTER:",
        tests=(f"{_WATCH}::test_mail_tells_a_failure_after_an_hour_a_day_and_at_the_pause",),
    ),
    Mistake(
        name="deliveries-of-other-companies",
        promise="People see deliveries of their companies alone.",
        source="docs/people.md",
        file="gateway/deliveries/store.py",
        right="own = (_D.id == delivery_id, *of_company(_D.company_id, scope))",
        wrong="own = (_D.id == delivery_id,)",
        tests=(
            "tests/unit/gateway/deliveries/test_service.py::test_other_companies_see_nothing_and_send_nothing",
        ),
    ),
)

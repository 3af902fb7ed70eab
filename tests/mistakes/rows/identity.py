"""Identity: signing in, second factors, sessions, refreshes, recovery, rights."""

from __future__ import annotations

from tests.mistakes.mistake import Mistake

_BEARER = "tests/unit/policies/authentication/test_bearer.py"
_CHANGES = "tests/unit/gateway/identity/test_context.py"
_DEVICE_COOKIES = "tests/unit/gateway/identity/test_cookies.py"
_FACTORS = "tests/unit/gateway/identity/test_second_factors.py"
_HASHING = "tests/unit/gateway/identity/test_passwords.py"
_KEYRING = "tests/unit/gateway/identity/test_signing_keys.py"
_MAIL = "tests/unit/gateway/identity/test_mail.py"
_PASSKEYS = "tests/unit/gateway/identity/test_passkeys.py"
_REMOVAL = "tests/unit/gateway/identity/test_factor_removal.py"
_FIRST_ENDS = "test_the_first_passkey_ends_the_other_sessions_and_a_further_one_none"
_NOTIFIED = "tests/contract/stores/test_notifications.py"
_PASSKEYS_STORED = "tests/contract/stores/test_passkeys.py"
_PASSKEY_CHECK = "tests/unit/gateway/identity/test_passkey_check.py"
_WEBAUTHN = "tests/unit/gateway/identity/test_webauthn.py"
_PANEL_COOKIES = "tests/unit/gateway/identity/test_cookies_panel_cookies.py"
_PASSWORDS = "tests/unit/gateway/identity/test_password_changes.py"
_PASSWORD_CHECK = "tests/unit/gateway/identity/test_password_check.py"
_PERSON = "tests/unit/gateway/core/test_sessions.py"
_REAUTHENTICATION = "tests/unit/gateway/identity/test_reauthentication.py"
_RIGHTS = "tests/unit/gateway/core/test_rights.py"
_SESSIONS = "tests/unit/gateway/identity/test_sessions.py"
_SIGN_IN = "tests/unit/gateway/identity/test_sign_in.py"
_THROTTLING = "tests/unit/gateway/identity/test_throttling.py"
_TOTP = "tests/unit/gateway/identity/test_one_time_codes_totp.py"
_USERS = "tests/unit/gateway/identity/test_users.py"

ROWS = (
    Mistake(
        name="challenge-of-another-browser",
        promise="A challenge is answered in the browser that it was made in.",
        source="contract 2.9",
        file="gateway/identity/sign_in.py",
        right="if challenge is None or challenge.bound_to != client.bound_to:",
        wrong="if challenge is None:",
        tests=(f"{_SIGN_IN}::test_a_challenge_is_bound_to_its_browser",),
    ),
    Mistake(
        name="challenge-outlives-a-change",
        promise="A new password voids the challenges that the old one began.",
        source="contract 2.9",
        file="gateway/identity/sign_in.py",
        right="if user is None or not user.active or changed:",
        wrong="if user is None or not user.active:",
        tests=(f"{_SIGN_IN}::test_a_change_of_the_user_invalidates_their_challenges",),
    ),
    Mistake(
        name="challenge-used-by-two",
        promise="Of two right codes at once for one challenge, one signs in.",
        source="contract 4.2",
        file="gateway/identity/sign_in.py",
        right=(
            "        if not await stores.challenges.use(digest, now):\n"
            '            raise ServiceError(MFA_EXPIRED, "challenge_used")\n'
        ),
        wrong="        await stores.challenges.use(digest, now)\n",
        tests=(f"{_SIGN_IN}::test_of_two_concurrent_right_codes_one_signs_in",),
    ),
    Mistake(
        name="passkey-without-verification",
        promise="A passkey counts if the authenticator has verified its user.",
        source="ADR 81",
        file="gateway/identity/webauthn.py",
        right='"user_verification": "required"}',
        wrong='"user_verification": "preferred"}',
        tests=(f"{_WEBAUTHN}::test_a_wrong_use_is_refused",),
    ),
    Mistake(
        name="passkey-of-a-subdomain",
        promise="A passkey is used on a page of the panel's own origin.",
        source="ADR 81",
        file="gateway/identity/webauthn.py",
        right="verify_origin=lambda origin: origin == self.origin,",
        wrong="",
        tests=(f"{_WEBAUTHN}::test_a_wrong_use_is_refused",),
    ),
    Mistake(
        name="passkey-challenge-replayed",
        promise="The challenge of a passkey works once.",
        source="ADR 81",
        file="gateway/identity/passkey_check.py",
        right=(
            "        if not await self.context.stores.challenges.add_used(used):\n"
            "            raise _refused()\n"
        ),
        wrong="        await self.context.stores.challenges.add_used(used)\n",
        tests=(f"{_PASSKEY_CHECK}::test_a_challenge_works_once",),
    ),
    Mistake(
        name="passkey-challenge-for-ever",
        promise="The challenge of a passkey is over after five minutes.",
        source="ADR 81",
        file="gateway/identity/passkey_check.py",
        right="if ends_at is None or self.context.now() >= ends_at:",
        wrong="if ends_at is None:",
        tests=(f"{_PASSKEY_CHECK}::test_a_challenge_holds_for_five_minutes",),
    ),
    Mistake(
        name="passkey-of-another-person",
        promise="A passkey proves its owner, and nobody else's session.",
        source="ADR 81",
        file="gateway/identity/passkey_check.py",
        right=(
            "        if passkey is not None and passkey.user_id != caller.user_id:\n"
            "            passkey = None\n"
        ),
        wrong="",
        tests=(f"{_PASSKEY_CHECK}::test_the_passkey_of_another_person_proves_nothing",),
    ),
    Mistake(
        name="first-passkey-keeps-stolen-sessions",
        promise="The first second factor ends the other sessions, which the password alone began.",
        source="docs/people.md",
        file="gateway/identity/passkeys.py",
        right="        if not user.has_factor:\n            ended",
        wrong="        if False:\n            ended",
        tests=(f"{_PASSKEYS}::{_FIRST_ENDS}",),
    ),
    Mistake(
        name="stolen-session-is-told-for-ever",
        promise="The end of all sessions of a person removes all of their browsers.",
        source="docs/notifications.md",
        file="gateway/identity/store.py",
        right="            if not keep:\n                subscribed",
        wrong="            if False:\n                subscribed",
        tests=(f"{_NOTIFIED}::test_the_end_of_all_sessions_of_a_person_ends_their_browsers",),
    ),
    Mistake(
        name="copied-passkey-in-silence",
        promise="A passkey whose counter steps back is refused, and its owner is told.",
        source="ADR 81",
        file="gateway/identity/store.py",
        right="        rises = passkeys.c.sign_count < sign_count\n",
        wrong="        rises = passkeys.c.sign_count >= 0\n",
        tests=(f"{_PASSKEY_CHECK}::test_a_counter_that_steps_back_is_refused_and_mailed",),
    ),
    Mistake(
        name="last-factor-removed-alone",
        promise="The last second factor of a user who may write is removed by two people.",
        source="ADR 81",
        file="gateway/identity/passkeys.py",
        right="        if len(known) == 1 and not user.has_app:\n",
        wrong="        if not known and not user.has_app:\n",
        tests=(f"{_REMOVAL}::test_the_last_factor_of_a_user_who_may_write_waits_for_another",),
    ),
    Mistake(
        name="passkey-by-a-stolen-session",
        promise="A new passkey takes a proof in the call itself.",
        source="ADR 81",
        file="gateway/identity/reauthentication.py",
        right="        if user.has_factor and not await self._is_of_app(user, proof.code):\n",
        wrong=(
            "        if caller.factor_at is None and not await self._is_of_app(user, proof.code):\n"
        ),
        tests=(f"{_PASSKEYS}::test_another_passkey_takes_a_passkey_or_the_password_and_a_code",),
    ),
    Mistake(
        name="known-browser-of-anybody",
        promise="A device cookie spares nobody else the throttle.",
        source="ADR 17",
        file="gateway/identity/password_check.py",
        right=(
            "return known.id if user is not None and known is not None"
            ' and known.user_id == user.id else ""'
        ),
        wrong='return known.id if user is not None and known is not None else ""',
        tests=(f"{_PASSWORD_CHECK}::test_a_browser_known_for_another_user_counts_as_unknown",),
    ),
    Mistake(
        name="link-for-a-disabled-person",
        promise="Only a person who may sign in gets a link to reset the password.",
        source="docs/people.md",
        file="gateway/identity/password_changes.py",
        right="if user is None or not user.active or not user.password:",
        wrong="if user is None:",
        tests=(f"{_PASSWORDS}::test_a_user_who_cannot_sign_in_gets_no_link_and_the_same_answer",),
    ),
    Mistake(
        name="link-of-another-purpose",
        promise="An invitation resets no password, and a reset accepts no invitation.",
        source="docs/people.md",
        file="gateway/identity/store.py",
        right="unused = _unused(found.user_id, purpose)",
        wrong="unused = _unused(found.user_id, found.purpose)",
        tests=(f"{_PASSWORDS}::test_a_link_is_refused_for_another_purpose",),
    ),
    Mistake(
        name="link-without-an-end",
        promise="A link to reset a password is over after half an hour.",
        source="docs/people.md",
        file="gateway/identity/store.py",
        right="mine = unused.where(mail_tokens.c.digest == digest, mail_tokens.c.ends_at > at)",
        wrong="mine = unused.where(mail_tokens.c.digest == digest)",
        tests=(f"{_PASSWORDS}::test_a_link_expires_after_thirty_minutes",),
    ),
    Mistake(
        name="token-outlives-logout",
        promise="A token is dead as soon as its session is ended.",
        source="contract 4.2",
        file="gateway/identity/sessions.py",
        right="if not session.is_live(now):",
        wrong="if session.ends_at <= now:",
        tests=(f"{_SESSIONS}::test_after_logout_the_access_token_is_refused_at_once",),
    ),
    Mistake(
        name="session-of-a-colleague-ended",
        promise="A person ends their own sessions only.",
        source="docs/people.md",
        file="gateway/identity/sessions.py",
        right="return False",
        wrong="return await self._end(by, user_id, session_id, why)",
        tests=(f"{_SESSIONS}::test_a_user_sees_and_ends_only_their_own_sessions",),
    ),
    Mistake(
        name="session-older-than-a-change",
        promise="A session that began before the person was changed does not hold.",
        source="docs/people.md",
        file="gateway/identity/context.py",
        right="return user.active and session.created_at >= user.updated_at",
        wrong="return user.active",
        tests=(f"{_CHANGES}::test_a_session_older_than_the_user_s_latest_change_is_invalid",),
    ),
    Mistake(
        name="change-undone-by-another",
        promise="A change of a person undoes no change made meanwhile, such as being disabled.",
        source="docs/people.md",
        file="gateway/identity/context.py",
        right="if await self.stores.users.replace(new, event_of(new), user.updated_at, removes):",
        wrong="if await self.stores.users.replace(new, event_of(new), None, removes):",
        tests=(f"{_CHANGES}::test_a_concurrent_change_is_not_overwritten",),
    ),
    Mistake(
        name="factor-replaced-by-a-password",
        promise="Who has a second factor enrols another only after removing it with a code.",
        source="docs/people.md",
        file="gateway/identity/second_factors.py",
        right=(
            "        user = _without_app(await self.context.active_user(caller.user_id))\n"
            "        await Reauthentication(self.context).prove(caller, proof, client)\n"
        ),
        wrong=(
            "        user = await self.context.active_user(caller.user_id)\n"
            "        await Reauthentication(self.context).prove(caller, proof, client)\n"
        ),
        tests=(f"{_FACTORS}::test_a_present_factor_cannot_be_enrolled_again",),
    ),
    Mistake(
        name="fresh-session-is-enough",
        promise="Recovery codes, removal and a new password take an app code in the call itself.",
        source="ADR 0061",
        file="gateway/identity/reauthentication.py",
        right="if user.has_factor and not await",
        wrong="if not user.has_factor and not await",
        tests=(f"{_REAUTHENTICATION}::test_lasting_changes_require_password_and_a_new_code",),
    ),
    Mistake(
        name="one-recovery-code-gives-ten",
        promise="A recovery code gives no new ones, and removes no app.",
        source="ADR 0061",
        file="gateway/identity/reauthentication.py",
        right="SecondFactorCodes(self.context).app_code(user, code)",
        wrong="SecondFactorCodes(self.context).accept(user, code)",
        tests=(f"{_REAUTHENTICATION}::test_lasting_changes_require_password_and_a_new_code",),
    ),
    Mistake(
        name="wrong-code-steps-up",
        promise="A wrong code makes no second factor fresh.",
        source="decisions 6 (`STEP_UP_REQUIRED`)",
        file="gateway/identity/second_factors.py",
        right=(
            "        if not await SecondFactorCodes(self.context).accept(user, code, counted):\n"
            '            raise ServiceError(MFA_INVALID, "code")\n'
        ),
        wrong="        await SecondFactorCodes(self.context).accept(user, code, counted)\n",
        tests=(f"{_FACTORS}::test_a_wrong_code_does_not_make_the_factor_fresh",),
    ),
    Mistake(
        name="refresh-after-being-disabled",
        promise="Who was disabled gets no new tokens for the old session.",
        source="contract 4.2",
        file="gateway/identity/sessions.py",
        right=(
            "        if not is_valid(*found):\n"
            '            raise ServiceError(REFRESH_INVALID, "person_changed")\n'
        ),
        wrong="",
        tests=(f"{_SESSIONS}::test_a_disabled_user_cannot_refresh",),
    ),
    Mistake(
        name="access-token-outlives-its-session",
        promise="An access token never lives longer than its session.",
        source="decisions 7",
        file="gateway/identity/sessions.py",
        right="ends_at = min(now + self.context.settings.access, session.ends_at)",
        wrong="ends_at = now + self.context.settings.access",
        tests=(f"{_SESSIONS}::test_an_access_token_never_outlives_its_session",),
    ),
    Mistake(
        name="session-prolonged-by-use",
        promise="A sign-in is over eight hours later, however often it is refreshed.",
        source="decisions 7",
        file="gateway/identity/store.py",
        right=".values(seen_at=at)\n    )\n    if (await connection.execute(seen)).rowcount == 0:",
        wrong=(
            ".values(seen_at=at, ends_at=at + timedelta(hours=8))\n    )\n"
            "    if (await connection.execute(seen)).rowcount == 0:"
        ),
        tests=(f"{_SESSIONS}::test_a_refreshed_session_ends_eight_hours_after_the_sign_in",),
    ),
    Mistake(
        name="sessions-ended-of-all-people",
        promise="To end one's sessions ends nobody else's.",
        source="docs/people.md",
        file="gateway/identity/store.py",
        right=".where(sessions.c.user_id == user_id, sessions.c.ended_at.is_(None))",
        wrong=".where(sessions.c.ended_at.is_(None))",
        tests=(f"{_SESSIONS}::test_a_user_ends_all_their_other_sessions",),
    ),
    Mistake(
        name="role-given-to-oneself",
        promise="Nobody changes their own roles, companies or second factor as an administrator.",
        source="docs/people.md",
        file="gateway/identity/users.py",
        right="        _refuse_self(who, found)\n\n        def update_guarded",
        wrong="\n        def update_guarded",
        tests=(f"{_USERS}::test_no_administrator_changes_their_own_account",),
    ),
    Mistake(
        name="codes-outlive-a-lost-factor",
        promise="With the second factor its recovery codes are taken away.",
        source="docs/people.md",
        file="gateway/identity/users.py",
        right="                await self.context.stores.users.replace_codes(found.id, ())\n",
        wrong="",
        tests=(f"{_USERS}::test_resetting_a_factor_deletes_it_with_its_codes",),
    ),
    Mistake(
        name="invited-again-with-a-password",
        promise="Who has a password is sent no invitation, which would set another.",
        source="docs/people.md",
        file="gateway/identity/users.py",
        right="if user.password or not user.active:",
        wrong="if user.password and not user.active:",
        tests=(f"{_USERS}::test_a_user_with_a_password_cannot_be_invited_again",),
    ),
    Mistake(
        name="addresses-in-the-counters",
        promise="What is counted of wrong passwords shows no e-mail address.",
        source="SECURITY.md",
        file="gateway/identity/throttling.py",
        right='return f"{kind}:{hashlib.sha256(content).hexdigest()[:_DIGEST_LENGTH]}"',
        wrong='return f"{kind}:{content.decode()}"',
        tests=(f"{_THROTTLING}::test_counters_hold_no_name_or_address",),
    ),
    Mistake(
        name="many-guesses-at-once",
        promise="Guesses that are made at once are not more than those one after another.",
        source="decisions 6 (`TOO_MANY_ATTEMPTS`)",
        file="gateway/identity/throttling.py",
        right="self._refuse(failures, now)",
        wrong="continue",
        tests=(f"{_THROTTLING}::test_concurrent_guesses_are_limited_too",),
    ),
    Mistake(
        name="one-guess-more",
        promise="The try that fills the window makes the next one wait.",
        source="decisions 6 (`TOO_MANY_ATTEMPTS`)",
        file="gateway/identity/throttling.py",
        right="if count < self.most:",
        wrong="if count <= self.most:",
        tests=(f"{_THROTTLING}::test_the_try_that_reaches_the_limit_blocks_the_next",),
    ),
    Mistake(
        name="key-retired-too-early",
        promise="A signing key is published until the last token that it signed is over.",
        source="docs/people.md",
        file="gateway/identity/signing_keys.py",
        right="return any(key.signs_from < each.signs_from <= last for each in signing)",
        wrong="return any(key.signs_from < each.signs_from for each in signing)",
        tests=(f"{_KEYRING}::test_a_retired_key_is_kept_while_one_of_its_tokens_is_valid",),
    ),
    Mistake(
        name="retired-key-believed",
        promise="A token that a retired key signed is refused.",
        source="contract 5.4",
        file="gateway/identity/signing_keys.py",
        right="keys = tuple(each for each in listed if each.retired_at is None)[-MOST:]",
        wrong="keys = tuple(listed)[-MOST:]",
        tests=(f"{_KEYRING}::test_at_most_three_unretired_keys_are_in_use",),
    ),
    Mistake(
        name="code-of-a-minute-ago",
        promise="A code of the app is accepted one step early or late, and no further.",
        source="contract 2.9",
        file="gateway/identity/one_time_codes.py",
        right="\n_WINDOW = 1\n",
        wrong="\n_WINDOW = 2\n",
        tests=(f"{_TOTP}::test_a_totp_code_is_accepted_within_one_step",),
    ),
    Mistake(
        name="device-known-for-ever",
        promise="A browser is known for ninety days after the last sign-in there.",
        source="ADR 17",
        file="gateway/identity/cookies.py",
        right="if age_s >= KNOWN_FOR.total_seconds():",
        wrong="if age_s < 0:",
        tests=(
            f"{_DEVICE_COOKIES}::test_a_device_cookie_is_valid_for_ninety_days_after_the_last_sign_in",
        ),
    ),
    Mistake(
        name="row-opened-without-its-cookie",
        promise="The tokens of a browser open with the secret half of its cookie alone.",
        source="docs/panel.md",
        file="gateway/identity/cookies.py",
        right="return AESGCM(derived.derive(cookie.secret))",
        wrong="return AESGCM(derived.derive(cookie.id_hash.encode()))",
        tests=(f"{_PANEL_COOKIES}::test_sealed_tokens_open_only_with_their_cookie",),
    ),
    Mistake(
        name="cheap-digest-for-ever",
        promise="A password whose digest is cheaper than today's is digested anew.",
        source="SECURITY.md",
        file="gateway/identity/passwords.py",
        right=(
            "return digest is None or (digest.cost, digest.key_id) != (self._cost, self._current)"
        ),
        wrong="return digest is None or digest.key_id != self._current",
        tests=(f"{_HASHING}::test_a_cheaper_digest_matches_and_is_outdated",),
    ),
    Mistake(
        name="shorter-tag-read",
        promise="A stored digest of a password has its 32 bytes, or matches nobody.",
        source="SECURITY.md",
        file="gateway/identity/passwords.py",
        right="[A-Za-z0-9+/]{43})",
        wrong="[A-Za-z0-9+/]{16,86})",
        tests=(f"{_HASHING}::test_a_truncated_digest_never_matches",),
    ),
    Mistake(
        name="no-work-for-nobody",
        promise="A password is digested for people that do not exist, too.",
        source="decisions 6",
        file="gateway/identity/passwords.py",
        right="        with_what = digest if digest is not None and known else self._dummy\n",
        wrong=(
            "        if digest is None or not known:\n"
            "            return False\n"
            "        with_what = digest\n"
        ),
        tests=(f"{_HASHING}::test_checking_an_unknown_user_costs_the_same_and_never_matches",),
    ),
    Mistake(
        name="mail-sealed-for-any-row",
        promise="The text of a mail that was moved to another person's mail is not read.",
        source="docs/people.md",
        file="gateway/identity/mail.py",
        right='return f"mailbox:{mail.id}"',
        wrong='return "mailbox"',
        tests=(f"{_MAIL}::test_an_encrypted_text_moved_to_another_message_cannot_be_read",),
    ),
    Mistake(
        name="operator-decides-too",
        promise="No role both orders money and decides on orders.",
        source="decisions 11 (four eyes)",
        file="gateway/core/rights.py",
        right="    | _all(Action.WRITE, Area.PROBE),\n",
        wrong="    | _all(Action.WRITE, Area.PROBE, Area.APPROVAL),\n",
        tests=(f"{_RIGHTS}::test_no_role_both_orders_and_approves",),
    ),
    Mistake(
        name="rights-given-that-one-lacks",
        promise="Nobody gives a right over keys, people or companies that they lack.",
        source="ADR 18",
        file="gateway/core/rights.py",
        right="return all(any(right.covers(each) for right in held) for each in wanted)",
        wrong="return any(right.covers(each) for right in held for each in wanted)",
        tests=(f"{_RIGHTS}::test_a_user_manager_can_grant_only_roles_within_their_rights",),
    ),
    Mistake(
        name="refund-without-a-fresh-factor",
        promise="Who gives money back shows a second factor of the last five minutes.",
        source="decisions 6 (`STEP_UP_REQUIRED`)",
        file="gateway/core/rights.py",
        right="Area.ACCOUNT, Area.PAYOUT, Area.REFUND}",
        wrong="Area.ACCOUNT, Area.PAYOUT}",
        tests=(f"{_RIGHTS}::test_the_areas_that_require_a_fresh_factor_match_the_documentation",),
    ),
    Mistake(
        name="limited-admin-adds-a-company",
        promise="Who is limited to companies adds none.",
        source="docs/people.md",
        file="gateway/core/sessions.py",
        right="return frozenset(map(_on_their_own, held)) if self.companies else held",
        wrong="return held",
        tests=(f"{_PERSON}::test_a_limited_user_lacks_only_the_right_to_add_companies",),
    ),
    Mistake(
        name="first-of-two-tokens",
        promise="Two Authorization headers are refused: nobody chooses between them.",
        source="contract 5.4",
        file="policies/authentication/bearer.py",
        right="if len(values) > 1:",
        wrong="if len(values) > 1 and not values[0]:",
        tests=(f"{_BEARER}::test_a_header_other_than_bearer_is_refused",),
    ),
    Mistake(
        name="codes-guessed-without-a-limit",
        promise="Ten wrong codes of a second factor make one wait, over any number of challenges.",
        source="decisions 6 (`TOO_MANY_ATTEMPTS`)",
        file="gateway/identity/throttling.py",
        right="await self._count({factor_key(user_id): limit})",
        wrong="await self.context.stores.failures.find([factor_key(user_id)]) or limit",
        tests=(f"{_SIGN_IN}::test_ten_wrong_codes_lock_the_factor_for_fifteen_minutes",),
    ),
    Mistake(
        name="codes-voided-by-a-passkey-at-the-same-time",
        promise="Shown recovery codes are those that work, also of two registrations at once.",
        source="docs/adr/0081-passkeys-are-both-factors.md",
        file="gateway/identity/store.py",
        right="if len(theirs.all()) > 1:",
        wrong="if False:",
        tests=(
            f"{_PASSKEYS_STORED}::test_of_two_first_passkeys_at_once_one_is_stored_with_its_codes",
        ),
    ),
)

"""People and their browsers: sign-ins, second factors, links, tokens, cookies."""

from __future__ import annotations

from tests.mistakes.mistake import Mistake

_ACCOUNTS = "tests/unit/gateway/accounts/test_model.py"
_ACCESS_TOKENS = "tests/unit/gateway/identity/test_tokens_access_tokens.py"
_BEARER = "tests/unit/policies/authentication/test_bearer.py"
_CHALLENGES = "tests/contract/stores/test_challenges.py"
_CODES = "tests/unit/gateway/identity/test_second_factors.py"
_CSRF = "tests/unit/policies/traffic/test_csrf.py"
_EXPORTS = "tests/unit/gateway/core/test_exports.py"
_FACTOR_CODES = "tests/unit/gateway/identity/test_second_factor_codes.py"
_FILES = "tests/unit/gateway/reports/test_files.py"
_KEYS = "tests/unit/gateway/pix_keys/test_service.py"
_MISMATCHES = "tests/unit/gateway/payouts/test_owner_mismatches.py"
_SEARCH = "tests/unit/gateway/search/test_service.py"
_NOTICES = "tests/unit/gateway/credentials/test_notices.py"
_PANEL = "tests/unit/gateway/identity/test_panel_sessions.py"
_REFRESHING = "tests/unit/gateway/identity/test_sessions.py"
_RIGHTS = "tests/unit/gateway/core/test_rights.py"
_SESSION = "tests/unit/policies/authentication/test_session.py"
_SESSIONS = "tests/contract/stores/test_sessions.py"
_SIGN_IN = "tests/unit/gateway/identity/test_sign_in.py"
_CLOSINGS = "tests/contract/stores/test_closings.py"
_OWNERS = "tests/unit/gateway/payouts/test_staff_key_owners.py"
_FACTS = "tests/unit/gateway/approvals/test_facts.py"
_HIDDEN = "tests/surfaces/backoffice/test_hidden_numbers.py"
_STEP_UP = "tests/unit/policies/authorization/test_user_step_up.py"
_THROTTLING = "tests/unit/gateway/identity/test_throttling.py"
_TOLD = "test_security_and_admins_are_notified_of_a_new_read_only_credential"
_USER_NOTICES = "tests/unit/gateway/identity/test_user_notices.py"
_OF_A_COMMAND = "test_mail_about_the_act_of_a_command_names_the_system_s_user_and_nothing_typed"
_MAY_DO_MORE = "test_wider_rights_are_mailed_to_security_and_narrower_rights_are_not"
_USERS = "tests/contract/stores/test_users.py"

ROWS = (
    Mistake(
        name="higher-limits-in-silence",
        promise="Security and admins get a mail of a credential with higher limits.",
        source="docs/people.md",
        file="gateway/credentials/service.py",
        right="        if self.night.limits(found.limits).raised_by(self.night.limits(limits)):\n",
        wrong="        if found.limits == limits:\n",
        tests=(f"{_NOTICES}::test_rights_widened_by_a_command_are_mailed_too",),
    ),
    Mistake(
        name="unsigned-in-silence",
        promise="Security and admins get a mail of a credential that pays without a signature.",
        source="docs/people.md",
        file="gateway/credentials/public_keys.py",
        right="        if order.added is not None or not keys:\n",
        wrong="        if order.added is not None:\n",
        tests=(f"{_NOTICES}::test_rights_widened_by_a_command_are_mailed_too",),
    ),
    Mistake(
        name="typed-name-in-a-mail",
        promise="Mail about an act of a command names the system's user, and nothing typed.",
        source="ADR 0061",
        file="gateway/identity/mail.py",
        right='return f"cli:{self.context.os_user}" if self.context.os_user else actor',
        wrong="return actor",
        tests=(f"tests/unit/gateway/identity/test_cli.py::{_OF_A_COMMAND}",),
    ),
    Mistake(
        name="cpf-of-a-holder-whole",
        promise="Documents of accounts show the CPF of a holder in part.",
        source="ADR 0071",
        file="gateway/accounts/model.py",
        right='        "tax_number": hidden_tax_number(account.tax_number),\n',
        wrong="",
        tests=(f"{_ACCOUNTS}::test_the_cpf_of_a_holder_is_shown_in_part_and_a_cnpj_whole",),
    ),
    Mistake(
        name="more-rights-in-silence",
        promise="Security and admins get a mail of a user who may do more than before.",
        source="docs/people.md",
        file="gateway/identity/users.py",
        right="        if _may_do_more(found, user):\n",
        wrong="        if not found.roles:\n",
        tests=(f"{_USER_NOTICES}::{_MAY_DO_MORE}",),
    ),
    Mistake(
        name="csrf-token-absent",
        promise="A write with a session cookie carries the session's token.",
        source="decisions 6 (`CSRF_FAILED`)",
        file="policies/traffic/csrf.py",
        right='check_token(sent[0] if len(sent) == 1 else "", call.browser)',
        wrong="if sent:\n            check_token(sent[0], call.browser)",
        tests=(f"{_CSRF}::test_a_write_requires_exactly_one_csrf_token",),
    ),
    Mistake(
        name="foreign-page-writes",
        promise="A page of another site neither writes nor reads.",
        source="decisions 6 (`CSRF_FAILED`)",
        file="policies/traffic/csrf.py",
        right="if len(sites) != 1 or sites[0] not in _OURS:",
        wrong="if len(sites) != 1 and sites[0] not in _OURS:",
        tests=(f"{_CSRF}::test_a_write_requires_our_origin",),
    ),
    Mistake(
        name="cookie-open-to-scripts",
        promise="The session cookie is HttpOnly, Secure and SameSite=Strict.",
        source="decisions 1 (panel)",
        file="policies/authentication/session.py",
        right="; HttpOnly; SameSite=Strict",
        wrong="; SameSite=Strict",
        tests=(f"{_SESSION}::test_a_cookie_is_set_and_deleted_with_the_same_attributes",),
    ),
    Mistake(
        name="session-before-the-code",
        promise="Between password and second factor nobody is signed in.",
        source="contract 2.9",
        file="policies/authentication/session.py",
        right="if browser.panel.state is not PanelState.FULL:",
        wrong="if browser.panel.state is PanelState.ANONYMOUS:",
        tests=(f"{_SESSION}::test_a_request_without_a_full_session_is_refused",),
    ),
    Mistake(
        name="old-factor-is-fresh",
        promise="What is dangerous asks for a second factor of the last five minutes.",
        source="decisions 6 (`STEP_UP_REQUIRED`)",
        file="gateway/core/user_access.py",
        right="return at is not None and abs(now - at) <= FRESH",
        wrong="return at is not None and at - now <= FRESH",
        tests=(_STEP_UP,),
    ),
    Mistake(
        name="stolen-refresh-token-borne",
        promise="A used refresh token that is shown again ends the session.",
        source="contract 4.2",
        file="gateway/identity/sessions.py",
        right="if in_time and token.number == newest - 1:",
        wrong="if in_time or token.number == newest - 1:",
        tests=(_REFRESHING,),
    ),
    Mistake(
        name="refresh-token-twice",
        promise="A refresh token is single-use: of ten at once one wins.",
        source="contract 4.2",
        file="gateway/identity/store.py",
        right=(
            ".where(refresh_tokens.c.digest == token.digest, refresh_tokens.c.used_at.is_(None))"
        ),
        wrong=".where(refresh_tokens.c.digest == token.digest)",
        tests=(f"{_SESSIONS}::test_of_ten_concurrent_refreshes_one_succeeds",),
    ),
    Mistake(
        name="code-works-twice",
        promise="A code of the app works once, and none before it.",
        source="contract 4.2, decisions 7",
        file="gateway/identity/store.py",
        right="users.c.totp_step < step",
        wrong="users.c.totp_step <= step",
        tests=(f"{_USERS}::test_a_totp_step_is_accepted_once_and_no_earlier_step",),
    ),
    Mistake(
        name="lockout-never-comes",
        promise="Five wrong passwords make one wait.",
        source="decisions 6 (`TOO_MANY_ATTEMPTS`)",
        file="gateway/identity/throttling.py",
        right="return max(timedelta(0), failures.blocked_until - now)",
        wrong="return min(timedelta(0), failures.blocked_until - now)",
        tests=(
            f"{_THROTTLING}::test_the_sixth_wrong_password_is_throttled_for_known_and_unknown_users",
        ),
    ),
    Mistake(
        name="reset-link-works-twice",
        promise="A link of a mail works once.",
        source="decisions 7",
        file="gateway/identity/store.py",
        right=(
            "        mail_tokens.c.purpose == purpose.value,\n"
            "        mail_tokens.c.used_at.is_(None),\n"
        ),
        wrong="        mail_tokens.c.purpose == purpose.value,\n",
        tests=(f"{_CHALLENGES}::test_a_link_works_once",),
    ),
    Mistake(
        name="unknown-people-not-throttled",
        promise="Whether a person exists shows in nothing, not in the throttle either.",
        source="decisions 6",
        file="gateway/identity/password_check.py",
        right='user_id = "" if user is None else user.id',
        wrong=("if user is None:\n            return None\n        user_id = user.id"),
        tests=(
            f"{_THROTTLING}::test_the_sixth_wrong_password_is_throttled_for_known_and_unknown_users",
        ),
    ),
    Mistake(
        name="any-audience",
        promise="An access token is for us alone.",
        source="contract 5.4",
        file="gateway/identity/tokens.py",
        right='"strict_aud": True,',
        wrong='"verify_aud": False,',
        tests=(f"{_ACCESS_TOKENS}::test_a_claim_with_another_value_or_type_is_refused",),
    ),
    Mistake(
        name="expired-token-taken",
        promise="An access token is over when its time is.",
        source="contract 5.4",
        file="gateway/identity/tokens.py",
        right="if ends + leeway <= now:",
        wrong="if ends + leeway <= issued:",
        tests=(f"{_ACCESS_TOKENS}::test_an_expired_token_is_refused",),
    ),
    Mistake(
        name="token-of-another-type",
        promise="A token's header names our algorithm and our type, both.",
        source="contract 5.4",
        file="gateway/identity/tokens.py",
        right='if head["alg"] != ALGORITHM or head["typ"] != TYPE:',
        wrong='if head["alg"] != ALGORITHM and head["typ"] != TYPE:',
        tests=(f"{_ACCESS_TOKENS}::test_a_token_with_another_header_is_refused",),
    ),
    Mistake(
        name="list-forgets-the-company",
        promise="A list shows a limited person their companies alone.",
        source="decisions 11 (four eyes)",
        file="gateway/credentials/service.py",
        right="found = [*_in(scope)]",
        wrong="found = []",
        tests=(
            "tests/contract/stores/test_credentials.py::test_a_credential_with_two_secrets_is_listed_once",
        ),
    ),
    Mistake(
        name="app-secret-bound-to-nobody",
        promise="A sealed secret opens in the row of its own person alone.",
        source="SECURITY.md",
        file="gateway/identity/second_factor_codes.py",
        right='return f"user:{user_id}:totp"',
        wrong='return "user:totp"',
        tests=(f"{_FACTOR_CODES}::test_a_totp_secret_is_sealed_for_its_user_only",),
    ),
    Mistake(
        name="owners-without-limit",
        promise="Above `ratelimits.owner_lookups` a person looks up no more owners of Pix keys.",
        source="ADR 0061",
        file="gateway/pix_keys/service.py",
        right="refuse_for(await self.looked_up.take(user_id), TOO_MANY_LOOK_UPS)",
        wrong="pass",
        tests=(f"{_KEYS}::test_key_look_ups_are_rate_limited_per_user",),
    ),
    Mistake(
        name="owners-by-orders-uncounted",
        promise="The look-up of an order counts, but for one after a look-up of the same key.",
        source="ADR 0071",
        file="gateway/pix_keys/service.py",
        right="self._shown.pop(asked, None) if by_order else None",
        wrong="self._shown.get(asked) if by_order else None",
        tests=(f"{_KEYS}::test_a_payout_after_a_look_up_of_the_same_key_is_not_counted_again",),
    ),
    Mistake(
        name="cpf-tried-by-searches",
        promise="Above `ratelimits.owner_lookups` a person searches for no more CPFs.",
        source="ADR 0071",
        file="gateway/search/service.py",
        right="if who.person is not None and strict.hidden_tax_number(number) != number:",
        wrong="if False:",
        tests=(f"{_SEARCH}::test_cpf_searches_are_rate_limited_per_user",),
    ),
    Mistake(
        name="owners-by-orders-of-another-day",
        promise="An order of another day, which is refused, asks no bank for the owner of a key.",
        source="ADR 0061",
        file="gateway/payouts/staff.py",
        right="    if request.date != who.acting.now().date():\n        return request\n",
        wrong="",
        tests=(
            "tests/unit/gateway/payouts/test_staff_key_owners.py::test_no_owner_is_looked_up_for_an_order_of_another_day",
        ),
    ),
    Mistake(
        name="owners-tried-by-centavos",
        promise="A credential learns so often whose key it is not, and is then answered 429.",
        source="ADR 0071",
        file="gateway/payouts/create.py",
        right="        if payout.client_id in self.mismatches.refused_until:",
        wrong="        if False:",
        tests=(f"{_MISMATCHES}::test_owner_mismatches_of_a_credential_are_limited",),
    ),
    Mistake(
        name="lists-copied-without-limit",
        promise="Rows of lists count with those of files, and are refused like them.",
        source="ADR 0071",
        file="gateway/core/exports.py",
        right="        await self.draw(person.user_id, rows)\n        if not await self.listed",
        wrong="        if not await self.listed",
        tests=(
            "tests/unit/gateway/core/test_exports.py::test_rows_of_lists_and_files_are_counted_together",
        ),
    ),
    Mistake(
        name="closing-copied-without-limit",
        promise="Movements of a closing count as rows of lists.",
        source="ADR 0071",
        file="gateway/closings/service.py",
        right="        await self.exports.show(who, len(found.lines))\n",
        wrong="",
        tests=(f"{_CLOSINGS}::test_movements_of_a_day_are_counted_as_they_are_shown",),
    ),
    Mistake(
        name="whole-cpf-in-a-statement",
        promise="Statements show staff a CPF in part.",
        source="ADR 0071",
        file="gateway/statements/documents.py",
        right="tuple(map(without_number, found.entries))",
        wrong="tuple(found.entries)",
        tests=(f"{_HIDDEN}::test_no_document_shows_a_whole_cpf",),
    ),
    Mistake(
        name="whole-cpf-in-a-callback",
        promise="The text of a callback is shown without tax numbers.",
        source="ADR 0071",
        file="gateway/callbacks/model.py",
        right='body = redacted(self.body.decode("utf-8", "replace"))',
        wrong='body = self.body.decode("utf-8", "replace")',
        tests=(f"{_HIDDEN}::test_no_document_shows_a_whole_cpf",),
    ),
    Mistake(
        name="orders-that-search-for-a-cpf",
        promise="Who ordered a payout sees no payouts to its recipient.",
        source="ADR 0071",
        file="gateway/approvals/facts.py",
        right="            found = replace(found, to_recipient=())\n",
        wrong="            pass\n",
        tests=(f"{_FACTS}::test_the_orderer_of_a_payout_sees_no_others_to_its_recipient",),
    ),
    Mistake(
        name="references-that-search-for-a-cpf",
        promise="An order by the reference of another's payout to a CPF counts as a search.",
        source="ADR 0071",
        file="gateway/payouts/staff.py",
        right="            await self.owners.count(who.person.user_id)\n",
        wrong="            pass\n",
        tests=(f"{_OWNERS}::test_an_order_by_the_reference_of_another_is_a_search_for_its_cpf",),
    ),
    Mistake(
        name="owners-for-every-reader",
        promise="Whoever orders no payouts looks up no owner of a Pix key.",
        source="ADR 0061",
        file="gateway/core/rights.py",
        right="_FILES = _all(Action.READ, Area.REPORT)",
        wrong="_FILES = _all(Action.READ, Area.REPORT, Area.KEY_OWNER)",
        tests=(f"{_RIGHTS}::test_roles_that_order_payouts_look_up_owners_of_keys",),
    ),
    Mistake(
        name="rows-after-they-are-gone",
        promise="Rows are handed out only while their person may take more.",
        source="ADR 0061",
        file="gateway/reports/files.py",
        right=(
            "            await self.export.take(len(page.items))\n"
            "            yield self.write(page.items)\n"
        ),
        wrong=(
            "            yield self.write(page.items)\n"
            "            await self.export.take(len(page.items))\n"
        ),
        tests=(f"{_FILES}::test_a_file_is_cut_off_at_the_user_s_row_limit",),
    ),
    Mistake(
        name="alarm-of-one-file",
        promise="Small files of a person add up to an alarm.",
        source="ADR 0061",
        file="gateway/core/exports.py",
        right="if await exports.alarming.take(person.user_id, rows) and not self.has_alarmed:",
        wrong="if rows > exports.alarming.burst and not self.has_alarmed:",
        tests=(f"{_EXPORTS}::test_a_file_above_the_alarm_threshold_raises_one_alarm",),
    ),
    Mistake(
        name="token-used-anywhere",
        promise="A session opens nothing at a network where no code was given.",
        source="ADR 0061",
        file="gateway/core/sessions.py",
        right="return pool(address) in self.networks",
        wrong="return bool(self.networks)",
        tests=(f"{_BEARER}::test_a_new_network_requires_a_second_factor_code_first",),
    ),
    Mistake(
        name="cookie-renewed-elsewhere",
        promise="A cookie at another network neither lives longer nor is renewed.",
        source="ADR 0061",
        file="gateway/identity/panel_sessions.py",
        right="if address is not None and not who.is_known_at(address):",
        wrong="if address is not None and not who.networks:",
        tests=(f"{_PANEL}::test_a_session_from_another_network_is_refused_and_unchanged",),
    ),
    Mistake(
        name="locked-out-by-a-thief",
        promise="Wrong codes with a stolen session elsewhere lock nobody out.",
        source="ADR 0061",
        file="gateway/identity/second_factors.py",
        right='counted = "" if caller.is_known_at(client.address) else caller.session_id',
        wrong='counted = ""',
        tests=(f"{_CODES}::test_wrong_codes_from_another_network_do_not_lock_the_user_out",),
    ),
    Mistake(
        name="company-without-a-code",
        promise="Creating a company and ending others' sessions ask for a fresh code.",
        source="docs/people.md",
        file="gateway/core/rights.py",
        right="Area.PIX_KEY, Area.COMPANY, Area.SESSION, Area.ENDPOINT}",
        wrong="Area.PIX_KEY}",
        tests=(f"{_RIGHTS}::test_the_areas_that_require_a_fresh_factor_match_the_documentation",),
    ),
    Mistake(
        name="credential-told-to-another-company",
        promise="Mail about a credential goes only to people who see its company.",
        source="ADR 0061",
        file="gateway/identity/mail.py",
        right="sees = user.active and scope_of(user.companies).covers(companies)",
        wrong="sees = user.active",
        tests=(f"{_NOTICES}::{_TOLD}",),
    ),
    Mistake(
        name="new-browser-not-told",
        promise="A sign-in from a new browser is told to its user by mail.",
        source="ADR 0061",
        file="gateway/identity/sessions.py",
        right="return client.known is not None and client.known.user_id == user.id",
        wrong="return client.known is not None",
        tests=(f"{_SIGN_IN}::test_a_known_browser_or_program_sends_no_mail",),
    ),
)

"""Who may call, and on what: credentials, scope, permissions, the account's state."""

from __future__ import annotations

from tests.mistakes.mistake import Mistake

_ACCOUNT_SCOPE = "tests/unit/policies/authorization/test_credential_account_scope.py"
_ACCOUNT_STATE = "tests/unit/policies/authorization/test_credential_account_state.py"
_BASIC = "tests/unit/policies/authentication/test_basic.py"
_CALLERS = "tests/surfaces/banking/test_callers.py"
_CALLER_RULES = "tests/unit/gateway/core/test_caller_rules.py"
_CHARGES = "tests/contract/stores/test_charges.py"
_CLIENT_ADDRESS = "tests/unit/gateway/net/server/test_peer_client_address.py"
_CREDENTIALS = "tests/unit/gateway/credentials/test_service.py"
_DIGESTS = "tests/unit/gateway/security/test_secrets_digests.py"
_ORDER = "tests/surfaces/banking/test_order.py"
_PERMISSIONS = "tests/unit/gateway/core/test_permissions_permissions.py"
_PUBLIC_KEYS = "tests/unit/gateway/credentials/test_public_keys.py"
_SIGNATURE = "tests/unit/policies/authentication/test_signature.py"
_SIGNED = "tests/surfaces/banking/test_signed_payouts.py"
_LIMITS = "tests/unit/gateway/core/test_limits.py"
_SHARED = "tests/unit/gateway/process/test_limits.py"
_SURFACE = "tests/unit/gateway/http/test_gates_partner_routes.py"
_THROTTLE = "tests/unit/policies/traffic/test_throttle.py"
_TRAFFIC = "tests/surfaces/banking/test_traffic.py"
_SCOPED = "tests/contract/stores/test_lists.py::test_a_record_is_found_within_its_scope_alone"

ROWS = (
    Mistake(
        name="wrong-secret-accepted",
        promise="A secret opens only if its digest is the stored one.",
        source="contract 5.1",
        file="gateway/security/secrets.py",
        right="if hmac.compare_digest(made[stored.key_id], stored.digest):",
        wrong="if hmac.compare_digest(stored.digest, stored.digest):",
        tests=(_DIGESTS,),
    ),
    Mistake(
        name="old-secret-after-overlap",
        promise="A secret that was rotated away ends with its overlap.",
        source="decisions 3",
        file="gateway/security/secrets.py",
        right=(
            "return stored.key_id in self._keyed and (\n"
            "            stored.expires_at is None or now() < stored.expires_at\n"
            "        )"
        ),
        wrong="return stored.key_id in self._keyed",
        tests=(_DIGESTS,),
    ),
    Mistake(
        name="revoked-credential-served",
        promise="A revoked credential is refused like a wrong secret.",
        source="decisions 2 (step 8) and 3",
        file="policies/authentication/basic.py",
        right="if credential.revoked_at is not None:",
        wrong="if credential.revoked_at is not None and credential.revoked_at > self.now():",
        tests=(f"{_BASIC}::test_what_has_ended_is_refused_like_a_wrong_secret",),
    ),
    Mistake(
        name="expired-credential-served",
        promise="A credential lives to its instant of expiry and no longer.",
        source="decisions 2 (step 8)",
        file="policies/authentication/basic.py",
        right="credential.expires_at <= self.now()",
        wrong="credential.expires_at < self.now()",
        tests=(f"{_BASIC}::test_a_credential_lives_to_its_instant",),
    ),
    Mistake(
        name="checksum-not-looked-at",
        promise="A secret whose checksum does not hold is refused without asking a store.",
        source="decisions 3",
        file="policies/authentication/basic.py",
        right="if not self.check.well_formed(secret):",
        wrong="if not secret:",
        tests=(f"{_BASIC}::test_no_store_is_asked_before_the_secret_is_well_formed",),
    ),
    Mistake(
        name="two-authorization-headers",
        promise="Two Authorization headers are malformed: nobody chooses between them.",
        source="decisions 2 (step 8)",
        file="policies/authentication/basic.py",
        right="if len(values) > 1:",
        wrong="if len(values) > 2:",
        tests=(f"{_BASIC}::test_each_header_has_its_answer",),
    ),
    Mistake(
        name="unknown-id-answered-sooner",
        promise="An unknown client id costs the work of a wrong secret.",
        source="decisions 2 (step 8)",
        file="policies/authentication/basic.py",
        right="right = self.check.matching(shown.digests, stored)",
        wrong="right = self.check.matching(shown.digests, stored) if credential else None",
        tests=(f"{_BASIC}::test_an_unknown_id_does_the_work_of_a_wrong_secret",),
    ),
    Mistake(
        name="refusal-not-counted",
        promise="Refused credentials are counted, and too many are answered 429.",
        source="decisions 2 (step 7)",
        file="policies/authentication/basic.py",
        right="        await self.throttle.count(address, client_id)\n",
        wrong="",
        tests=(f"{_BASIC}::test_the_refusal_over_the_address_s_limit_is_a_429",),
    ),
    Mistake(
        name="failures-let-through",
        promise="No more refusals of an address pass in a minute than are allowed.",
        source="decisions 2 (step 7)",
        file="gateway/core/limits.py",
        right="if len(times) > limit else 0.0",
        wrong="if len(times) > limit + 1 else 0.0",
        tests=(_THROTTLE,),
    ),
    Mistake(
        name="quota-in-each-process",
        promise="Processes that share limits draw from one bucket.",
        source="ADR 0044",
        file="gateway/process/limits.py",
        right="  full = full + took * step\n",
        wrong="",
        tests=(f"{_SHARED}::test_processes_draw_from_one_bucket",),
    ),
    Mistake(
        name="charge-made-in-two-processes",
        promise="One charge of a reference is made at a time, in whatever process.",
        source="ADR 0044",
        file="gateway/charges/store.py",
        right="free = or_(until.is_(None), until <= now, until > now + LEASE_AHEAD)",
        wrong="free = or_(until.is_(None), until.is_not(None))",
        tests=(f"{_CHARGES}::test_a_reference_of_an_account_has_one_record_and_one_holder",),
    ),
    Mistake(
        name="charge-paid-by-its-name",
        promise="A listed payment that only names a charge does not pay it.",
        source="ADR 0052",
        file="gateway/charges/store.py",
        right="    or_(charges.c.centavos.is_(None), charges.c.centavos <= _AMOUNT),\n",
        wrong="",
        tests=(f"{_CHARGES}::test_a_listed_payment_pays_a_charge_whose_amount_it_reaches",),
    ),
    Mistake(
        name="charge-paid-for-good",
        promise="A later answer of the bank corrects the record of a charge.",
        source="ADR 0052",
        file="gateway/charges/store.py",
        right='    charges.c.updated_at <= bindparam("at"),\n',
        wrong="",
        tests=(f"{_CHARGES}::test_a_later_answer_of_the_bank_corrects_the_record",),
    ),
    Mistake(
        name="quota-over-its-burst",
        promise="A full bucket gives its burst and no more.",
        source="decisions 2 (step 9)",
        file="gateway/core/limits.py",
        right="if over > self._slack:",
        wrong="if over > self._slack + step:",
        tests=(f"{_LIMITS}::test_a_full_bucket_gives_its_burst_and_no_more",),
    ),
    Mistake(
        name="company-quota-by-credential",
        promise="All credentials of a company share its quota.",
        source="decisions 2 (step 9)",
        file="policies/traffic/quota.py",
        right="self._meters[COMPANY].take(call, principal.company_id)",
        wrong="self._meters[COMPANY].take(call, principal.client_id)",
        tests=(f"{_TRAFFIC}::test_a_company_has_one_quota_for_all_its_credentials",),
    ),
    Mistake(
        name="old-signature-taken",
        promise="A signature of a payout is at most 300 s old.",
        source="ADR 0064",
        file="policies/authentication/signature.py",
        right="not -_AHEAD_S <= now - given.created <= _OLDEST_S",
        wrong="not -_AHEAD_S <= now - given.created",
        tests=(_SIGNATURE,),
    ),
    Mistake(
        name="digest-not-compared",
        promise="The body of a signed payout is the one that was signed.",
        source="ADR 0064",
        file="policies/authentication/signature.py",
        right="if not is_digest_of(digest, asked.body):",
        wrong="if not digest:",
        tests=(_SIGNED,),
    ),
    Mistake(
        name="unsigned-payout-served",
        promise="A credential with public keys pays with a signature alone.",
        source="decisions 2 (step 8)",
        file="policies/authentication/basic.py",
        right="            return self._check_signature(call)\n        return None\n",
        wrong="            return None\n        return None\n",
        tests=(_SIGNED,),
    ),
    Mistake(
        name="unsigned-payout-served-after-a-look",
        promise="It does when its record has to be read from the store, too.",
        source="decisions 2 (step 8)",
        file="policies/authentication/basic.py",
        right=(
            "self.took(self.clock() - started)\n        await self._check_signature(call)\n\n"
            "    async def _look_again"
        ),
        wrong="self.took(self.clock() - started)\n\n    async def _look_again",
        tests=(_BASIC,),
    ),
    Mistake(
        name="key-of-another-credential",
        promise="A payout is signed by a key of its own credential.",
        source="ADR 0064",
        file="policies/authentication/signature.py",
        right="if each.key_id == given.key_id), None)",
        wrong="if each.key_id), None)",
        tests=(_SIGNATURE,),
    ),
    Mistake(
        name="path-not-covered",
        promise="A signature covers method, path and the digest of the body.",
        source="ADR 0064",
        file="policies/authentication/signature.py",
        right='_DEMANDED: Final = frozenset({"@method", "@path", "content-digest"})',
        wrong='_DEMANDED: Final = frozenset({"@method", "content-digest"})',
        tests=(_SIGNATURE,),
    ),
    Mistake(
        name="last-key-removed-by-one-person",
        promise="The end of the last public key waits for a second person.",
        source="ADR 0064",
        file="gateway/credentials/public_keys.py",
        right="        if self._changed(found, order):\n",
        wrong="        if self._changed(found, order) is not None:\n",
        tests=(_PUBLIC_KEYS,),
    ),
    Mistake(
        name="signatures-left-by-the-lane",
        promise="A signed request is plain.",
        source="ADR 0064",
        file="gateway/net/server/lane.py",
        right='and not (b":\\r\\n" in head and _NO_VALUE.search(head))',
        wrong='and b":\\r\\n" not in head',
        tests=("tests/unit/gateway/net/server/test_lane.py",),
    ),
    Mistake(
        name="secret-used-anywhere",
        promise="A credential is used from the networks of its rule alone.",
        source="ADR 0057",
        file="gateway/core/caller_rules.py",
        right="if self.networks and not _is_within(self.networks, address):",
        wrong="if self.networks and not address:",
        tests=(_CALLER_RULES,),
    ),
    Mistake(
        name="refused-caller-served",
        promise="From elsewhere each call is refused, and nothing is looked up.",
        source="decisions 2 (step 10)",
        file="policies/authorization/credential.py",
        right="        if reason:\n            self.refused(",
        wrong="        if reason and call.needs is None:\n            self.refused(",
        tests=(_CALLERS,),
    ),
    Mistake(
        name="wider-rule-by-one-person",
        promise="A rule of use that admits more waits for a second person.",
        source="ADR 0057",
        file="gateway/credentials/service.py",
        right="if waits is None or not found.callers.widened_by(callers):",
        wrong="if waits is None or found.callers.is_decided:",
        tests=(f"{_CREDENTIALS}::test_only_a_wider_rule_of_use_waits",),
    ),
    Mistake(
        name="permission-after-identifier",
        promise="A missing permission (403) is told before a malformed identifier (400).",
        source="decisions 2 (steps 10 and 11)",
        file="gateway/http/gates.py",
        right=("            RequiresPermission(),\n            Identifiers(),\n"),
        wrong=("            Identifiers(),\n            RequiresPermission(),\n"),
        tests=(f"{_ORDER}::test_the_first_failure_answers",),
    ),
    Mistake(
        name="quota-before-credential",
        promise="No quota is drawn, or told, before the caller is known (401 before 429).",
        source="decisions 2 (steps 8 and 9)",
        file="gateway/http/gates.py",
        right=("            policies.credentials,\n            policies.quota,\n"),
        wrong=("            policies.quota,\n            policies.credentials,\n"),
        tests=(_SURFACE,),
    ),
    Mistake(
        name="write-does-not-include-read",
        promise="`manage` includes `write`, `write` includes `read`.",
        source="contract 5.2",
        file="gateway/core/permissions.py",
        right="self.action >= needed.action",
        wrong="self.action == needed.action",
        tests=(_PERMISSIONS,),
    ),
    Mistake(
        name="read-includes-write",
        promise="A permission covers its own resource alone.",
        source="contract 5.2",
        file="gateway/core/permissions.py",
        right="self.resource is needed.resource and self.action >= needed.action",
        wrong="self.resource is needed.resource or self.action >= needed.action",
        tests=(_PERMISSIONS,),
    ),
    Mistake(
        name="sister-account-served",
        promise="A credential of one account acts on no other account of the company.",
        source="contract 5.1",
        file="policies/authorization/credential.py",
        right="principal.account_id is not None and principal.account_id != account.id",
        wrong="principal.account_id is None and principal.account_id != account.id",
        tests=(f"{_ACCOUNT_SCOPE}::test_a_sister_account_is_refused",),
    ),
    Mistake(
        name="other-company-served",
        promise="An account of another company does not exist for the caller (404).",
        source="contract 5.1",
        file="policies/authorization/credential.py",
        right=" or account.company_id != principal.company_id:",
        wrong=":",
        tests=(f"{_ACCOUNT_SCOPE}::test_absent_and_foreign_accounts_are_told_apart_by_nobody",),
    ),
    Mistake(
        name="unverified-account-served",
        promise="An account that is not verified is not banked on.",
        source="contract 5.1",
        file="policies/authorization/credential.py",
        right="if not call.account.verified:",
        wrong="if not call.account.verified and not call.account.active:",
        tests=(_ACCOUNT_STATE,),
    ),
    Mistake(
        name="company-limit-of-a-person",
        promise="A person limited to companies sees no account of another one.",
        source="decisions 11 (four eyes)",
        file="gateway/accounts/store.py",
        right="wanted.where(*of_company(accounts.c.company_id, scope))",
        wrong="wanted",
        tests=(_SCOPED,),
    ),
    Mistake(
        name="forged-address-believed",
        promise="Of a chain of proxies the rightmost address that is not ours counts.",
        source="decisions 11 (caller's address)",
        file="gateway/net/server/peer.py",
        right='for entry in reversed(",".join(lines).rsplit(",", _MOST_HOPS)):',
        wrong='for entry in ",".join(lines).rsplit(",", _MOST_HOPS):',
        tests=(_CLIENT_ADDRESS,),
    ),
)

"""Who may call, and on what: credentials, scope, permissions, the account's state."""

from __future__ import annotations

from tests.mistakes.mistake import Mistake

_AUTHENTICATION = "tests/unit/policies/authentication"
_AUTHORIZATION = "tests/unit/policies/authorization"
_SCOPE = f"{_AUTHORIZATION}/test_account_scope.py"

ROWS = (
    Mistake(
        name="wrong-secret-accepted",
        promise="A secret opens only if its digest is the stored one.",
        source="interface 5.1",
        file="gateway/security/digests.py",
        right="if hmac.compare_digest(made[stored.key_id], stored.digest):",
        wrong="if hmac.compare_digest(stored.digest, stored.digest):",
        tests=("tests/unit/gateway/security/test_digests.py",),
    ),
    Mistake(
        name="old-secret-after-overlap",
        promise="A secret that was rotated away ends with its overlap.",
        source="decision 3",
        file="gateway/security/digests.py",
        right="stored.key_id in self._keyed and (\n            stored.expires_at is None or",
        wrong="stored.key_id in self._keyed or (\n            stored.expires_at is None or",
        tests=("tests/unit/gateway/security/test_digests.py",),
    ),
    Mistake(
        name="revoked-credential-served",
        promise="A revoked credential is refused like a wrong secret.",
        source="decisions 2 (step 8) and 3",
        file="policies/authentication/basic.py",
        right="if credential.revoked_at is not None:",
        wrong="if credential.revoked_at is not None and credential.revoked_at > self.now():",
        tests=(
            f"{_AUTHENTICATION}/test_basic.py::test_what_has_ended_is_refused_like_a_wrong_secret",
        ),
    ),
    Mistake(
        name="expired-credential-served",
        promise="A credential lives to its instant of expiry and no longer.",
        source="decision 2 (step 8)",
        file="policies/authentication/basic.py",
        right="credential.expires_at <= self.now()",
        wrong="credential.expires_at < self.now()",
        tests=(f"{_AUTHENTICATION}/test_basic.py::test_a_credential_lives_to_its_instant",),
    ),
    Mistake(
        name="sister-account-served",
        promise="A credential of one account acts on no other account of the company.",
        source="interface 5.1",
        file="policies/authorization/account_scope.py",
        right="principal.account_id is not None and principal.account_id != account.id",
        wrong="principal.account_id is None and principal.account_id != account.id",
        tests=(f"{_SCOPE}::test_a_sister_account_is_refused",),
    ),
    Mistake(
        name="other-company-served",
        promise="An account of another company does not exist for the caller.",
        source="interface 5.1",
        file="policies/authorization/account_scope.py",
        right=" or account.company_id != principal.company_id:",
        wrong=":",
        tests=(f"{_SCOPE}::test_absent_and_foreign_accounts_are_told_apart_by_nobody",),
    ),
    Mistake(
        name="write-does-not-include-read",
        promise="`manage` includes `write`, `write` includes `read`.",
        source="interface 5.2",
        file="gateway/domain/accounts/permissions.py",
        right="self.action >= needed.action",
        wrong="self.action == needed.action",
        tests=("tests/unit/gateway/domain/test_permissions.py",),
    ),
    Mistake(
        name="read-includes-write",
        promise="A permission to read pays nothing out.",
        source="interface 5.2",
        file="gateway/domain/accounts/permissions.py",
        right="self.resource is needed.resource and self.action >= needed.action",
        wrong="self.resource is needed.resource or self.action >= needed.action",
        tests=("tests/unit/gateway/domain/test_permissions.py",),
    ),
    Mistake(
        name="unverified-account-served",
        promise="An account that is not verified is not banked on.",
        source="interface 5.1",
        file="policies/authorization/account_state.py",
        right="if not call.account.verified:",
        wrong="if not call.account.verified and not call.account.active:",
        tests=(f"{_AUTHORIZATION}/test_account_state.py",),
    ),
    Mistake(
        name="csrf-token-absent",
        promise="A write with a session cookie carries the session's token.",
        source="decision 6 (`CSRF_FAILED`)",
        file="policies/traffic/csrf.py",
        right="if len(sent) != 1 or not hmac.compare_digest(",
        wrong="if len(sent) == 1 and not hmac.compare_digest(",
        tests=("tests/unit/policies/traffic/test_csrf.py::test_a_write_carries_the_token_once",),
    ),
)

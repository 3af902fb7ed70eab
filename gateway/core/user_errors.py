"""Error codes of identity, the panel's session and the back office."""

from __future__ import annotations

from gateway.core.catalogue import Catalogue, ErrorCode

_CATALOGUE = Catalogue()
_declare = _CATALOGUE.declare

PASSWORD_WRONG = _declare(
    "password_wrong",
    ("INVALID_CREDENTIALS", 401),
    "The e-mail address or the password is wrong.",
    "Check both; a forgotten password can be reset.",
)
MFA_INVALID = _declare(
    "mfa_invalid",
    ("MFA_INVALID", 401),
    "The code is not valid.",
    "Use the newest code of the authenticator app, each once, or an unused recovery code.",
)
PASSKEY_INVALID = _declare(
    "passkey_invalid",
    ("MFA_INVALID", 401),
    "The passkey was not accepted.",
    "Try once more, with a new challenge; else use another passkey, or password and code.",
)
MFA_EXPIRED = _declare(
    "mfa_expired",
    ("MFA_EXPIRED", 401),
    "The second-factor challenge is over.",
    "Sign in again with the password.",
)
TOKEN_INVALID = _declare(
    "token_invalid",
    ("TOKEN_INVALID", 401),
    "The access token is missing, expired or not valid.",
    "Refresh the session, or sign in again.",
)
REFRESH_INVALID = _declare(
    "refresh_invalid",
    ("REFRESH_INVALID", 401),
    "The refresh token is not valid.",
    "Sign in again; a refresh token works once.",
)
SESSION_REQUIRED = _declare(
    "session_required",
    ("SESSION_REQUIRED", 401),
    "There is no session.",
    "Sign in.",
)
CSRF_FAILED = _declare(
    "csrf_failed",
    ("CSRF_FAILED", 403),
    "The request does not come from one of our pages.",
    "Send the session's CSRF token from the same origin.",
)
STEP_UP_REQUIRED = _declare(
    "step_up_required",
    ("STEP_UP_REQUIRED", 403),
    "A fresh second factor is required.",
    "Give a code at auth/step-up, then repeat within five minutes.",
)
FORBIDDEN = _declare(
    "forbidden",
    ("FORBIDDEN", 403),
    "Your roles do not allow this.",
    "Ask an administrator for the role.",
)
SIGN_IN_REFUSED = _declare(
    "sign_in_refused",
    ("SIGN_IN_REFUSED", 403),
    "The sign-in is refused.",
    "The message says why; a company may have a sign-in of its own.",
)
VALIDATION_FAILED = _declare(
    "validation_failed",
    ("VALIDATION_FAILED", 400),
    "The request is not valid.",
    "Check the fields and their types.",
)
NOT_POSSIBLE = _declare(
    "not_possible",
    ("VALIDATION_FAILED", 400),
    "The request cannot be carried out.",
    "The message says why.",
)
TOO_MANY_ATTEMPTS = _declare(
    "too_many_attempts",
    ("TOO_MANY_ATTEMPTS", 429),
    "Too many attempts.",
    "Wait as many seconds as Retry-After says.",
)
NOT_FOUND = _declare(
    "not_found",
    ("NOT_FOUND", 404),
    "Not found, or not visible to you.",
    "Check the identifier.",
)
REFUND_NOT_SENT = _declare(
    "refund_not_sent",
    ("SVC.ACC.005", 502),
    "The banking provider could not be reached; nothing was given back by this call.",
    "Back office only: repeat with the same reference.",
)
REFUND_UNKNOWN = _declare(
    "refund_unknown",
    ("SVC.PIX.010", 502),
    "The refund's outcome is not known.",
    "Back office only: read or repeat the same reference, never a new one.",
)

CATALOGUE: tuple[ErrorCode, ...] = tuple(_CATALOGUE.by_name.values())
"""Every code of people, in this order."""

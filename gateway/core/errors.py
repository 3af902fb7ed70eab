"""The catalogue of error codes, with status and message."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from gateway.core.catalogue import Catalogue, ErrorCode


class OutsideFailure(Exception):
    """
    A call of an external system failed.

    Attributes:
        reason: A fixed word for logs and metrics, never the other's text.
        retry_after: Seconds to wait before a repetition; None if unstated.
    """

    def __init__(self, reason: str, *, retry_after: float | None = None) -> None:
        """Take the reason, a fixed word."""
        super().__init__(reason)
        self.reason = reason
        self.retry_after = retry_after


class ServiceError(Exception):
    """
    A refusal on its way to the one place that renders it.

    Attributes:
        error: The catalogued code.
        reason: Why, as a fixed word of ``gateway.core.reasons``: for logs, for
            metrics, and for people, who are shown it on their surfaces.
        field: The invalid input: a path in the body such as ``destination.key``, or
            the name of a parameter. Only names that we declare, never a caller's.
        words: What the field may be, as it is documented.
        headers: Additional answer headers, such as ``Retry-After`` in seconds.
        detail: A sentence of ours behind the message, for operators alone.
    """

    def __init__(  # noqa: PLR0913 - a code, and by name what is said beside it
        self,
        error: ErrorCode,
        reason: str = "",
        headers: Mapping[str, str] | None = None,
        *,
        field: str = "",
        words: Collection[str] = (),
        detail: str = "",
    ) -> None:
        """Carry ``error``; all else is optional."""
        super().__init__(error.name)
        self.error = error
        self.reason = reason
        self.field = field
        self.words = words
        self.headers: Mapping[str, str] = headers or {}
        self.detail = detail


_CATALOGUE = Catalogue()
_declare = _CATALOGUE.declare

CREDENTIALS_MISSING = _declare(
    "credentials_missing",
    ("SVC.AUT.001", 401),
    "The Authorization header is missing.",
    "Send Authorization: Basic with client_id and client_secret.",
)
CREDENTIALS_MALFORMED = _declare(
    "credentials_malformed",
    ("SVC.AUT.002", 401),
    "The Authorization header must be Basic and the base64 of client_id:client_secret.",
    "Send one header; the base64 has no line breaks, and its text is UTF-8.",
)
BASIC_REQUIRED = _declare(
    "basic_required",
    ("SVC.AUT.009", 401),
    "Basic authorization is required.",
    "Use the Basic scheme; bearer tokens are for the identity surface.",
)
CREDENTIALS_INVALID = _declare(
    "credentials_invalid",
    ("SVC.AUT.010", 401),
    "The credentials are invalid.",
    "Check client_id, client_secret, the environment, and the signature of a payout if you sign.",
)
PERMISSION_DENIED = _declare(
    "permission_denied",
    ("SVC.AUT.010", 403),
    "The credential lacks the permission for this operation.",
    "Ask the operator: a permission is missing, or your address is not allowed.",
)
SCOPE_DENIED = _declare(
    "scope_denied",
    ("SVC.AUT.010", 403),
    "The credential is scoped to another account.",
    "Use a credential of this account or of the company.",
)
FIELD_MISSING = _declare(
    "field_missing",
    ("SVC.VAL.001", 400),
    "A required field or query parameter is missing.",
    "Send every required field; null and the empty text count as missing.",
)
IDENTIFIER_INVALID = _declare(
    "identifier_invalid",
    ("SVC.VAL.006", 400),
    "A path identifier is not a UUID.",
    "Send the hyphenated form of the UUID.",
)
DATE_INVALID = _declare(
    "date_invalid",
    ("SVC.VAL.007", 400),
    "A date is not in the form YYYY-MM-DD.",
    "Send one real calendar date per parameter, in the form YYYY-MM-DD.",
)
WINDOW_INVALID = _declare(
    "window_invalid",
    ("SVC.VAL.008", 400),
    "The date range is backwards or over 90 days.",
    "Ask for at most 90 days, both ends included.",
)
PAYOUT_DATE_NOT_TODAY = _declare(
    "payout_date_not_today",
    ("SVC.VAL.008", 400),
    "The payout's date is not today in UTC; payouts cannot be scheduled.",
    "Send today's date in UTC.",
)
NUMBER_INVALID = _declare(
    "number_invalid",
    ("SVC.VAL.009", 400),
    "A page or limit is not a positive integer.",
    "Send page and limit once each, as positive integers.",
)
AMOUNT_NOT_POSITIVE = _declare(
    "amount_not_positive",
    ("SVC.VAL.009", 400),
    "The amount is not above zero.",
    "Send an amount above zero.",
)
PAYLOAD_INVALID = _declare(
    "payload_invalid",
    ("SVC.VAL.011", 400),
    "The payload is malformed, a tax number is invalid or a text is too long.",
    "Check the types, the tax number and the length of each field.",
)
MALFORMED_REQUEST = _declare(
    "malformed_request",
    ("SVC.VAL.011", 400),
    "The HTTP request is malformed.",
    "Send well-formed HTTP/1.1.",
)
ACCOUNT_NOT_FOUND = _declare(
    "account_not_found",
    ("SVC.ACC.001", 404),
    "The account was not found.",
    "Check the account identifier and the credential's company.",
)
ACCOUNT_INACTIVE = _declare(
    "account_inactive",
    ("SVC.ACC.002", 400),
    "The account is not active.",
    "Ask the operator to activate the account.",
)
ACCOUNT_UNVERIFIED = _declare(
    "account_unverified",
    ("SVC.ACC.003", 400),
    "The account is not verified.",
    "Ask the operator to verify the account.",
)
PROVIDER_READ_ONLY = _declare(
    "provider_read_only",
    ("SVC.ACC.005", 403),
    "The banking provider of this account is read-only.",
    "Payouts are not available on this account.",
)
PROVIDER_NOT_CONFIGURED = _declare(
    "provider_not_configured",
    ("SVC.ACC.005", 422),
    "No banking provider is configured for this operation of the account.",
    "Ask the operator to configure a provider.",
)
PROVIDER_UNREACHABLE = _declare(
    "provider_unreachable",
    ("SVC.ACC.005", 502),
    "The banking provider could not be reached; the payout was certainly not sent.",
    "Repeat with the same reference, with exponential backoff.",
)
PROVIDER_CREDENTIALS_REFUSED = _declare(
    "provider_credentials_refused",
    ("SVC.ACC.005", 502),
    "The banking provider did not accept the account's credentials; nothing was paid.",
    "Tell the operator; repeat with the same reference when the credentials are in order.",
)
PROVIDER_BUSY = _declare(
    "provider_busy",
    ("SVC.ACC.005", 502),
    "The banking provider is not accepting more calls at the moment; nothing was paid.",
    "Repeat with the same reference, with exponential backoff.",
)
BALANCE_UNAVAILABLE = _declare(
    "balance_unavailable",
    ("SVC.ACC.006", 502),
    "The balance could not be retrieved.",
    "Repeat with exponential backoff.",
)
STATEMENT_UNAVAILABLE = _declare(
    "statement_unavailable",
    ("SVC.ACC.007", 502),
    "The statement could not be retrieved.",
    "Repeat with exponential backoff.",
)
PIX_KEY_NOT_FOUND = _declare(
    "pix_key_not_found",
    ("SVC.PIX.002", 404),
    "The PIX key was not found.",
    "Take key_id from the list of keys.",
)
PIX_KEYS_UNAVAILABLE = _declare(
    "pix_keys_unavailable",
    ("SVC.PIX.002", 502),
    "The PIX keys could not be listed.",
    "Repeat with exponential backoff.",
)
CHARGE_NOT_FOUND = _declare(
    "charge_not_found",
    ("SVC.PIX.005", 404),
    "The QR code was not found or has expired.",
    "Check the reference; an expired charge cannot be paid.",
)
CHARGE_UNAVAILABLE = _declare(
    "charge_unavailable",
    ("SVC.PIX.005", 502),
    "The QR code could not be retrieved.",
    "Repeat with exponential backoff.",
)
TRANSACTION_UNAVAILABLE = _declare(
    "transaction_unavailable",
    ("SVC.PIX.007", 502),
    "The PIX transaction could not be retrieved.",
    "Repeat with exponential backoff.",
)
PAYOUT_REJECTED = _declare(
    "payout_rejected",
    ("SVC.PIX.010", 400),
    "The payout was rejected.",
    "Read the payout for its failure code; a new payout needs a new reference.",
)
PAYOUT_REFERENCE_IN_USE = _declare(
    "payout_reference_in_use",
    ("SVC.PIX.010", 400),
    "The reference is in use with other content.",
    "Use one reference per payout; repeat it only with the same content.",
)
PAYOUT_NOT_ALLOWED = _declare(
    "payout_not_allowed",
    ("SVC.PIX.010", 403),
    "The payout is not allowed for this account.",
    "Check limits and restrictions with the operator.",
)
PAYOUTS_STOPPED = _declare(
    "payouts_stopped",
    ("SVC.PIX.010", 403),
    "Payouts are stopped for now; nothing was sent.",
    "Repeat the same reference later; ask the operator when payouts go on.",
)
PAYOUT_UNKNOWN = _declare(
    "payout_unknown",
    ("SVC.PIX.010", 502),
    "The payout's outcome is not known yet; it is stored and followed up.",
    "Repeat with the same reference or read the payout; never use a new reference.",
)
PAYOUT_NOT_FOUND = _declare(
    "payout_not_found",
    ("SVC.PIX.011", 404),
    "The payout was not found.",
    "Check the reference; nothing was stored under it.",
)
PAYOUT_METHOD_INVALID = _declare(
    "payout_method_invalid",
    ("SVC.PIX.012", 400),
    "The payout method is invalid; qrcode is not supported.",
    "Use pix or bank_account.",
)
BANK_ACCOUNT_INCOMPLETE = _declare(
    "bank_account_incomplete",
    ("SVC.PIX.013", 400),
    "Bank number, branch and account are required.",
    "Send bank_number, branch and account in destination.",
)
PIX_KEY_INCOMPLETE = _declare(
    "pix_key_incomplete",
    ("SVC.PIX.014", 400),
    "Key type and key are required.",
    "Send key_type and key in destination.",
)
TRANSACTION_NOT_FOUND = _declare(
    "transaction_not_found",
    ("SVC.PIX.017", 404),
    "The PIX transaction was not found.",
    "Check the reference of the charge.",
)
CANCEL_NOT_IMPLEMENTED = _declare(
    "cancel_not_implemented",
    ("SVC.PIX.018", 501),
    "Payout cancellation is not implemented.",
    "A submitted payout is final.",
)
INTERNAL = _declare(
    "internal",
    ("SVC.SYS.001", 500),
    "An unexpected internal error occurred.",
    "For a payout, read the reference first; report the trace id.",
)
AUTH_UNAVAILABLE = _declare(
    "auth_unavailable",
    ("SVC.SYS.002", 503),
    "The authentication service is unavailable.",
    "Repeat with backoff.",
)
STORE_UNAVAILABLE = _declare(
    "store_unavailable",
    ("SVC.SYS.002", 503),
    "The service cannot reach its store.",
    "Repeat with backoff; for a payout or a refund, read its reference first.",
)
ROUTE_UNKNOWN = _declare(
    "route_unknown",
    ("SVC.GTW.001", 404),
    "No such route.",
    "Check the path; a trailing or doubled slash is another path.",
)
METHOD_NOT_ALLOWED = _declare(
    "method_not_allowed",
    ("SVC.GTW.002", 405),
    "The method is not allowed on this route.",
    "Use a method listed in the Allow header.",
)
BODY_TOO_LARGE = _declare(
    "body_too_large",
    ("SVC.GTW.003", 413),
    "The body is too large.",
    "Send at most 64 KiB.",
)
REQUEST_TIMEOUT = _declare(
    "request_timeout",
    ("SVC.GTW.004", 408),
    "The request was not received in time.",
    "Send headers within 10 seconds and the body within 15.",
)
TOO_MANY_REQUESTS = _declare(
    "too_many_requests",
    ("SVC.GTW.005", 429),
    "Too many requests.",
    "Wait as many seconds as Retry-After says.",
)
OVERLOADED = _declare(
    "overloaded",
    ("SVC.GTW.006", 503),
    "The service is overloaded.",
    "Wait as many seconds as Retry-After says.",
)
DRAINING = _declare(
    "draining",
    ("SVC.GTW.006", 503),
    "The service is shutting down here.",
    "Wait as many seconds as Retry-After says, then open a new connection.",
)
HEADERS_TOO_LARGE = _declare(
    "headers_too_large",
    ("SVC.GTW.007", 431),
    "The request line or the headers are too large.",
    "Send at most 64 headers of 8190 bytes and a request line of 16 KiB, 32 KiB in all.",
)
BANK_REFUSED = _declare(
    "bank_refused",
    ("SVC.GTW.008", 422),
    "The bank refused the request.",
    "Back office and sandbox: the message says why, if the bank does; correct the request.",
)
ALREADY_IN_USE = _declare(
    "already_in_use",
    ("SVC.GTW.009", 409),
    "This is already in use.",
    "Back office and sandbox: choose another value.",
)
CREDENTIAL_LIMIT = _declare(
    "credential_limit",
    ("SVC.GTW.010", 403),
    "The payout is above a limit of the credential.",
    "Nothing was sent; ask the operator to raise the limit of a payout, of a day or of a night.",
)
VERSION_CHANGED = _declare(
    "version_changed",
    ("SVC.GTW.011", 412),
    "This was changed after you read it.",
    "Back office only: read it again, and send its ETag as If-Match.",
)
CLOSING_NOT_FOUND = _declare(
    "closing_not_found",
    ("SVC.GTW.012", 404),
    "There is no signed closing of this day.",
    "Ask the operator to sign the day, then repeat.",
)
USER_CREDENTIALS_INVALID = _declare(
    "user_credentials_invalid",
    ("INVALID_CREDENTIALS", 401),
    "The credentials are not those of a user.",
    "Identity only: sign in as a user; Basic credentials are for banking.",
)

ELSEWHERE = frozenset(
    {
        BANK_REFUSED,
        ALREADY_IN_USE,
        VERSION_CHANGED,
        CLOSING_NOT_FOUND,
        USER_CREDENTIALS_INVALID,
        STORE_UNAVAILABLE,
    }
)
"""Codes that the banking surface never answers with."""

CATALOGUE: tuple[ErrorCode, ...] = tuple(_CATALOGUE.by_name.values())
"""Every code in the order of contract part 7, ours behind it."""

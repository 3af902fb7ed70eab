"""The settings of people: tokens, passwords, throttles, mail, and the panel's sessions."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct, field

from gateway.config.values import Count, Label, Port, Seconds, Secret, written

Encryption = Literal["starttls", "tls", "none"]
"""How the mail server is spoken to."""
Demanded = Literal["production", "always", "never"]
"""Where something is demanded of people."""


class Mail(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """
    The server that mail goes out through.

    Attributes:
        host: Empty sends nothing: messages wait in the mailbox, where
            ``pixgate mailbox`` shows them in the sandbox.
        port: Of the server.
        encryption: ``starttls``, ``tls`` from the first byte, or ``none``.
        user: Empty signs in to no server.
        password: Of that user.
        sender: The From address of messages.
        timeout_s: For one message.
        every_s: How often the mailbox is looked at.
    """

    host: Annotated[str, written("${PIXGATE_SMTP_HOST:-}")] = ""
    port: Port = 587
    encryption: Encryption = "starttls"
    user: Annotated[str, written("${PIXGATE_SMTP_USER:-}")] = ""
    password: Annotated[Secret, written("${PIXGATE_SMTP_PASSWORD:-}")] = Secret("")
    sender: str = "pixgate@localhost"
    timeout_s: Seconds = 20.0
    every_s: Seconds = 2.0


class Tries(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """
    How often a person may be wrong; above: 429.

    Attributes:
        account_ip: Passwords for one account from one address in 15 minutes;
            then a block of 30 s, doubling up to 15 minutes.
        address: Passwords from one address in 5 minutes.
        account: Passwords for one account in an hour; further tries are held 5 s.
        consecutive: Passwords for one account in a row; then only a reset helps.
        factor: Codes in a row; then a block of 15 minutes.
        resets: Reset links of one account that work at the same time, for half an
            hour each; until one ends, no other is sent.
        address_resets: Requests for one from one address in an hour.
        device: Passwords in an hour in a browser where that person signed in
            before; strangers' guesses do not count there.
    """

    # a person who mistypes a known password succeeds within five tries
    account_ip: Count = 5
    # an office behind one address may sign in together on a Monday morning
    address: Count = 20
    account: Count = 50
    # NIST 800-63B, part 5.2.2: no more than 100 in a row
    consecutive: Count = 100
    factor: Count = 10
    resets: Count = 3
    address_resets: Count = 10
    device: Count = 10


class MfaRequired(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """
    Which roles change nothing without a second factor: in production, always or never.

    A user without one signs in, reads and enrols.

    Attributes:
        viewer, operator, approver, security, admin: By role.
    """

    viewer: Demanded = "production"
    operator: Demanded = "production"
    approver: Demanded = "production"
    security: Demanded = "production"
    admin: Demanded = "production"


class Identity(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """
    People.

    Attributes:
        origin: The begin of links in mails, the server of our OpenAPI documents, and the host
            of passkeys, ``https://host``; empty in the sandbox is the public listener. A
            request never decides it.
        issuer: The ``iss`` of access tokens.
        audience: Their ``aud``.
        access_s: How long one lives.
        refresh_s: From a sign-in to the end of its last token.
        sessions: A person has at once; the oldest ends.
        pepper: The pepper of passwords; empty derives it from
            ``sealing.key``.
        retired_peppers: Former ones, by a label of yours.
        mfa_required: Of whom a second factor is demanded.
        tries: Failures before a caller has to wait.
        mail: The server that mail goes out through.
    """

    origin: Annotated[str, written("${PIXGATE_ORIGIN:-}")] = ""
    issuer: Annotated[str, Meta(min_length=1, max_length=200)] = "pixgate"
    audience: Annotated[str, Meta(min_length=1, max_length=200)] = "pixgate"
    access_s: Annotated[float, Meta(ge=60, le=3_600)] = 600.0
    refresh_s: Annotated[float, Meta(ge=600, le=86_400)] = 28_800.0
    sessions: Annotated[int, Meta(ge=1, le=100)] = 5
    pepper: Annotated[Secret, written("${PIXGATE_PASSWORD_PEPPER:-}")] = Secret("")
    retired_peppers: dict[Label, Secret] = field(default_factory=dict)
    mfa_required: MfaRequired = MfaRequired()
    tries: Tries = Tries()
    mail: Mail = Mail()


class Session(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """
    The panel's sessions in browsers; their absolute end is ``identity.refresh_s``.

    Attributes:
        idle_s: Without a call of the panel, a session ends.
        renew_s: How often the cookie is renewed, beside each rise of privilege.
        insecure_dev: Names the cookie ``pixgate-dev`` and gives it without
            ``Secure``, for plain HTTP on one machine; production refuses it.
    """

    idle_s: Annotated[float, Meta(ge=60, le=3_600)] = 900.0
    renew_s: Annotated[float, Meta(ge=60, le=28_800)] = 3_600.0
    insecure_dev: bool = False

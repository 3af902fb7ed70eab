"""
TLS to a bank: contexts from files or memory, rebuilt when files change; resumed sessions.

A resumed session makes a new connection cheap: it skips the certificates.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
import sys
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from math import inf
from pathlib import Path
from typing import Final, cast

import msgspec

from gateway.banks.port.providers import Reason, Unreachable
from gateway.core.clocks import Monotonic, Now
from gateway.net.common.certificates import (
    CertificatePair,
    PairRefused,
    Part,
    PemFlaw,
    Validity,
    check_pair,
    load_pair,
    no_password,
    validity_of,
)

# Checking three files takes microseconds, and a renewal is in use within a second.
_CHECK_S: Final = 1.0
_SESSIONS: Final = 64
"""As many as calls in flight by default; each is used once, as RFC 8446 C.4 advises."""

_VERIFIED_S: Final = 600.0
"""A resumed connection shows no certificate; after this time one must be verified again."""
_log = logging.getLogger("pixgate.provider.tls")

FileStates = tuple[tuple[int, int, int], ...]
"""What shows that a file has changed: its time of change, size and inode."""


class TlsFilesRefused(ValueError):
    """The TLS files of a provider cannot be used; the message begins with the setting's path."""


class TlsFiles(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    rename={"ca_file": "ca", "cert_file": "certificate", "key_file": "key"},
):
    """
    Files in PEM format; an empty path means none. Part of a provider's settings.

    Attributes:
        ca_file: The authorities to trust instead of the system's; set as ``ca``.
        cert_file: Our certificate, and after it those between it and the bank's
            authority; set as ``certificate``.
        key_file: Its key, unencrypted; empty when it is in ``cert_file``; set as ``key``.
    """

    ca_file: str = ""
    cert_file: str = ""
    key_file: str = ""

    def paths(self) -> tuple[Path, ...]:
        """Return the paths that are set."""
        return tuple(map(Path, filter(None, (self.ca_file, self.cert_file, self.key_file))))


@dataclass(frozen=True, slots=True, kw_only=True)
class TlsSetup:
    """
    The trust and the certificate of connections.

    Attributes:
        pair: Shown instead of the certificate of ``files``, and used from memory.
        certificate_required: Whether the bank requires a certificate: without a valid one nothing
            is sent.
        sessions: Of earlier connections, kept to be resumed; each has some kilobytes.
    """

    files: TlsFiles = field(default_factory=TlsFiles)
    pair: CertificatePair | None = None
    certificate_required: bool = False
    sessions: int = _SESSIONS

    def paths(self) -> tuple[Path, ...]:
        """Return the files that are read, and read again when they change."""
        if self.pair is None:
            return self.files.paths()
        return (Path(self.files.ca_file),) if self.files.ca_file else ()


class VerifiedSSLObject(ssl.SSLObject):
    """
    The TLS of one connection.

    Attributes:
        verified_at: When the certificate behind its session was verified, in seconds.
    """

    verified_at: float = inf


class ResumingContext(ssl.SSLContext):
    """
    A context for one bank; its connections resume sessions of earlier ones.

    Attributes:
        validity: Of our certificate; None if it shows none.
    """

    validity: Validity | None = None

    def __init__(self, _protocol: int, clock: Monotonic, sessions: int = _SESSIONS) -> None:
        super().__init__()
        self.sslobject_class = VerifiedSSLObject
        self._clock = clock
        self._sessions: deque[tuple[ssl.SSLSession, float]] = deque(maxlen=sessions)
        self._kept_from = -inf

    def wrap_bio(
        self,
        incoming: ssl.MemoryBIO,
        outgoing: ssl.MemoryBIO,
        server_side: bool = False,  # noqa: FBT001, FBT002 - the standard library's signature
        server_hostname: str | bytes | None = None,
        session: ssl.SSLSession | None = None,
    ) -> VerifiedSSLObject:
        """Begin a connection's TLS with the session that was offered last."""
        now = self._clock()
        verified_at = now
        while session is None and self._sessions:
            offered, since = self._sessions.pop()
            if now < since + _VERIFIED_S:
                session, verified_at = offered, since
        made = super().wrap_bio(incoming, outgoing, server_side, server_hostname, session)
        secured = cast("VerifiedSSLObject", made)
        secured.verified_at = verified_at
        return secured

    def keep(self, secured: VerifiedSSLObject) -> None:
        """Keep the session of a connection that brought an answer, if it can be resumed."""
        session = secured.session
        if session is None or not (session.has_ticket or session.id):
            return
        if self._clock() < self._kept_from:
            return
        verified_at = secured.verified_at if secured.session_reused else self._clock()
        self._sessions.append((session, verified_at))

    def forget_sessions(self) -> None:
        """Resume nothing for ten minutes: a handshake failed, perhaps because of its session."""
        self._sessions.clear()
        self._kept_from = self._clock() + _VERIFIED_S


class TlsCredentials:
    """
    Keeps the context for new connections: TLS 1.2 or 1.3, HTTP/1.1.

    Args:
        now: The wall clock, to judge our certificate.
        clock: Seconds; the files are checked at most once a second.
        on_renewed: Called when files were read and are in use, at the start and after
            every change, with the end of our certificate's validity or None.
    """

    def __init__(
        self,
        setup: TlsSetup,
        now: Now,
        clock: Monotonic,
        on_renewed: Callable[[datetime | None], None],
    ) -> None:
        self._setup = setup
        self._now = now
        self._clock = clock
        self._on_renewed = on_renewed
        self._context: ResumingContext | None = None
        self._states: FileStates = ()
        self._check_at = 0.0

    async def start(self) -> None:
        """
        Read the files.

        Raises:
            TlsFilesRefused: one cannot be read, or they do not belong together.
        """
        states: FileStates = ()
        with suppress(OSError):  # reading says which one
            states = _file_states(self._setup)
        self._use(await self._build(), states)

    def close(self) -> None:
        """Drop the context: sessions refer to it, so that both are freed only together."""
        if self._context is not None:
            self._context.forget_sessions()
        self._context = None

    async def current(self) -> ResumingContext:
        """Return the context for a new connection."""
        await self.refresh()
        if self._context is None:
            raise Unreachable(Reason.CLOSED)
        return self._context

    async def refresh(self) -> None:
        """Read the files again if they have changed; unusable ones change nothing."""
        now = self._clock()
        if now < self._check_at:
            return
        self._check_at = now + _CHECK_S
        try:
            states = _file_states(self._setup)
            if states == self._states:
                return
            made = await self._build()
        except (OSError, ValueError) as problem:
            # Perhaps they are only half written; the next check is in a second.
            _log.warning("TLS files are not usable, the former ones stay: %s", problem)
            return
        self.close()
        self._use(made, states)

    async def check(self, *, moves_money: bool) -> None:
        """
        Refuse a call without a currently valid certificate.

        If we have a certificate, money never moves without a valid one; reads do, unless the bank
        is known to require it. In TLS 1.3 the bank refuses a bad certificate only after the request
        was written, and the outcome of a payout is then unknown.

        Raises:
            Unreachable: ``certificate_missing`` or ``certificate_expired``.
        """
        await self.refresh()
        is_required = self._setup.certificate_required
        validity = self._context.validity if self._context else None
        if validity is None and is_required:
            raise Unreachable(Reason.CERTIFICATE_MISSING)
        if validity is None or not (moves_money or is_required):
            return
        if not validity.begins <= self._now() < validity.ends:
            raise Unreachable(Reason.CERTIFICATE_EXPIRED)

    def _use(self, made: ResumingContext, states: FileStates) -> None:
        self._context, self._states = made, states
        self._on_renewed(made.validity.ends if made.validity else None)

    async def _build(self) -> ResumingContext:
        """Make a context in a thread: reading the authorities takes a while."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(None, load_context, self._setup, self._clock)


def load_context(setup: TlsSetup, clock: Monotonic) -> ResumingContext:
    """
    Make a context; blocks.

    Only the certificate's list of names counts. Its common name, which no authority checks for
    being a host name, was given up in 2011 (RFC 6125).

    Raises:
        TlsFilesRefused: a file cannot be read, or has the wrong content.
        NoMemoryFiles: the pair cannot be handed over on this system.
    """
    context = ResumingContext(ssl.PROTOCOL_TLS_CLIENT, clock, setup.sessions)
    if sys.version_info >= (3, 13):  # as the standard library's own default contexts
        context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN | ssl.VERIFY_X509_STRICT
    context.hostname_checks_common_name = False
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    # We speak nothing else; a bank that insists on HTTP/2 fails in the handshake.
    context.set_alpn_protocols(["http/1.1"])
    _load_authorities(context, setup.files)
    context.validity = _load_certificate(context, setup)
    return context


def check_files(files: TlsFiles) -> None:
    """
    Read the files once, to find out whether they can be used; blocks, and connects nowhere.

    Raises:
        TlsFilesRefused: one cannot be read, or they do not belong together.
    """
    if files.paths():
        load_context(TlsSetup(files=files), time.monotonic)


def _load_authorities(context: ssl.SSLContext, files: TlsFiles) -> None:
    if not files.ca_file:
        context.load_default_certs()
        return
    try:
        context.load_verify_locations(files.ca_file)
    except ssl.SSLError as problem:
        message = "tls.ca: holds no certificate in PEM"
        raise TlsFilesRefused(message) from problem
    except OSError as problem:
        raise _unreadable(problem, "ca") from problem


def _load_certificate(context: ssl.SSLContext, setup: TlsSetup) -> Validity | None:
    try:
        if setup.pair is not None:
            validity = validity_of(setup.pair.certificate)
            load_pair(context, setup.pair)
            return validity
        return _load_certificate_files(context, setup.files) if setup.files.cert_file else None
    except PairRefused as problem:
        message = f"tls.{problem}"
        raise TlsFilesRefused(message) from problem


def _load_certificate_files(context: ssl.SSLContext, files: TlsFiles) -> Validity:
    """Load the certificate of a file; the file may hold both parts."""
    certificate = _read("certificate", files.cert_file)
    key = _read("key", files.key_file) if files.key_file else certificate
    validity = check_pair(CertificatePair(certificate=certificate, key=key))
    try:
        context.load_cert_chain(files.cert_file, files.key_file or None, password=no_password)
    except (OSError, ValueError) as problem:
        raise PairRefused(Part.CERTIFICATE, PemFlaw.UNUSABLE) from problem
    return validity


def _read(part: str, file: str) -> str:
    try:
        return Path(file).read_text(encoding="utf-8", errors="replace")
    except OSError as problem:
        raise _unreadable(problem, part) from problem


def _unreadable(problem: OSError, part: str) -> TlsFilesRefused:
    """Return the error for an unreadable file; the configuration names the file."""
    return TlsFilesRefused(f"tls.{part}: cannot be read: {problem.strerror or 'damaged'}")


def _file_states(setup: TlsSetup) -> FileStates:
    """Describe the files without reading them."""
    seen = [path.stat() for path in setup.paths()]
    return tuple((one.st_mtime_ns, one.st_size, one.st_ino) for one in seen)

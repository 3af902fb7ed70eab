"""Whom we trust and who we are: contexts from files, made anew when the files change."""

from __future__ import annotations

import asyncio
import logging
import ssl
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

import msgspec
from cryptography import x509

from gateway.domain.bank.providers import Unreachable
from gateway.domain.kernel.clocks import Monotonic, Now
from gateway.net.client.reasons import Reason
from gateway.net.client.resumption import ResumingContext

_LOOK_S: Final = 1.0
_log = logging.getLogger("pixgate.provider.tls")

Stamp = tuple[tuple[int, int, int], ...]
"""What tells a changed file: time of change, size and number."""


class TlsFilesRefused(ValueError):
    """The TLS files of a provider cannot be used; the message is for the operator."""


class TlsFiles(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    rename={"ca_file": "ca", "cert_file": "certificate", "key_file": "key"},
):
    """
    Files in PEM; empty where there is none. A part of a provider's settings.

    Attributes:
        ca_file: Whom to trust instead of the system's authorities; set as ``ca``.
        cert_file: Our certificate, and after it those between it and the bank's
            authority; set as ``certificate``.
        key_file: Its key, unencrypted; empty when it is in ``cert_file``; set as ``key``.
    """

    ca_file: str = ""
    cert_file: str = ""
    key_file: str = ""

    def paths(self) -> tuple[Path, ...]:
        """Return those that are named."""
        return tuple(map(Path, filter(None, (self.ca_file, self.cert_file, self.key_file))))


@dataclass(frozen=True, slots=True, kw_only=True)
class Secured:
    """A context, and from when until when our certificate in it is good; None without one."""

    context: ResumingContext
    begins: datetime | None = None
    ends: datetime | None = None


class Credentials:
    """
    The context connections are made with: TLS 1.2 or 1.3, HTTP/1.1.

    Args:
        now: The wall clock, for our certificate.
        clock: Seconds; the files are looked at once in one of them.
        renewed: Told when files have been read and are in use, at the start and
            after every change: when our certificate ends, None without one.
    """

    def __init__(
        self,
        files: TlsFiles,
        now: Now,
        clock: Monotonic,
        renewed: Callable[[datetime | None], None],
    ) -> None:
        self._files = files
        self._now = now
        self._clock = clock
        self._renewed = renewed
        self._secured: Secured | None = None
        self._stamp: Stamp = ()
        self._look_at = 0.0

    @property
    def certificate_ends(self) -> datetime | None:
        """When our certificate is no longer good; None without one."""
        return self._secured.ends if self._secured else None

    async def start(self) -> None:
        """
        Read the files.

        Raises:
            TlsFilesRefused: one cannot be read, or they do not belong together.
        """
        try:
            self._stamp = _stamp(self._files)
            self._secured = await self._made()
        except (OSError, ValueError) as problem:
            message = f"TLS files: {type(problem).__name__}: {problem}"
            raise TlsFilesRefused(message) from problem
        self._renewed(self.certificate_ends)

    async def current(self) -> ResumingContext:
        """Return the context to connect with now."""
        await self.refresh()
        if self._secured is None:
            raise Unreachable(Reason.CLOSED)
        return self._secured.context

    async def refresh(self) -> None:
        """Read the files again if they have changed; those that are no good change nothing."""
        now = self._clock()
        if now < self._look_at:
            return
        self._look_at = now + _LOOK_S
        try:
            stamp = _stamp(self._files)
            if stamp == self._stamp:
                return
            self._secured = await self._made()
        except (OSError, ValueError) as problem:
            # Perhaps half written: looked at again in a second.
            _log.warning("TLS files are not usable, the former ones stay: %s", problem)
            return
        self._stamp = stamp
        self._renewed(self.certificate_ends)

    def require_valid(self) -> None:
        """
        Refuse to move money with a certificate that is not good now.

        In TLS 1.3 the bank refuses it after the request was written, and then
        nobody knows what became of the money.

        Raises:
            Unreachable: ``tls_failed``.
        """
        secured = self._secured
        if secured is None or secured.begins is None or secured.ends is None:
            return
        if not secured.begins <= self._now() < secured.ends:
            raise Unreachable(Reason.TLS_FAILED)

    async def _made(self) -> Secured:
        """Make a context beside the loop: reading the authorities takes a while."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(None, secured, self._files, self._clock)


def secured(files: TlsFiles, clock: Monotonic) -> Secured:
    """
    Make a context from files; blocks.

    A bank's name counts in its certificate's list of names alone: the common name,
    which nobody checks for being a name, was left for that in 2011 (RFC 6125).

    Raises:
        OSError: one cannot be read; ``ssl.SSLError`` is one.
        ValueError: the certificate is none.
    """
    context = ResumingContext(ssl.PROTOCOL_TLS_CLIENT, clock)
    if sys.version_info >= (3, 13):  # as the standard library's own default contexts
        context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN | ssl.VERIFY_X509_STRICT
    context.hostname_checks_common_name = False
    if files.ca_file:
        context.load_verify_locations(files.ca_file)
    else:
        context.load_default_certs()
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    if not files.cert_file:
        return Secured(context=context)
    context.load_cert_chain(files.cert_file, files.key_file or None, password=_no_password)
    leaf = x509.load_pem_x509_certificates(Path(files.cert_file).read_bytes())[0]
    return Secured(context=context, begins=leaf.not_valid_before_utc, ends=leaf.not_valid_after_utc)


def _no_password() -> str:
    """Answer for a key that is encrypted; without this OpenSSL would ask at the terminal."""
    problem = "the key is encrypted"
    raise ValueError(problem)


def _stamp(files: TlsFiles) -> Stamp:
    """Look at the files without reading them."""
    seen = [path.stat() for path in files.paths()]
    return tuple((one.st_mtime_ns, one.st_size, one.st_ino) for one in seen)

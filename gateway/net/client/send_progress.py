"""How far one call has got: the only evidence of whether a byte left us."""

from __future__ import annotations

from typing import Final

from gateway.domain.bank.providers import Evidence, Phase, ProviderError
from gateway.domain.kernel.clocks import Deadline

# Looking a member up by its name costs Python 3.11 a call each time.
_REFUSED_HERE: Final = Phase.REFUSED_HERE
_CONNECTING: Final = Phase.CONNECTING
_CONNECTED: Final = Phase.CONNECTED
_SENT: Final = Phase.SENT
_ANSWERED: Final = Phase.ANSWERED


class SendRefused(Exception):
    """The request must no longer be written; raised before its first byte."""


class SendProgress:
    """
    The progress of one call, noted by the transport as it happens.

    A call may send only before ``end``, and not after ``send_by``. ``sending`` checks
    both; the transport calls it in the same step as the write.

    Attributes:
        bytes_left: Set before the first byte is written, and never reset: if it is
            False, certainly nothing left us.
        refused_here: We stopped the call ourselves; it says nothing about the bank.
    """

    __slots__ = ("_ended", "bytes_left", "http_status", "phase", "refused_here", "send_by")

    def __init__(self, send_by: Deadline | None = None) -> None:
        self.send_by = send_by
        self.phase: Phase = _REFUSED_HERE
        self.bytes_left = False
        self.http_status = 0
        self.refused_here = False
        self._ended = False

    def connecting(self) -> None:
        """Note that a connection is being opened or taken from the pool."""
        self.phase = _CONNECTING

    def connected(self) -> None:
        """Note that there is a connection."""
        self.phase = _CONNECTED

    def sending(self) -> None:
        """
        Note that the first byte is written now, or refuse it.

        Raises:
            SendRefused: the deadline has passed, or the call is over.
        """
        if self._ended or (self.send_by is not None and self.send_by.passed()):
            self.refused_here = True
            raise SendRefused
        self.bytes_left = True
        self.phase = _SENT

    def answered(self, http_status: int) -> None:
        """Note that the answer's head has arrived."""
        self.phase = _ANSWERED
        self.http_status = http_status

    def end(self) -> None:
        """Forbid any later write, whatever still runs for this call."""
        self._ended = True

    def evidence(self, failure: ProviderError) -> Evidence:
        """Return what is known after a failure."""
        return Evidence(
            phase=self.phase,
            bytes_left=self.bytes_left,
            reason=str(failure.reason),
            http_status=self.http_status or None,
        )

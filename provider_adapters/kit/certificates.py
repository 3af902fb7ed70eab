"""Certificates in memory: a pair of certificate and key, loaded without touching a disk."""

from __future__ import annotations

from gateway.net.common.certificates import CertificatePair, PairRefused, load_pair

__all__ = ["CertificatePair", "PairRefused", "load_pair"]

"""
What 1,000 accounts with 1,000 certificates cost at one bank: memory and CPU, over real TLS.

``python -m bench.certificates`` prints it; ``tls.ca`` names the bank's own authority.
The bank is a process of its own, so that the figures are of the client alone.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import resource
import ssl
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from multiprocessing import get_context
from pathlib import Path

import uvloop
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import NameOID

from gateway.domain.accounts.accounts import Environment
from gateway.net.client.account_transports import AccountTransports
from gateway.net.client.messages import Identity, ProviderRequest, SendProgress
from gateway.net.client.tls import TlsFiles, TlsSetup
from gateway.net.common.certificates import CertificatePair
from provider_adapters._road.limits import ClientLimits

ACCOUNTS = 1000
# As many calls at once as a provider has by default.
AT_ONCE = 64
_ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
_KIB = 1024
_UNTIL_IT_STANDS_S = 3.0
_PEM = serialization.Encoding.PEM
Key = ec.EllipticCurvePrivateKey


def signed(name: str, by: tuple[str, Key], own: Key | rsa.RSAPrivateKey, *, ca: bool) -> str:
    """Sign a certificate for this machine, in PEM."""
    now = datetime.now(UTC)
    issuer, key = by
    made = (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]))
        .issuer_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, issuer)]))
        .public_key(own.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=30))
        .add_extension(x509.BasicConstraints(ca=ca, path_length=None), critical=True)
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False
        )
    )
    return made.sign(key, hashes.SHA256()).public_bytes(_PEM).decode()


def written(key: Key | rsa.RSAPrivateKey) -> str:
    """Write a key in PEM."""
    form = serialization.PrivateFormat.PKCS8
    return key.private_bytes(_PEM, form, serialization.NoEncryption()).decode()


def serve(folder: str, port: int) -> None:
    """Be a bank that asks for a certificate and answers every request alike."""

    async def answers(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await reader.readuntil(b"\r\n\r\n"):
                writer.write(_ANSWER)
        except (OSError, asyncio.IncompleteReadError):
            writer.close()

    async def work() -> None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(f"{folder}/bank.pem")
        context.load_verify_locations(f"{folder}/ca.pem")
        context.verify_mode = ssl.CERT_REQUIRED
        server = await asyncio.start_server(answers, "127.0.0.1", port, ssl=context, backlog=512)
        await server.serve_forever()

    uvloop.run(work())


def prepared(folder: Path, accounts: int) -> list[CertificatePair]:
    """Make an authority, the bank's certificate, and one for each account with its RSA key."""
    key = ec.generate_private_key(ec.SECP256R1())
    ca = signed("ca", ("ca", key), key, ca=True)
    bank = ec.generate_private_key(ec.SECP256R1())
    (folder / "ca.pem").write_text(ca)
    (folder / "bank.pem").write_text(signed("bank", ("ca", key), bank, ca=False) + written(bank))
    # One key serves all: making a thousand would take minutes, and loading one costs the same.
    own = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    text = written(own)
    return [
        CertificatePair(
            certificate=signed(f"account-{number}", ("ca", key), own, ca=False),
            key="".join(text),
        )
        for number in range(accounts)
    ]


def resident() -> float:
    """Return the memory of this process, MiB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / _KIB / _KIB


async def rounds(to: AccountTransports, pairs: Sequence[CertificatePair]) -> list[str]:
    """Ask for each account twice, then for few accounts often; return a line for each."""
    free, lines = asyncio.Semaphore(AT_ONCE), []

    async def ask(number: int) -> None:
        identity = Identity(account_id=f"account-{number}", pair=pairs[number])
        asked = ProviderRequest(
            operation="x", method="GET", template="/", path="/", identity=identity
        )
        async with free:
            await to.call(asked, SendProgress())

    gc.collect()
    before = resident()
    everybody = list(range(len(pairs)))
    rounds_of = {
        "first call of each": everybody,
        "second call of each": everybody,
        "calls of accounts in use": everybody[-AT_ONCE:] * 20,
    }
    for name, numbers in rounds_of.items():
        began, cpu = time.perf_counter(), time.process_time()
        await asyncio.gather(*map(ask, numbers))
        wall, used = time.perf_counter() - began, time.process_time() - cpu
        each = f"{used / len(numbers) * 1000:.2f} ms CPU, {wall / len(numbers) * 1000:.2f} ms"
        more = resident() - before
        lines.append(f"{name}: {more:.1f} MiB more, {len(to)} contexts open, {each} each")
    return lines


async def measured(folder: Path, port: int, pairs: Sequence[CertificatePair]) -> list[str]:
    """Open the transports, and measure."""
    setup = TlsSetup(files=TlsFiles(ca_file=str(folder / "ca.pem")), certificate_required=True)
    limits = ClientLimits(connect_s=20.0)
    url = f"https://127.0.0.1:{port}"
    to = AccountTransports(url, limits, Environment.SANDBOX, tls=setup)
    await to.start()
    try:
        return await rounds(to, pairs)
    finally:
        await to.close()


def main() -> None:
    """Measure once, and print it."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--accounts", type=int, default=ACCOUNTS)
    options.add_argument("--port", type=int, default=21400)
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        pairs = prepared(folder, chosen.accounts)
        beside = get_context("spawn").Process(target=serve, args=(name, chosen.port), daemon=True)
        beside.start()
        time.sleep(_UNTIL_IT_STANDS_S)
        try:
            for line in uvloop.run(measured(folder, chosen.port, pairs)):
                print(line)
        finally:
            beside.terminate()
            beside.join()


if __name__ == "__main__":
    main()

"""
HAProxy for tests, as ``nginx`` stands here too.

Found as ``haproxy`` in the path or in ``/usr/sbin``; else the tests skip. In TLS it ends the
connection of callers without a good certificate.
"""

import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from string import Template

from tests.servers.peer import Peer, Setting, found, listens
from tests.servers.process import free_port, serving

CONFIG = """
global
  log stderr format raw local0 err
defaults
  mode http
  timeout connect 1s
  timeout client 10s
  timeout server 10s
  timeout http-request 10s
  timeout http-keep-alive 1s
  retries 0

frontend plain
  bind 127.0.0.1:$plain
  http-request deny deny_status 413 if { req.hdr_val(content-length) gt 1024 }
  http-request set-var(txn.last) int(1) if { path /last }
  http-after-response set-header Connection close if { var(txn.last) -m found }
  http-request return status 204 if { path /empty }
  http-request redirect code 307 location http://127.0.0.1:1/ if { path /away }
  http-request return status 200 content-type application/json string '{"kind": "plain"}' \
unless { path /nobody /silent /bank }
  use_backend nobody if { path /nobody }
  use_backend silent if { path /silent }
  default_backend bank

frontend secured
  bind 127.0.0.1:$tls12 ssl crt $server ca-file $authority verify required \
ssl-min-ver TLSv1.2 ssl-max-ver TLSv1.2
  bind 127.0.0.1:$tls13 ssl crt $server ca-file $authority verify required \
ssl-min-ver TLSv1.3 ssl-max-ver TLSv1.3
  http-request return status 200 content-type application/json \
lf-string '{"tls": "%[ssl_fc_protocol]", "we": "%[ssl_c_s_dn]"}' if { path /who }
  default_backend bank

backend bank
  server it 127.0.0.1:$upstream
backend silent
  timeout server 300ms
  server it 127.0.0.1:$upstream
backend nobody
  server it 127.0.0.1:1
"""


@contextmanager
def running(setting: Setting) -> Iterator[Peer]:
    """Keep HAProxy running; skips the test where there is none."""
    program = found("haproxy")
    ports = {name: free_port() for name in ("plain", "tls12", "tls13")}
    with tempfile.TemporaryDirectory(prefix="pixgate-haproxy-") as folder:
        config = Path(folder, "haproxy.cfg")
        config.write_text(
            Template(CONFIG).substitute(
                authority=setting.authority,
                server=setting.server,
                upstream=setting.upstream,
                **ports,
            )
        )
        log = Path(folder, "log")
        with serving(
            [program, "-db", "-f", config], log=log, ready=lambda: listens(ports["tls13"])
        ) as process:
            yield Peer(name="haproxy", process=process, gracefully=signal.SIGUSR1, **ports)


FRONT = """
global
  log stderr format raw local0 err
defaults
  mode http
  timeout connect 1s
  timeout client 10s
  timeout server 10s
  timeout http-request 10s
frontend public
  bind 127.0.0.1:$port
  default_backend gateway
backend gateway
  option http-buffer-request
  server it 127.0.0.1:$upstream $announces
"""
"""In front of a gateway that is told the client's address by the PROXY protocol."""

TELLING = {"proxy_protocol": "send-proxy", "proxy_protocol v2": "send-proxy-v2"}
"""How HAProxy tells it: a word of the server."""


@contextmanager
def in_front(upstream: int, how: str) -> Iterator[str]:
    """Keep HAProxy running before a gateway; return its URL. Skips where there is none."""
    program, port = found("haproxy"), free_port()
    with tempfile.TemporaryDirectory(prefix="pixgate-haproxy-") as folder:
        config = Path(folder, "haproxy.cfg")
        config.write_text(
            Template(FRONT).substitute(port=port, upstream=upstream, announces=TELLING[how])
        )
        log = Path(folder, "log")
        with serving([program, "-db", "-f", config], log=log, ready=lambda: listens(port)):
            yield f"http://127.0.0.1:{port}"

"""
nginx for tests: a real peer in front of nothing, with short patience and strict TLS.

Found as ``nginx`` in the path or in ``/usr/sbin``; else the tests skip.
"""

import shutil
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.servers.demand import absent
from tests.servers.process import free_port, serving

CONFIG = """
daemon off;
worker_processes 1;
pid {folder}/pid;
error_log stderr warn;
events {{ worker_connections 256; }}
http {{
  access_log off;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  default_type application/json;
  keepalive_timeout 1s;
  keepalive_requests {requests};
  client_max_body_size 1k;
  ssl_certificate {server};
  ssl_certificate_key {server};
  ssl_client_certificate {authority};
  server {{
    listen 127.0.0.1:{plain};
    location / {{ return 200 '{{"kind": "plain"}}'; }}
    location /empty {{ return 204; }}
    location /chunked {{ proxy_pass http://127.0.0.1:{upstream}; proxy_http_version 1.0; }}
    location /away {{ return 307 http://127.0.0.1:1/; }}
    location /nobody {{ proxy_pass http://127.0.0.1:1; }}
  }}
  server {{
    listen 127.0.0.1:{tls12} ssl;
    ssl_protocols TLSv1.2;
    ssl_verify_client on;
    location / {{ return 200 '{{"tls": "$ssl_protocol", "we": "$ssl_client_s_dn"}}'; }}
  }}
  server {{
    listen 127.0.0.1:{tls13} ssl;
    ssl_protocols TLSv1.3;
    ssl_verify_client on;
    location / {{ return 200 '{{"tls": "$ssl_protocol", "we": "$ssl_client_s_dn"}}'; }}
  }}
}}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Nginx:
    """A running nginx, by its ports."""

    plain: int
    tls12: int
    tls13: int


@contextmanager
def running(*, authority: Path, server: Path, upstream: int, requests: int) -> Iterator[Nginx]:
    """
    Keep nginx running; skips the test where there is none.

    Args:
        authority: Who signs callers' certificates.
        server: nginx's own certificate and key, in one file.
        upstream: Port of what ``/chunked`` stands in front of.
        requests: After so many on one connection nginx closes it.
    """
    program = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    if program is None:
        absent("nginx", "nginx is not installed")
    ports = Nginx(plain=free_port(), tls12=free_port(), tls13=free_port())
    with tempfile.TemporaryDirectory(prefix="pixgate-nginx-") as folder:
        config = Path(folder, "nginx.conf")
        config.write_text(
            CONFIG.format(
                folder=folder,
                authority=authority,
                server=server,
                upstream=upstream,
                requests=requests,
                plain=ports.plain,
                tls12=ports.tls12,
                tls13=ports.tls13,
            )
        )
        command = [program, "-p", folder, "-c", config]
        with serving(command, log=Path(folder, "log"), ready=lambda: _listens(ports.tls13)):
            yield ports


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0

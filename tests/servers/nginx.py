"""
nginx for tests: a real peer in front of a bank, with short patience and strict TLS.

Found as ``nginx`` in the path or in ``/usr/sbin``; else the tests skip. It ends a connection
after every seventh request, and answers callers without a good certificate, with 400.
"""

import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from string import Template

from tests.servers.peer import Peer, Setting, found, listens
from tests.servers.process import free_port, serving

# nginx has the dollar for itself.
CONFIG = """
daemon off;
worker_processes 1;
pid @folder/pid;
error_log stderr crit;
events { worker_connections 256; }
http {
  access_log off;
  client_body_temp_path @folder/body;
  proxy_temp_path @folder/proxy;
  fastcgi_temp_path @folder/fastcgi;
  uwsgi_temp_path @folder/uwsgi;
  scgi_temp_path @folder/scgi;
  default_type application/json;
  keepalive_timeout 1s;
  keepalive_requests 7;
  client_max_body_size 1k;
  proxy_http_version 1.1;
  ssl_certificate @server;
  ssl_certificate_key @server;
  ssl_client_certificate @authority;
  server {
    listen 127.0.0.1:@plain;
    location / { return 200 '{"kind": "plain"}'; }
    location /empty { return 204; }
    location /last { keepalive_timeout 0; return 200 '{"kind": "plain"}'; }
    location /away { return 307 http://127.0.0.1:1/; }
    location /nobody { proxy_pass http://127.0.0.1:1; }
    location /bank { proxy_pass http://127.0.0.1:@upstream; }
    location /silent { proxy_pass http://127.0.0.1:@upstream; proxy_read_timeout 300ms; }
  }
  server {
    listen 127.0.0.1:@tls12 ssl;
    ssl_protocols TLSv1.2;
    ssl_verify_client on;
    location /who { return 200 '{"tls": "$ssl_protocol", "we": "$ssl_client_s_dn"}'; }
    location /bank { proxy_pass http://127.0.0.1:@upstream; }
  }
  server {
    listen 127.0.0.1:@tls13 ssl;
    ssl_protocols TLSv1.3;
    ssl_verify_client on;
    location /who { return 200 '{"tls": "$ssl_protocol", "we": "$ssl_client_s_dn"}'; }
    location /bank { proxy_pass http://127.0.0.1:@upstream; }
  }
}
"""


class _Config(Template):
    delimiter = "@"


@contextmanager
def running(setting: Setting) -> Iterator[Peer]:
    """Keep nginx running; skips the test where there is none."""
    program = found("nginx")
    ports = {name: free_port() for name in ("plain", "tls12", "tls13")}
    with tempfile.TemporaryDirectory(prefix="pixgate-nginx-") as folder:
        config = Path(folder, "nginx.conf")
        config.write_text(
            _Config(CONFIG).substitute(
                folder=folder,
                authority=setting.authority,
                server=setting.server,
                upstream=setting.upstream,
                **ports,
            )
        )
        command = [program, "-p", folder, "-c", config]
        log = Path(folder, "log")
        with serving(command, log=log, ready=lambda: listens(ports["tls13"])) as process:
            yield Peer(name="nginx", process=process, gracefully=signal.SIGQUIT, **ports)

"""
Caddy for tests: Go's HTTP and TLS, as ``nginx`` stands here too.

Found as ``caddy`` in the path; else the tests skip. In TLS it ends the connection of callers
without a good certificate.
"""

import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from string import Template

from tests.servers.peer import Peer, Setting, found, listens
from tests.servers.process import free_port, serving

# A caller by address names no server in TLS, so there is nothing the Host header could equal.
CONFIG = """
{
  admin off
  auto_https off
  grace_period 5s
  storage file_system $folder/storage
  log {
    output stderr
    level ERROR
  }
  servers {
    protocols h1
    strict_sni_host insecure_off
    timeouts {
      idle 1s
    }
  }
}

(bank) {
  handle /bank {
    request_body {
      max_size 1KB
    }
    reverse_proxy 127.0.0.1:$upstream
  }
}

(who) {
  bind 127.0.0.1
  handle /who {
    header Content-Type application/json
    respond `{"tls": "{tls_version}", "we": "{tls_client_subject}"}`
  }
  import bank
}

http://:$plain {
  bind 127.0.0.1
  import bank
  handle /silent {
    reverse_proxy 127.0.0.1:$upstream {
      transport http {
        response_header_timeout 300ms
      }
    }
  }
  handle /nobody {
    reverse_proxy 127.0.0.1:1
  }
  handle /empty {
    respond 204
  }
  handle /away {
    redir http://127.0.0.1:1/ 307
  }
  handle /last {
    header Connection close
    respond `{"kind": "plain"}`
  }
  handle {
    header Content-Type application/json
    respond `{"kind": "plain"}`
  }
}

https://:$tls12 {
  tls $server $server {
    protocols tls1.2 tls1.2
    client_auth {
      mode require_and_verify
      trusted_ca_cert_file $authority
    }
  }
  import who
}

https://:$tls13 {
  tls $server $server {
    protocols tls1.3 tls1.3
    client_auth {
      mode require_and_verify
      trusted_ca_cert_file $authority
    }
  }
  import who
}
"""


@contextmanager
def running(setting: Setting) -> Iterator[Peer]:
    """Keep Caddy running; skips the test where there is none."""
    program = found("caddy")
    ports = {name: free_port() for name in ("plain", "tls12", "tls13")}
    with tempfile.TemporaryDirectory(prefix="pixgate-caddy-") as folder:
        config = Path(folder, "Caddyfile")
        config.write_text(
            Template(CONFIG).substitute(
                folder=folder,
                authority=setting.authority,
                server=setting.server,
                upstream=setting.upstream,
                **ports,
            )
        )
        # It keeps a copy of its configuration at home; here, that is the folder.
        command = ["/usr/bin/env", f"HOME={folder}", program, "run", "--config", config]
        log = Path(folder, "log")
        ready = [*command, "--adapter", "caddyfile"]
        with serving(ready, log=log, ready=lambda: all(map(listens, ports.values()))) as process:
            yield Peer(name="caddy", process=process, gracefully=signal.SIGTERM, **ports)

"""nginx in front of a gateway, as operators put it there."""

import contextlib
import socket
import subprocess
from pathlib import Path
from typing import Self

from dev.ports import free_port

from harness.waiting import eventually


class Proxy:
    """Ends TLS and shows a gateway below a path of its host: `base` is what clients are told.

    The path is passed on as it came, or taken off. Certificate and key are those of the folder.
    Use as a context manager; ends with it.
    """

    def __init__(self, folder: Path, gateway: str, path: str, *, takes_off: bool) -> None:
        self._folder = folder
        self._port = free_port()
        self.origin = f"https://127.0.0.1:{self._port}"
        self.base = self.origin + path
        # With a URI behind the address nginx puts it where the location's path was.
        target = f"http://{gateway}/" if takes_off else f"http://{gateway}"
        temporary = "".join(
            f"{kind}_temp_path {folder}/{kind};\n"
            for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        (folder / "nginx.conf").write_text(
            f"""worker_processes 1;
pid {folder}/pid;
error_log {folder}/error.log;
events {{ worker_connections 256; }}
http {{
    access_log off;
    {temporary}
    server {{
        listen 127.0.0.1:{self._port} ssl;
        ssl_certificate {folder}/certificate.pem;
        ssl_certificate_key {folder}/key.pem;
        location {path}/ {{
            proxy_pass {target};
            proxy_http_version 1.1;
            proxy_set_header Connection "";
            proxy_set_header Host $http_host;
            proxy_set_header X-Forwarded-For $remote_addr;
            proxy_set_header X-Forwarded-Proto $scheme;
            proxy_buffering off;
            proxy_read_timeout 75s;
        }}
    }}
}}
""",
            encoding="utf-8",
        )

    def __enter__(self) -> Self:
        log = self._folder / "error.log"
        command = ["nginx", "-c", str(self._folder / "nginx.conf"), "-e", str(log)]
        self._process = subprocess.Popen(
            [*command, "-g", "daemon off;"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            eventually(self._listens, "nginx listens")
        except AssertionError:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait(timeout=10)

    def _listens(self) -> bool:
        ended = self._process.poll()
        log = self._folder / "error.log"
        assert ended is None, (
            f"nginx ended with {ended}: {log.read_text(encoding='utf-8') if log.exists() else ''}"
        )
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self._port), 1):
            return True
        return False

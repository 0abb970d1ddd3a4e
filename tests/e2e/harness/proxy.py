"""nginx in front of a gateway, as operators put it there."""

from pathlib import Path
from typing import Self

from dev.nginx import Nginx
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
        self._server = f"""listen 127.0.0.1:{self._port} ssl;
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
        }}"""

    def __enter__(self) -> Self:
        self._nginx = Nginx(self._folder, self._port, self._server)
        try:
            eventually(self._nginx.is_listening, "nginx listens")
        except (TimeoutError, ChildProcessError):
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._nginx.end()

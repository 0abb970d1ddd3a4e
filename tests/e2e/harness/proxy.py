"""nginx in front of a gateway, as operators put it there: deploy/nginx/base-path.conf."""

from pathlib import Path
from typing import Self

from dev.nginx import Nginx
from dev.paths import ROOT
from dev.ports import free_port

from harness.waiting import eventually

_EXAMPLE = ROOT / "deploy" / "nginx" / "base-path.conf"


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
        self._served = _EXAMPLE.read_text(encoding="utf-8")
        for shown, real in {
            "listen 443 ssl;": f"listen 127.0.0.1:{self._port} ssl;",
            "location /some/path/ {": f"location {path}/ {{",
            "http://10.0.0.5:8080;": f"http://{gateway}{'/' if takes_off else ''};",
        }.items():
            assert self._served.count(shown) == 1, shown
            self._served = self._served.replace(shown, real)

    def __enter__(self) -> Self:
        self._nginx = Nginx(self._folder, self._port, self._served)
        try:
            eventually(self._nginx.is_listening, "nginx listens")
        except (TimeoutError, ChildProcessError):
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._nginx.end()

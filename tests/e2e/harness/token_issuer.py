"""An OpenID Connect issuer of a test's own, as far as Kafka's clients and brokers call one."""

import base64
import json
import secrets
import ssl
import subprocess
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self
from urllib.parse import parse_qs

_KEY_ID = "first"
_LIFETIME_SECONDS = 600


def _base64url(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).decode("ascii").rstrip("=")


def _openssl(*arguments: str, given: bytes = b"") -> bytes:
    return subprocess.run(
        ["openssl", *arguments], input=given, check=True, capture_output=True
    ).stdout


class TokenIssuer:
    """Serves over TLS until the end of the block, by the certificate of a folder, as
    Authority.issue makes it for localhost: client credentials (RFC 6749 4.4) at `token_url`, the
    key of its signatures (RFC 7517) at `keys_url`.

    `client_id` has one secret that counts; `tokens` is how many were given, `refused` how many
    requests had a wrong one.
    """

    client_id = "tempinbox"
    audience = "kafka"
    scope = "events"

    def __init__(self, identity: Path, folder: Path) -> None:
        self.ca_file = identity / "ca.pem"
        self.client_secret = secrets.token_urlsafe(16)
        self.tokens = 0
        self.refused = 0
        self._key_file = folder / "issuer.key"
        _openssl("genrsa", "-out", str(self._key_file), "2048")
        issuer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                form = self.rfile.read(int(self.headers["Content-Length"])).decode("ascii")
                self._answer(*issuer._grant(self.headers.get("Authorization", ""), form))

            def do_GET(self) -> None:
                self._answer(200, {"keys": [issuer._public_key()]})

            def _answer(self, status: int, body: dict[str, Any]) -> None:
                text = json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *_: object) -> None:
                """Keeps the log off the test's output."""

        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(identity / "certificate.pem", identity / "key.pem")
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        # Handshakes are those of each connection's thread, so that none holds up the others.
        self._server.socket = context.wrap_socket(
            self._server.socket, server_side=True, do_handshake_on_connect=False
        )
        self.url = f"https://localhost:{self._server.server_address[1]}"
        self.token_url = f"{self.url}/token"
        self.keys_url = f"{self.url}/keys"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def change_secret(self) -> None:
        """`client_secret` is the one that counts for new tokens."""
        self.client_secret = secrets.token_urlsafe(16)

    def _grant(self, authorization: str, form: str) -> tuple[int, dict[str, Any]]:
        login = base64.b64encode(f"{self.client_id}:{self.client_secret}".encode()).decode("ascii")
        if authorization != f"Basic {login}":
            self.refused += 1
            return 401, {"error": "invalid_client", "error_description": "wrong client secret"}
        request = parse_qs(form)
        assert request["grant_type"] == ["client_credentials"]
        self.tokens += 1
        token = self._sign(request.get("scope", [""])[0])
        return 200, {
            "access_token": token,
            "token_type": "Bearer",
            "expires_in": _LIFETIME_SECONDS,
        }

    def _sign(self, scope: str) -> str:
        now = int(time.time())
        header = {"alg": "RS256", "typ": "JWT", "kid": _KEY_ID}
        claims = {
            "iss": self.url,
            "aud": self.audience,
            "sub": self.client_id,
            "scope": scope,
            "iat": now,
            "exp": now + _LIFETIME_SECONDS,
        }
        signed = ".".join(_base64url(json.dumps(part).encode()) for part in (header, claims))
        signature = _openssl(
            "dgst", "-sha256", "-sign", str(self._key_file), given=signed.encode("ascii")
        )
        return f"{signed}.{_base64url(signature)}"

    def _public_key(self) -> dict[str, str]:
        shown = _openssl("rsa", "-in", str(self._key_file), "-noout", "-modulus")
        modulus = bytes.fromhex(shown.decode("ascii").strip().removeprefix("Modulus="))
        return {
            "kty": "RSA",
            "use": "sig",
            "alg": "RS256",
            "kid": _KEY_ID,
            "n": _base64url(modulus),
            "e": _base64url((65537).to_bytes(3, "big")),
        }

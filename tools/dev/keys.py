"""The secrets of a suite, made once: RPC token, master key, certificate of the mail server."""

import base64
import secrets
import subprocess
from dataclasses import dataclass
from pathlib import Path

from dev.terminal import fail


@dataclass(frozen=True)
class Keys:
    """The files, all readable by their owner only."""

    rpc_token: Path
    master_key: Path
    certificate: Path
    certificate_key: Path


def prepare(folder: Path, mail_host: str) -> Keys:
    """Makes what is missing in the folder."""
    folder.mkdir(mode=0o700, exist_ok=True)
    keys = Keys(
        folder / "rpc-token", folder / "master-key", folder / "smtp.crt", folder / "smtp.key"
    )
    if not keys.rpc_token.exists():
        _write(keys.rpc_token, secrets.token_urlsafe(32))
    if not keys.master_key.exists():
        _write(keys.master_key, "dev:" + base64.b64encode(secrets.token_bytes(32)).decode())
    if not keys.certificate.exists():
        _make_certificate(keys, mail_host)
    return keys


def _write(path: Path, line: str) -> None:
    path.touch(mode=0o600)
    path.write_text(line + "\n", encoding="ascii")


def _make_certificate(keys: Keys, host: str) -> None:
    for path in (keys.certificate, keys.certificate_key):
        path.touch(mode=0o600)
    command = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
        "-days",
        "3650",
    ]
    command += [
        "-subj",
        f"/CN={host}",
        "-addext",
        f"subjectAltName=DNS:{host},DNS:localhost,IP:127.0.0.1",
    ]
    command += ["-keyout", str(keys.certificate_key), "-out", str(keys.certificate)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        keys.certificate.unlink()
        fail("openssl could not make the mail server's certificate:\n" + done.stderr)

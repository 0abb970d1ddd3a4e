"""Certificates of a test's own."""

import shutil
import subprocess
from pathlib import Path


def make_certificate(folder: Path, name: str) -> None:
    """certificate.pem and key.pem for the name and 127.0.0.1, self-signed; swapped in whole where
    there are some already.
    """
    command = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:P-256",
        "-nodes",
        "-days",
        "1",
    ]
    command += [
        "-subj",
        f"/CN={name}",
        "-addext",
        f"subjectAltName=DNS:{name},IP:127.0.0.1",
        "-keyout",
        "key.new",
        "-out",
        "certificate.new",
    ]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    shutil.move(folder / "key.new", folder / "key.pem")
    shutil.move(folder / "certificate.new", folder / "certificate.pem")

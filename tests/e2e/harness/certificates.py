"""Certificates of a test's own."""

import shutil
import ssl
import subprocess
from pathlib import Path

_KEY = "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes"


class Authority:
    """A certificate authority with a folder of its own: `ca_file` is what trusts it.

    One that is in the folder already goes on.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.ca_file = folder / "ca.pem"
        if self.ca_file.exists():
            return
        folder.mkdir()
        # Python refuses an authority that does not say what its key is for, from 3.13 on.
        usage = "-addext keyUsage=critical,keyCertSign,cRLSign"
        make = f"req -x509 {_KEY} {usage} -days 1 -keyout ca.key -out ca.pem -subj"
        self._openssl(*make.split(), f"/CN={folder.name}")

    def issue(self, name: str, alternative_names: str) -> Path:
        """A folder of that name with certificate.pem, key.pem and ca.pem, for servers and clients;
        each file swapped in whole where there is one already.
        """
        target = self._folder / name
        target.mkdir(exist_ok=True)
        (self._folder / "extensions").write_text(
            "basicConstraints = critical, CA:FALSE\n"
            "keyUsage = critical, digitalSignature\n"
            "extendedKeyUsage = serverAuth, clientAuth\n"
            "authorityKeyIdentifier = keyid\n"
            f"subjectAltName = {alternative_names}\n",
            encoding="ascii",
        )
        request = f"req -new {_KEY} -keyout key.new -out request -subj"
        self._openssl(*request.split(), f"/CN={name}")
        sign = "x509 -req -in request -CA ca.pem -CAkey ca.key -CAcreateserial -days 1"
        self._openssl(*sign.split(), *["-extfile", "extensions", "-out", "certificate.new"])
        shutil.copyfile(self.ca_file, target / "ca.pem")
        for file in ("key", "certificate"):
            shutil.move(self._folder / f"{file}.new", target / f"{file}.pem")
        return target

    def _openssl(self, *arguments: str) -> None:
        subprocess.run(["openssl", *arguments], cwd=self._folder, check=True, capture_output=True)


def client_context(ca_file: Path, identity: Path | None = None) -> ssl.SSLContext:
    """Makes the context of a client that trusts the authority, and shows the certificate of a
    folder if there is one.
    """
    context = ssl.create_default_context(cafile=str(ca_file))
    if identity:
        context.load_cert_chain(identity / "certificate.pem", identity / "key.pem")
    return context


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

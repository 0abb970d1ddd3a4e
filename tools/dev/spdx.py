"""Lists the content of an image as an SPDX 2.3 document: its Debian packages, and the jars of
Kafka.
"""

import hashlib
import io
import re
import tarfile
import zipfile
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from dev import debian

_STATUS = "var/lib/dpkg/status.d/"
_JAR = re.compile(r"usr/share/kafka/([^/]+)\.jar")
NONE = "NOASSERTION"


@dataclass(frozen=True)
class Package:
    """One thing that came from elsewhere."""

    name: str
    version: str
    supplier: str
    purl: str
    sha512: str | None = None


def packages(filesystem: tarfile.TarFile) -> list[Package]:
    """The packages of an exported root filesystem, in the order of their names."""
    found = []
    for member in filesystem:
        content = filesystem.extractfile(member) if member.isfile() else None
        if content is None:
            continue
        if member.name.startswith(_STATUS):
            found.append(_debian(content.read().decode()))
        elif jar := _JAR.fullmatch(member.name):
            found.append(_maven(jar[1], content.read()))
    return sorted(found, key=lambda package: (package.purl, package.version))


def _debian(status: str) -> Package:
    fields = dict(re.findall(r"^([A-Z][\w-]*): (.*)$", status, re.MULTILINE))
    name, version = fields["Package"], fields["Version"]
    qualifiers = f"arch={fields['Architecture']}&distro={debian.IMAGE_RELEASE}"
    purl = f"pkg:deb/debian/{name}@{quote(version)}?{qualifiers}"
    return Package(name, version, "Organization: Debian", purl)


def _maven(file_name: str, content: bytes) -> Package:
    """A jar by what it says of itself, or else by its file's name."""
    name, _, version = file_name.rpartition("-")
    purl = f"pkg:generic/{quote(name)}@{quote(version)}"
    with zipfile.ZipFile(io.BytesIO(content)) as jar:
        said = [path for path in jar.namelist() if path.endswith("/pom.properties")]
        if len(said) == 1:
            text = jar.read(said[0]).decode()
            fields = dict(re.findall(r"^(\w+)=(.*?)\r?$", text, re.MULTILINE))
            group, name, version = fields["groupId"], fields["artifactId"], fields["version"]
            purl = f"pkg:maven/{group}/{name}@{quote(version)}"
    return Package(name, version, NONE, purl, hashlib.sha512(content).hexdigest())


def document(image: str, version: str, digest: str, created: str, found: list[Package]) -> Any:
    """The document of an image with this digest (sha256:...), made at this moment."""
    made = digest.rpartition(":")[2]
    top = described("SPDXRef-image", f"tempinbox/{image}", version, made, "CONTAINER")
    namespace = f"urn:tempinbox:image:{image}:{version}:{made}"
    return whole(f"tempinbox-{image}-{version}", namespace, created, top, found, "CONTAINS")


def described(
    id_: str,
    name: str,
    version: str,
    digest: str,
    purpose: str,
    *,
    license_expression: str = NONE,
) -> dict[str, Any]:
    """What a document is about, by its SHA-256."""
    return {
        "SPDXID": id_,
        "name": name,
        "versionInfo": version,
        "supplier": NONE,
        "downloadLocation": NONE,
        "filesAnalyzed": False,
        "licenseConcluded": license_expression,
        "licenseDeclared": license_expression,
        "copyrightText": NONE,
        "primaryPackagePurpose": purpose,
        "checksums": [{"algorithm": "SHA256", "checksumValue": digest}],
    }


def whole(
    name: str,
    namespace: str,
    created: str,
    top: dict[str, Any],
    found: list[Package],
    relation: str,
) -> dict[str, Any]:
    """The document of one thing, which has this relation to the packages."""
    parts = [_part(number, package) for number, package in enumerate(found)]
    relationships = [_relation("SPDXRef-DOCUMENT", "DESCRIBES", top["SPDXID"])]
    relationships += [_relation(top["SPDXID"], relation, part["SPDXID"]) for part in parts]
    return {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": name,
        "documentNamespace": namespace,
        "creationInfo": {"created": created, "creators": ["Tool: tempinbox-dev-image"]},
        "packages": [top, *parts],
        "relationships": relationships,
    }


def _part(number: int, package: Package) -> dict[str, Any]:
    part = {
        "SPDXID": f"SPDXRef-package-{number}-{re.sub(r'[^A-Za-z0-9.-]', '-', package.name)}",
        "name": package.name,
        "versionInfo": package.version,
        "supplier": package.supplier,
        "downloadLocation": NONE,
        "filesAnalyzed": False,
        "licenseConcluded": NONE,
        "licenseDeclared": NONE,
        "copyrightText": NONE,
        "externalRefs": [
            {
                "referenceCategory": "PACKAGE-MANAGER",
                "referenceType": "purl",
                "referenceLocator": package.purl,
            }
        ],
    }
    if package.sha512:
        part["checksums"] = [{"algorithm": "SHA512", "checksumValue": package.sha512}]
    return part


def _relation(element: str, kind: str, related: str) -> dict[str, str]:
    return {
        "spdxElementId": element,
        "relationshipType": kind,
        "relatedSpdxElement": related,
    }

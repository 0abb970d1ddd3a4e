"""Tests which images are built in which order, and what is said to be in them."""

import io
import re
import tarfile
import tempfile
import unittest
import zipfile
from pathlib import Path
from unittest import mock

from dev import debian, image, packages, paths, services, spdx, version
from dev.terminal import Failure, Missing

_STATUS = "Package: libssl3t64\nVersion: 3.5.1-1\nArchitecture: amd64\nDepends: libc6\n"


def _jar(properties: dict[str, str]) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as jar:
        for path, text in properties.items():
            jar.writestr(f"META-INF/maven/{path}/pom.properties", text)
    return content.getvalue()


def _packages(files: dict[str, bytes]) -> list[spdx.Package]:
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as packed:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            packed.addfile(member, io.BytesIO(data))
    content.seek(0)
    with tarfile.open(fileobj=content) as opened:
        return spdx.packages(opened)


class Images(unittest.TestCase):
    def test_everything_but_what_is_public_is_built(self) -> None:
        self.assertEqual(set(image.chosen([])), set(image.IMAGES) - {"postgres", "kafka"})

    def test_the_order_is_that_of_the_stages(self) -> None:
        self.assertEqual(image.chosen(["tools", "inbox"]), ["inbox", "tools"])

    def test_an_unknown_name_is_refused_with_the_known_ones(self) -> None:
        with self.assertRaisesRegex(Failure, "no image is called mail.*mail-ingest"):
            image.chosen(["mail"])

    def test_programs_of_another_release_are_not_packed(self) -> None:
        with (
            mock.patch.object(debian, "release", return_value="bookworm"),
            self.assertRaisesRegex(Missing, "dev root trixie.* --bin,.* --from-source"),
        ):
            image.check_release()
        with mock.patch.object(debian, "release", return_value=debian.IMAGE_RELEASE):
            image.check_release()

    def test_programs_of_another_version_are_not_packed(self) -> None:
        with tempfile.TemporaryDirectory() as made:
            program = Path(made) / services.PROGRAMS[0]
            program.write_bytes(b"\0" + version.current().encode("ascii") + b"\0")
            image.check_version(Path(made))

            program.write_bytes(b"\x000.1.0\0")
            with self.assertRaisesRegex(Failure, "is not of version"):
                image.check_version(Path(made))

    def test_the_dockerfile_is_of_the_release_of_images(self) -> None:
        dockerfile = (paths.ROOT / "deploy/docker/Dockerfile").read_text(encoding="utf-8")
        listed = packages.read_list(packages.LIST.read_text(encoding="utf-8"), debian.IMAGE_RELEASE)

        self.assertIn(f"ARG BASE={image.PUBLIC_BASE}\n", dockerfile)
        data = re.findall(r"postgresql-\d+|openjdk-\d+", dockerfile)
        self.assertEqual(len(data), 2)
        named = {package.name.removesuffix("-jre-headless") for package in listed}
        self.assertLessEqual(set(data), named)


class Packages(unittest.TestCase):
    def test_a_debian_package_is_named_by_its_status(self) -> None:
        (found,) = _packages({"var/lib/dpkg/status.d/libssl3t64": _STATUS.encode()})

        self.assertEqual(found.version, "3.5.1-1")
        self.assertEqual(found.purl, "pkg:deb/debian/libssl3t64@3.5.1-1?arch=amd64&distro=trixie")

    def test_a_jar_is_named_by_itself_or_by_its_file(self) -> None:
        said = "groupId=org.x\nartifactId=x-core\nversion=1.2\n"
        named, unnamed = _packages(
            {
                "usr/share/kafka/zlib-9.jar": _jar({}),
                "usr/share/kafka/x-core-1.2.jar": _jar({"org.x/x-core": said}),
            }
        )[::-1]

        self.assertEqual(named.purl, "pkg:maven/org.x/x-core@1.2")
        self.assertEqual(unnamed.purl, "pkg:generic/zlib@9")

    def test_the_document_describes_the_image_that_contains_them(self) -> None:
        found = _packages({"var/lib/dpkg/status.d/libssl3t64": _STATUS.encode()})
        made = spdx.document("inbox", "1.0.0", "sha256:ab", "2026-01-01T00:00:00Z", found)

        self.assertEqual(
            [(it["relationshipType"], it["relatedSpdxElement"]) for it in made["relationships"]],
            [("DESCRIBES", "SPDXRef-image"), ("CONTAINS", "SPDXRef-package-0-libssl3t64")],
        )


if __name__ == "__main__":
    unittest.main()

"""Jakarta Mail, one of the clients by which tests send: jars in the cache."""

from pathlib import Path

from dev import maven

VERSION = "2.0.3"
_NAME = f"jakarta-mail-{VERSION}"
ARTIFACTS = (maven.Artifact("org.eclipse.angus", "jakarta.mail", VERSION),)


def digests() -> Path:
    """The list of the jars."""
    return Path(__file__).with_name(f"jakarta-mail-jars-{VERSION}.sha512")


def ensure_jars() -> None:
    """Brings the jars into the cache, once."""
    maven.ensure(_NAME, ARTIFACTS, digests())


def class_path() -> str:
    """Returns the jars, for `java -cp`."""
    return ":".join(str(jar) for jar in sorted(maven.folder(_NAME).glob("*.jar")))

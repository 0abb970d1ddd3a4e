#!/bin/sh
# Makes target/: classes of consumer and schemas, and the jars they need. Versions are those of pom.xml.
set -eu
cd "$(dirname "$0")"
schemas=${SCHEMAS:-../../../proto-schemas}
mvn -q -B process-classes -Dschemas="$(cd "$schemas" && pwd)"

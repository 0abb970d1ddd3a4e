#!/bin/sh
# Makes build/: an environment with the packages of requirements.txt, and Python code of the schemas.
set -eu
cd "$(dirname "$0")"
schemas=${SCHEMAS:-../../../proto-schemas}
mkdir -p build
protoc -I "$schemas" --python_out=build "$schemas"/tempinbox/events/v1/*.proto
python3 -m venv build/venv
build/venv/bin/pip install -q --disable-pip-version-check --require-hashes --only-binary=:all: -r requirements.txt

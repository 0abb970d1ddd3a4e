#!/bin/sh
# Makes events/ (Go code of the schemas) and build/consumer. Versions are those of go.mod and go.sum.
set -eu
cd "$(dirname "$0")"
schemas=${SCHEMAS:-../../../proto-schemas}
go build -o build/ google.golang.org/protobuf/cmd/protoc-gen-go
options=--go_opt=module=example.com/consumer
for file in "$schemas"/tempinbox/events/v1/*.proto; do
    options="$options --go_opt=Mtempinbox/events/v1/$(basename "$file")=example.com/consumer/events"
done
# shellcheck disable=SC2086 - they are several
protoc -I "$schemas" --plugin=build/protoc-gen-go --go_out=. $options "$schemas"/tempinbox/events/v1/*.proto
go build -o build/consumer .

#!/bin/sh
cd "$(dirname "$0")"
exec java -cp "target/classes:target/dependency/*" Consumer

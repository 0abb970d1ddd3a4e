#!/bin/sh
cd "$(dirname "$0")"
exec build/consumer

#!/bin/bash
# Writes the class data of kafka.sh: runs a node until it serves, and stops it.
set -euo pipefail

export KAFKA_LOG_DIRS=/tmp/kafka
export KAFKA_LISTENERS=PLAINTEXT://127.0.0.1:9092,CONTROLLER://127.0.0.1:9093
export KAFKA_ADVERTISED_LISTENERS=PLAINTEXT://127.0.0.1:9092
export KAFKA_CONTROLLER_QUORUM_VOTERS=1@127.0.0.1:9093
CLASSES_TO_WRITE=/usr/share/kafka/classes.jsa /usr/bin/kafka &
node=$!
until (exec 3<>/dev/tcp/127.0.0.1/9092) 2>/dev/null; do
    kill -0 "$node"
    sleep 0.2
done
kill -TERM "$node"
wait "$node" || [[ $? == 143 ]]
rm -rf /tmp/kafka /tmp/kafka.properties /tmp/hsperfdata_* /tmp/*.so
[[ -s /usr/share/kafka/classes.jsa ]]

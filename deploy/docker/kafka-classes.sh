#!/bin/bash
# Writes the class data of kafka.sh: runs a node until it serves, stops it, and dumps the classes
# that it had loaded.
set -euo pipefail

export KAFKA_LOG_DIRS=/tmp/kafka
export KAFKA_LISTENERS=PLAINTEXT://127.0.0.1:9092,CONTROLLER://127.0.0.1:9093
export KAFKA_ADVERTISED_LISTENERS=PLAINTEXT://127.0.0.1:9092
export KAFKA_CONTROLLER_QUORUM_VOTERS=1@127.0.0.1:9093
CLASS_LIST=/tmp/classes /usr/bin/kafka &
node=$!
until (exec 3<>/dev/tcp/127.0.0.1/9092) 2>/dev/null; do
    kill -0 "$node"
    sleep 0.2
done
kill -TERM "$node"
wait "$node" || [[ $? == 143 ]]

jars=(/usr/share/kafka/*.jar)
/usr/lib/jvm/java/bin/java -Xshare:dump -XX:+UseSerialGC -Xlog:disable -Xlog:all=error \
    -XX:SharedClassListFile=/tmp/classes -XX:SharedArchiveFile=/usr/share/kafka/classes.jsa \
    -cp "$(IFS=:; echo "${jars[*]}")"
rm -rf /tmp/classes /tmp/kafka /tmp/kafka.properties /tmp/hsperfdata_* /tmp/*.so
[[ -s /usr/share/kafka/classes.jsa ]]

#!/bin/bash
# One Apache Kafka node, set up as the public image is: KAFKA_LOG_DIRS is log.dirs of
# server.properties, KAFKA_NODE_ID is node.id, and so on. Formats its storage at its first start.
set -euo pipefail

export PATH=/usr/lib/jvm/java/bin:/usr/bin
data=${KAFKA_LOG_DIRS:-/var/lib/kafka/data}
properties=/tmp/kafka.properties
classes=/usr/share/kafka/classes.jsa

declare -A settings=(
    [node.id]=1
    [process.roles]=broker,controller
    [log.dirs]=$data
    [listeners]=PLAINTEXT://:9092,CONTROLLER://:9093
    [advertised.listeners]=PLAINTEXT://localhost:9092
    [listener.security.protocol.map]=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
    [controller.listener.names]=CONTROLLER
    [controller.quorum.voters]=1@localhost:9093
    [offsets.topic.replication.factor]=1
    [transaction.state.log.replication.factor]=1
    [transaction.state.log.min.isr]=1
    [share.coordinator.state.topic.replication.factor]=1
    [share.coordinator.state.topic.min.isr]=1
)
for variable in "${!KAFKA_@}"; do
    case $variable in
    KAFKA_HEAP_OPTS | KAFKA_JVM_PERFORMANCE_OPTS | KAFKA_OPTS) continue ;;
    esac
    name=${variable#KAFKA_}
    name=${name,,}
    settings[${name//_/.}]=${!variable}
done
for name in "${!settings[@]}"; do
    echo "$name=${settings[$name]}"
done >"$properties"

# Kafka logs by slf4j; log4j, which it loads to change levels, is not set up.
java=(java -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:-UsePerfData
    -Dlog4j2.loggerContextFactory=org.apache.logging.log4j.simple.SimpleLoggerContextFactory
    -Dorg.slf4j.simpleLogger.defaultLogLevel=warn -Dorg.slf4j.simpleLogger.showDateTime=true)
read -ra heap <<<"${KAFKA_HEAP_OPTS:--Xms256m -Xmx256m}"
java+=("${heap[@]}")
# Class data that was written when the image was built makes each start two seconds shorter.
if [[ -e $classes ]]; then
    java+=("-XX:SharedArchiveFile=$classes" -Xshare:auto -Xlog:cds=off)
fi
jars=(/usr/share/kafka/*.jar)
java+=(-cp "$(IFS=:; echo "${jars[*]}")")

if [[ ! -e $data/meta.properties ]]; then
    "${java[@]}" kafka.tools.StorageTool format \
        --cluster-id "${CLUSTER_ID:-5L6g3nShT-eMCtK--X86sw}" --config "$properties" >/dev/null
fi
if [[ -n ${CLASS_LIST:-} ]]; then
    java+=(-Xshare:off "-XX:DumpLoadedClassList=$CLASS_LIST")
fi
exec "${java[@]}" kafka.Kafka "$properties"

{{/* Every contradiction at once, each with what to do. */}}
{{- define "tempinbox.checks" -}}
{{- $values := .Values -}}
{{- $problems := list -}}
{{- include "tempinbox.remember" . -}}
{{- $known := .Values.remembered.settings -}}

{{- if not (or $values.dev $values.image.registry) -}}
{{- $problems = append $problems "image.registry is empty: name the host that has the images, such as registry.example.com; nodes would look for them on Docker Hub" -}}
{{- end -}}
{{- if not $values.cluster.networks -}}
{{- $problems = append $problems "cluster.networks is empty: list the CIDRs of pods, services and nodes, so that no webhook is sent there" -}}
{{- end -}}
{{- range $values.cluster.networks -}}
{{- $problems = concat $problems (include "tempinbox.checkNetwork" (dict "path" "cluster.networks" "network" .) | fromJsonArray) -}}
{{- end -}}
{{- if not $values.kafka.brokers -}}
{{- $problems = append $problems "kafka.brokers is empty: list brokers as host:port" -}}
{{- end -}}
{{- if not (or $values.database.existingSecret $values.database.value $values.cnpg.enabled) -}}
{{- $problems = append $problems "database.existingSecret is empty: name a Secret with the DSN, or set cnpg.enabled" -}}
{{- end -}}
{{- if not (or $values.rpc.token.existingSecret $values.rpc.token.value) -}}
{{- $problems = append $problems "rpc.token.existingSecret is empty: kubectl create secret generic tempinbox-rpc --from-literal=token=\"$(openssl rand -hex 32)\"" -}}
{{- end -}}
{{- if not (or $values.masterKeys.existingSecret $values.masterKeys.value) -}}
{{- $problems = append $problems "masterKeys.existingSecret is empty: kubectl create secret generic tempinbox-master-keys --from-literal=master-keys=\"1:$(openssl rand -base64 32)\", and keep a copy of the key" -}}
{{- end -}}
{{- range $path, $block := dict "database" $values.database "rpc.token" $values.rpc.token "masterKeys" $values.masterKeys "kafka.sasl" $values.kafka.sasl -}}
{{- if $block.value -}}
{{- if not $values.dev -}}
{{- $problems = append $problems (printf "%s.value puts a secret into Helm's release: make a Secret and name it in %s.existingSecret, or set dev: true for a trial" $path $path) -}}
{{- end -}}
{{- if $block.existingSecret -}}
{{- $problems = append $problems (printf "%s.value and %s.existingSecret are both set: keep one" $path $path) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- $kafka := $values.kafka -}}
{{- $isTls := contains "SSL" $kafka.securityProtocol -}}
{{- $isSasl := hasPrefix "SASL_" $kafka.securityProtocol -}}
{{- $isOauth := and $isSasl (eq $kafka.sasl.mechanism "OAUTHBEARER") -}}
{{- $makesSecrets := and $values.strimzi.users.enabled (ne $values.strimzi.users.authentication "oauth") -}}
{{- if and $isSasl (not (or $kafka.propertiesFile.existingSecret $kafka.sasl.existingSecret $kafka.sasl.value $makesSecrets $values.defaults.kafkaUser.existingSecret)) -}}
{{- $problems = append $problems (printf "kafka.securityProtocol is %s, but there is no %s: set kafka.sasl.username and kafka.sasl.existingSecret" $kafka.securityProtocol (ternary "secret of the client" "password" $isOauth)) -}}
{{- end -}}
{{- if and $isOauth (not $kafka.sasl.oauth.tokenEndpointUrl) (not $kafka.propertiesFile.existingSecret) -}}
{{- $problems = append $problems "kafka.sasl.mechanism is OAUTHBEARER, but no issuer is named: set kafka.sasl.oauth.tokenEndpointUrl" -}}
{{- end -}}
{{- if and (hasPrefix "http://" $kafka.sasl.oauth.tokenEndpointUrl) (not $values.dev) -}}
{{- $problems = append $problems "kafka.sasl.oauth.tokenEndpointUrl is http://, so the client's secret would go in the clear: use https://, or set dev: true for a trial" -}}
{{- end -}}
{{- if and (not $isOauth) (or $kafka.sasl.oauth.tokenEndpointUrl $kafka.sasl.oauth.scope) -}}
{{- $problems = append $problems "kafka.sasl.oauth is set, but the mechanism is another: set kafka.securityProtocol: SASL_SSL and kafka.sasl.mechanism: OAUTHBEARER" -}}
{{- end -}}
{{- if and (not $isSasl) (or $kafka.sasl.existingSecret $kafka.sasl.value) -}}
{{- $problems = append $problems (printf "kafka.sasl has a password, but kafka.securityProtocol is %s: set SASL_SSL" $kafka.securityProtocol) -}}
{{- end -}}
{{- if and (not $isTls) (or $kafka.tls.existingSecret $kafka.clientCertificate.existingSecret) -}}
{{- $problems = append $problems (printf "kafka.tls or kafka.clientCertificate is set, but kafka.securityProtocol is %s: set SSL or SASL_SSL" $kafka.securityProtocol) -}}
{{- end -}}
{{- if and $isSasl $kafka.clientCertificate.existingSecret -}}
{{- $problems = append $problems "kafka.clientCertificate and SASL are both chosen: set kafka.securityProtocol to SSL for mutual TLS, or leave the certificate out" -}}
{{- end -}}
{{- if and (hasPrefix "verify-" $values.database.tls.mode) (not $values.database.tls.existingSecret) -}}
{{- $problems = append $problems (printf "database.tls.mode is %s, but no authority is trusted: set database.tls.existingSecret" $values.database.tls.mode) -}}
{{- end -}}

{{- $setup := $values.setup -}}
{{- if and $setup.hook $setup.job -}}
{{- $problems = append $problems "setup.hook and setup.job are both true: keep the hook with Helm, the job with Argo CD, Flux or databases of this chart" -}}
{{- end -}}
{{- if and $setup.hook $setup.migrations.enabled $values.cnpg.enabled -}}
{{- $problems = append $problems "setup.hook runs before the database of cnpg.enabled exists: set setup.hook: false and setup.job: true" -}}
{{- end -}}
{{- if and $setup.hook $values.strimzi.users.enabled -}}
{{- $problems = append $problems "setup.hook runs before the users of strimzi.users.enabled exist: set setup.hook: false and setup.job: true" -}}
{{- end -}}
{{- if and $setup.bootstrap.enabled (not (and $setup.bootstrap.domain $setup.bootstrap.email)) -}}
{{- $problems = append $problems "setup.bootstrap needs domain and email" -}}
{{- end -}}

{{- if $values.trial.enabled -}}
{{- if not $values.dev -}}
{{- $problems = append $problems "trial.enabled keeps generated secrets in Helm's release, and data in pods alone: set dev: true if that is what you want" -}}
{{- end -}}
{{- if or $setup.hook (not $setup.job) -}}
{{- $problems = append $problems "setup.hook runs before the database of trial.enabled exists: set setup.hook: false and setup.job: true" -}}
{{- end -}}
{{- if not $setup.bootstrap.enabled -}}
{{- $problems = append $problems "trial.enabled makes a key of the first account: set setup.bootstrap.enabled, domain and email" -}}
{{- end -}}
{{- if or $values.database.existingSecret $values.cnpg.enabled -}}
{{- $problems = append $problems "trial.enabled makes a database, but database.existingSecret or cnpg.enabled names another: keep one" -}}
{{- end -}}
{{- end -}}

{{- range $setting, $value := $values.defaults.settings -}}
{{- $problems = concat $problems (include "tempinbox.checkSetting" (dict "path" "defaults.settings" "setting" $setting) | fromJsonArray) -}}
{{- end -}}

{{- $enabled := include "tempinbox.enabled" . | fromJsonArray -}}
{{- $configs := dict -}}
{{- range $name, $own := $values.services -}}
{{- $config := include "tempinbox.config" (dict "root" $ "name" $name) | fromYaml -}}
{{- $context := dict "root" $ "name" $name "config" $config -}}
{{- $path := printf "services.%s" $name -}}
{{- range $setting, $value := (default dict $own).settings -}}
{{- $problems = concat $problems (include "tempinbox.checkSetting" (dict "path" (printf "%s.settings" $path) "setting" $setting) | fromJsonArray) -}}
{{- end -}}
{{- if has $name $enabled -}}
{{- $_ := set $configs $name $config -}}
{{- range $setting, $value := $config.settings -}}
{{- $problems = concat $problems (include "tempinbox.checkValue" (dict "path" (printf "%s.settings" $path) "setting" $setting "value" $value "allowed" (index $known $name $setting).values) | fromJsonArray) -}}
{{- end -}}
{{- if and $config.database.existingOwnerSecret (not $config.database.existingSecret) -}}
{{- $problems = append $problems (printf "%s.database.existingOwnerSecret is set without existingSecret, so nothing would use it: the owner of the schemas in the database of all is tools.database.existingSecret" $path) -}}
{{- end -}}
{{- $keda := default dict $config.keda -}}
{{- if and $config.hpa.enabled $keda.enabled -}}
{{- $problems = append $problems (printf "%s.hpa and %s.keda are both enabled, and would fight over the replicas: keep one" $path $path) -}}
{{- end -}}
{{- if $config.hpa.enabled -}}
{{- if gt (int $config.hpa.minReplicas) (int $config.hpa.maxReplicas) -}}
{{- $problems = append $problems (printf "%s.hpa.minReplicas is above maxReplicas" $path) -}}
{{- end -}}
{{- if not (or (int $config.hpa.cpuUtilization) (and $config.hpa.customMetrics $config.hpa.podMetrics)) -}}
{{- $problems = append $problems (printf "%s.hpa has no metric: set cpuUtilization, or customMetrics and podMetrics" $path) -}}
{{- end -}}
{{- $cpu := toString $config.resources.requests.cpu -}}
{{- $milli := ternary (trimSuffix "m" $cpu | float64) (mulf (trimSuffix "m" $cpu | float64) 1000) (hasSuffix "m" $cpu) -}}
{{- if and (int $config.hpa.cpuUtilization) (gt $milli 1250.0) -}}
{{- $problems = append $problems (printf "%s.resources.requests.cpu is %s: the service is one event loop and never uses %d%% of more than a core, so the HPA would never scale; request 1" $path $cpu (int $config.hpa.cpuUtilization)) -}}
{{- end -}}
{{- end -}}
{{- if $keda.enabled -}}
{{- if and $isOauth (not $keda.authenticationRef) -}}
{{- $problems = append $problems (printf "%s.keda has no token for Kafka: name a TriggerAuthentication with username, password, scopes and oauthTokenEndpointUri in %s.keda.authenticationRef" $path $path) -}}
{{- end -}}
{{- if gt (int $keda.minReplicas) (int $keda.maxReplicas) -}}
{{- $problems = append $problems (printf "%s.keda.minReplicas is above maxReplicas" $path) -}}
{{- end -}}
{{- if gt (int $keda.maxReplicas) (int $values.topics.partitions) -}}
{{- $problems = append $problems (printf "%s.keda.maxReplicas is %d, but the topics have %d partitions (topics.partitions): more pods would read nothing" $path (int $keda.maxReplicas) (int $values.topics.partitions)) -}}
{{- end -}}
{{- end -}}
{{- with $config.resources.limits.memory -}}
{{- $request := toString $config.resources.requests.memory -}}
{{- if gt (include "tempinbox.mib" (printf "%sB" $request) | int) (include "tempinbox.mib" (printf "%sB" (toString .)) | int) -}}
{{- $problems = append $problems (printf "%s.resources.limits.memory is %s, below the request of %s" $path (toString .) $request) -}}
{{- end -}}
{{- end -}}
{{- $drain := include "tempinbox.setting" (merge (dict "setting" "drain-timeout") $context) -}}
{{- $least := add (int $config.preStopSeconds) (include "tempinbox.seconds" $drain | int) -}}
{{- if le (include "tempinbox.grace" $context | int) ($least | int) -}}
{{- $problems = append $problems (printf "%s.terminationGracePeriodSeconds is %s, not above preStopSeconds + drain-timeout (%d + %s): the pod would be killed while it drains" $path (include "tempinbox.grace" $context) (int $config.preStopSeconds) $drain) -}}
{{- end -}}
{{- if not (or (int $config.strategy.maxSurge) (int $config.strategy.maxUnavailable)) -}}
{{- $problems = append $problems (printf "%s.strategy.maxSurge and maxUnavailable are both 0: no rollout could begin" $path) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- $mail := get $configs "mail-ingest" -}}
{{- if $mail -}}
{{- if and (not $values.dev) (eq "localhost" (include "tempinbox.setting" (dict "root" $ "name" "mail-ingest" "config" $mail "setting" "hostname"))) -}}
{{- $problems = append $problems "services.mail-ingest.settings.hostname is not set: name the host of the MX record, such as mx.example.com; senders would be greeted by localhost" -}}
{{- end -}}
{{- $context := dict "root" $ "name" "mail-ingest" "config" $mail -}}
{{- if and $mail.proxy.enabled (not $mail.proxy.networks) -}}
{{- $problems = append $problems "services.mail-ingest.proxy needs networks: those of the load balancer, and no others" -}}
{{- end -}}
{{- if and $mail.submission.enabled (not (coalesce $mail.submission.tls.existingSecret $mail.tls.existingSecret)) -}}
{{- $problems = append $problems "services.mail-ingest.submission needs a certificate that clients can verify: set submission.tls.existingSecret; passwords are never taken in the clear" -}}
{{- end -}}
{{- range $mail.proxy.networks -}}
{{- $problems = concat $problems (include "tempinbox.checkNetwork" (dict "path" "services.mail-ingest.proxy.networks" "network" .) | fromJsonArray) -}}
{{- end -}}
{{- $limit := include "tempinbox.setting" (merge (dict "setting" "spool-limit") $context) -}}
{{- $limitMib := include "tempinbox.mib" $limit | int -}}
{{- if not $limitMib -}}
{{- $problems = append $problems "services.mail-ingest.settings.spool-limit is 0: a spool without a limit gets the pod evicted; set a size" -}}
{{- else if $mail.spool.sizeLimit -}}
{{- $sizeMib := include "tempinbox.mib" (printf "%sB" (toString $mail.spool.sizeLimit)) | int -}}
{{- if le $sizeMib $limitMib -}}
{{- $problems = append $problems (printf "services.mail-ingest.spool.sizeLimit is %s, not above the setting spool-limit (%s): the pod would be evicted before it answers 452" (toString $mail.spool.sizeLimit) $limit) -}}
{{- end -}}
{{- end -}}
{{- if not $mail.resources.limits.memory -}}
{{- range $setting := list "memory-limit" "connections" -}}
{{- if eq "0" (include "tempinbox.setting" (merge (dict "setting" $setting) $context) | regexFind "^[0-9]+") -}}
{{- $problems = append $problems (printf "services.mail-ingest.settings.%s is 0 (unlimited), so no memory limit can be made from it: bound it, or set resources.limits.memory" $setting) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- with get $configs "inbox" -}}
{{- $inbox := dict "root" $ "name" "inbox" "config" . -}}
{{- range $setting := list "header-view-bytes" "part-depth" "parts" "inbox-max-emails" "inbox-max-bytes" -}}
{{- $one := include "tempinbox.setting" (merge (dict "setting" $setting) $inbox) -}}
{{- $other := include "tempinbox.setting" (merge (dict "setting" $setting) $context) -}}
{{- if ne $one $other -}}
{{- $problems = append $problems (printf "the setting %s is %s for inbox and %s for mail-ingest: set it once, in defaults.settings" $setting $one $other) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- $gateway := get $configs "gateway" -}}
{{- if $gateway -}}
{{- if int (include "tempinbox.maxReplicas" $gateway) -}}
{{- range $callee := list "inbox" "rate-limit" "webhook-dispatcher" -}}
{{- $config := get $configs $callee -}}
{{- if not $config -}}
{{- $problems = append $problems (printf "services.%s.enabled is false, but gateway calls it: leave it enabled, or disable gateway too" $callee) -}}
{{- else if not (int (include "tempinbox.minReplicas" $config)) -}}
{{- $problems = append $problems (printf "services.%s has 0 replicas, but gateway calls it: at least 1, or no replicas of gateway either" $callee) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if and (get $gateway.settings "mail-relay") (not (get $gateway.settings "mail-relay-from")) -}}
{{- $problems = append $problems "services.gateway.settings.mail-relay is set, but mail-relay-from is not: name the address that its mail comes from" -}}
{{- end -}}
{{- /* A protocol, or one of each port as GKE takes them; not a URL, nor what a balancer listens on. */ -}}
{{- $annotations := concat (values $values.ingress.annotations) (values $gateway.service.annotations) | join "\n" | lower -}}
{{- if and $values.ingress.enabled $gateway.tls.existingSecret (not (regexMatch "(?m)^(https|\\{.*: *\"https\".*\\})$" $annotations)) -}}
{{- $problems = append $problems "services.gateway.tls.existingSecret makes the gateway speak TLS, but nothing tells the Ingress: set its controller's annotation in ingress.annotations, such as nginx.ingress.kubernetes.io/backend-protocol: HTTPS, or leave the Secret out" -}}
{{- end -}}
{{- end -}}

{{- with get $configs "webhook-dispatcher" -}}
{{- range splitList "," (get .settings "webhook-allow-networks" | default "" | nospace) | compact -}}
{{- if has . $values.cluster.networks -}}
{{- $problems = append $problems (printf "%s is in the setting webhook-allow-networks and in cluster.networks: webhooks never go into the cluster" .) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- $databases := include "tempinbox.ownDatabases" . | fromJson -}}
{{- $inboxes := get $databases "inbox" -}}
{{- $mails := get $databases "mail-ingest" -}}
{{- if and (hasKey $configs "inbox") (hasKey $configs "mail-ingest") (ne $inboxes $mails) -}}
{{- $problems = append $problems (printf "services.inbox.database leads to %s and services.mail-ingest.database to %s, but both need the same schema: name the same Secret in existingSecret of both, or, where these are roles of one database, its owner's in existingOwnerSecret of both" (default "the database of all" $inboxes) (default "the database of all" $mails)) -}}
{{- end -}}
{{- with get $databases "gateway" -}}
{{- $problems = append $problems (printf "services.gateway.database leads to %s, but bootstrap and tempinboxctl would look for accounts in the database of all: name %s in tools.database.existingSecret too, or, where that is a role of the database of all, its owner's in services.gateway.database.existingOwnerSecret" . .) -}}
{{- end -}}

{{- $strimzi := $values.strimzi -}}
{{- if and (or $strimzi.topics.enabled $strimzi.users.enabled) (not $strimzi.cluster) -}}
{{- $problems = append $problems "strimzi.cluster is empty: name the Kafka resource" -}}
{{- end -}}
{{- if $strimzi.users.enabled -}}
{{- $needed := ternary "SSL" "SASL_SSL" (eq $strimzi.users.authentication "tls") -}}
{{- if ne $kafka.securityProtocol $needed -}}
{{- $problems = append $problems (printf "strimzi.users.authentication %s needs kafka.securityProtocol: %s" $strimzi.users.authentication $needed) -}}
{{- end -}}
{{- if and (eq $strimzi.users.authentication "scram-sha-512") (ne $kafka.sasl.mechanism "SCRAM-SHA-512") -}}
{{- $problems = append $problems "strimzi.users.authentication scram-sha-512 needs kafka.sasl.mechanism: SCRAM-SHA-512" -}}
{{- end -}}
{{- if and (eq $strimzi.users.authentication "oauth") (ne $kafka.sasl.mechanism "OAUTHBEARER") -}}
{{- $problems = append $problems "strimzi.users.authentication oauth needs kafka.sasl.mechanism: OAUTHBEARER" -}}
{{- end -}}
{{- if and $makesSecrets $strimzi.namespace (ne $strimzi.namespace .Release.Namespace) -}}
{{- $problems = append $problems "strimzi.users makes Secrets in strimzi.namespace, where the pods cannot mount them: install the release there, or copy the Secrets and name them in kafkaUser.existingSecret with strimzi.users.enabled: false" -}}
{{- end -}}
{{- else if $strimzi.users.consumers -}}
{{- $problems = append $problems "strimzi.users.consumers needs strimzi.users.enabled" -}}
{{- end -}}
{{- range $name, $one := $strimzi.users.consumers -}}
{{- range $other, $two := $strimzi.users.consumers -}}
{{- if and (ne $name $other) (hasPrefix $one.namePrefix $two.namePrefix) -}}
{{- $problems = append $problems (printf "strimzi.users.consumers: names of %s begin with the namePrefix of %s, who could read them and write there" $other $name) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- $cnpg := $values.cnpg -}}
{{- if $cnpg.enabled -}}
{{- if or $values.database.value (and $values.database.existingSecret (not $cnpg.pooler.enabled)) -}}
{{- $problems = append $problems "cnpg.enabled makes a Cluster, but database.existingSecret or database.value names another database, so nobody would use it: leave that empty, or set cnpg.enabled: false" -}}
{{- else if not $cnpg.pooler.enabled -}}
{{- $secrets := list (include "tempinbox.databaseSecret" (dict "root" $ "config" $values.tools)) -}}
{{- range $configs -}}
{{- $secrets = append $secrets (include "tempinbox.databaseSecret" (dict "root" $ "config" .)) -}}
{{- end -}}
{{- if not (has (include "tempinbox.clusterSecret" .) $secrets) -}}
{{- $problems = append $problems "cnpg.enabled makes a Cluster, but all services and tools have a database.existingSecret of their own, so nobody would use it: leave them empty, that of tools at least, or set cnpg.enabled: false" -}}
{{- end -}}
{{- end -}}
{{- if and (int $cnpg.synchronousReplicas) (ge (int $cnpg.synchronousReplicas) (int $cnpg.instances)) -}}
{{- $problems = append $problems "cnpg.synchronousReplicas must be below cnpg.instances: a commit would wait for ever" -}}
{{- end -}}
{{- if and $cnpg.scheduledBackup.enabled (not $cnpg.backup) (not $cnpg.plugins) -}}
{{- $problems = append $problems "cnpg.scheduledBackup needs cnpg.backup or cnpg.plugins: where backups go" -}}
{{- end -}}
{{- else if or $cnpg.scheduledBackup.enabled $cnpg.pooler.enabled -}}
{{- $problems = append $problems "cnpg.scheduledBackup and cnpg.pooler need cnpg.enabled" -}}
{{- end -}}

{{- if or $values.ingress.enabled $values.httpRoute.enabled -}}
{{- if not (has "gateway" $enabled) -}}
{{- $problems = append $problems "ingress and httpRoute need services.gateway.enabled" -}}
{{- end -}}
{{- end -}}
{{- if and $values.ingress.enabled (not $values.ingress.hosts) -}}
{{- $problems = append $problems "ingress.hosts is empty: name the hosts of the API" -}}
{{- end -}}
{{- if and $values.httpRoute.enabled (not $values.httpRoute.parentRefs) -}}
{{- $problems = append $problems "httpRoute.parentRefs is empty: name the Gateway" -}}
{{- end -}}

{{- $max := int $values.database.maxConnections -}}
{{- if not $problems -}}
{{- $budget := include "tempinbox.budget" . | fromJson -}}
{{- $sum := int $budget.sum -}}
{{- $free := sub $max (int $values.database.reservedConnections) | int -}}
{{- if not $max -}}
{{- $problems = append $problems (printf "database.maxConnections is not set: SHOW max_connections tells it; this release needs %d and %d in reserve" $sum (int $values.database.reservedConnections)) -}}
{{- else if gt $sum $free -}}
{{- $problems = append $problems (printf "all replicas may open %d connections to PostgreSQL, and %d are there (database.maxConnections %d - reservedConnections %d): %s; raise max_connections, or lower replicas or the setting database-connections" $sum $free $max (int $values.database.reservedConnections) (join ", " $budget.lines)) -}}
{{- end -}}
{{- end -}}

{{- with $problems -}}
{{- fail (printf "\n\n%s of these values:\n  - %s\n" (ternary "One problem" (printf "%d problems" (len .)) (eq 1 (len .))) (join "\n  - " .)) -}}
{{- end -}}
{{- end -}}

{{/* What the chart sets itself, and where that is chosen: path, setting. A JSON list. */}}
{{- define "tempinbox.checkSetting" -}}
{{- $managed := dict
  "database" "database.existingSecret" "database-file" "database.existingSecret"
  "kafka-brokers" "kafka.brokers" "kafka-prefix" "kafka.prefix" "kafka-client-rack" "kafka.rackLabel"
  "kafka-properties-file" "kafka.properties or kafka.propertiesFile" "kafka-sasl-password-file" "kafka.sasl.existingSecret" "kafka-sasl-client-secret-file" "kafka.sasl.existingSecret"
  "rpc-token-file" "rpc.token.existingSecret" "rpc-tls-certificate-file" "rpc.tls.existingSecret" "rpc-tls-key-file" "rpc.tls.existingSecret" "rpc-tls-ca-file" "rpc.tls.existingSecret"
  "master-key-file" "masterKeys.existingSecret" "admin-token-file" "adminToken.existingSecret"
  "tls-certificate-file" "the service's tls.existingSecret" "tls-key-file" "the service's tls.existingSecret"
  "mail-relay-password-file" "services.gateway.mailRelay.existingSecret" "mail-relay-ca-file" "services.gateway.mailRelay.existingCaSecret"
  "webhook-ca-file" "services.webhook-dispatcher.webhookCa.existingSecret"
  "listen" "cluster.listenAddress" "smtp-listen" "cluster.listenAddress" "rpc-listen" "cluster.listenAddress" "admin-listen" "cluster.listenAddress"
  "rpc-advertise" "nothing: it is the pod's address" "rpc-tls-name" "nothing: it is the name of the headless Service"
  "inbox-rpc" "nothing: it is the headless Service" "rate-limit-rpc" "nothing: it is the headless Service" "webhook-dispatcher-rpc" "nothing: it is the headless Service"
  "proxy-listen" "services.mail-ingest.proxy" "proxy-networks" "services.mail-ingest.proxy"
  "submission-listen" "services.mail-ingest.submission" "submissions-listen" "services.mail-ingest.submission"
  "submission-proxy-listen" "services.mail-ingest.submission" "submissions-proxy-listen" "services.mail-ingest.submission"
  "submission-tls-certificate-file" "services.mail-ingest.submission.tls.existingSecret" "submission-tls-key-file" "services.mail-ingest.submission.tls.existingSecret"
  "spool-directory" "services.mail-ingest.spool"
  "otel-exporter-otlp-headers" "extraEnv with a secretKeyRef" -}}
{{- $problems := list -}}
{{- with get $managed .setting -}}
{{- $problems = append $problems (printf "%s.%s is not set there; use %s" $.path $.setting .) -}}
{{- end -}}
{{- $problems | toJson -}}
{{- end -}}

{{/* A value that the program would refuse at its start: path, setting, value, allowed. */}}
{{- define "tempinbox.checkValue" -}}
{{- $problems := list -}}
{{- $pattern := "" -}}
{{- if hasPrefix "one of " .allowed -}}
{{- $pattern = printf "^(%s)$" (trimPrefix "one of " .allowed | replace ", " "|") -}}
{{- else if eq .allowed "true or false" -}}
{{- $pattern = "^(true|false)$" -}}
{{- else if regexMatch "^-?[0-9]+ to -?[0-9]+$" .allowed -}}
{{- $pattern = "^-?[0-9]+$" -}}
{{- else if regexMatch "[0-9](ms|s|m|h|d)$" .allowed -}}
{{- $pattern = "^[0-9]+(ms|s|m|h|d)?$" -}}
{{- else if regexMatch "(KiB|MiB|GiB)$" .allowed -}}
{{- $pattern = "^[0-9]+(B|KiB|MiB|GiB)?$" -}}
{{- end -}}
{{- $wrong := and $pattern (not (regexMatch $pattern (toString .value))) -}}
{{- if and (contains " to " .allowed) (not $wrong) -}}
{{- $bounds := splitList " to " .allowed -}}
{{- $amount := include "tempinbox.amount" .value | float64 -}}
{{- $wrong = or (lt $amount (include "tempinbox.amount" (first $bounds) | float64)) (gt $amount (include "tempinbox.amount" (last $bounds) | float64)) -}}
{{- end -}}
{{- if $wrong -}}
{{- $problems = append $problems (printf "%s.%s is %s, not %s" .path .setting (toString .value) .allowed) -}}
{{- end -}}
{{- if hasPrefix "networks such as " .allowed -}}
{{- $path := printf "%s.%s" .path .setting -}}
{{- $allowsAll := ne .setting "trusted-proxies" -}}
{{- range splitList "," (toString .value | nospace) | compact -}}
{{- $problems = concat $problems (include "tempinbox.checkNetwork" (dict "path" $path "network" (include "tempinbox.cidr" .) "allowsAll" $allowsAll) | fromJsonArray) -}}
{{- end -}}
{{- end -}}
{{- $problems | toJson -}}
{{- end -}}

{{/* A number, a time in seconds or a size in bytes, for comparisons. */}}
{{- define "tempinbox.amount" -}}
{{- $number := regexFind "^-?[0-9]+" (toString .) | float64 -}}
{{- $units := dict "ms" 0.001 "m" 60.0 "h" 3600.0 "d" 86400.0 "KiB" 1024.0 "MiB" 1048576.0 "GiB" 1073741824.0 -}}
{{- mulf $number (get $units (regexFind "[A-Za-z]*$" (toString .)) | default 1.0) -}}
{{- end -}}

{{/* What the programs refuse as a network, and every address where that is not allowed: path,
     network, allowsAll. */}}
{{- define "tempinbox.checkNetwork" -}}
{{- $problems := list -}}
{{- $address := splitList "/" .network | first -}}
{{- $hasLength := regexMatch "^[^/]*/[0-9]{1,3}$" .network -}}
{{- $length := splitList "/" .network | last | atoi -}}
{{- $isNetwork := false -}}
{{- if contains ":" $address -}}
{{- $groups := splitList ":" $address | compact -}}
{{- $isShort := contains "::" $address -}}
{{- $hasForm := regexMatch "^(::|(::)?[0-9a-fA-F]{1,4}(::?[0-9a-fA-F]{1,4})*(::)?)$" $address -}}
{{- $hasCount := ternary (le (len $groups) 7) (eq (len $groups) 8) $isShort -}}
{{- $isNetwork = and $hasForm $hasCount (le (len (splitList "::" $address)) 2) (not (contains ":::" $address)) (le $length 128) -}}
{{- else -}}
{{- $isNetwork = and (regexMatch "^((25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])(\\.|$)){4}$" $address) (hasSuffix "." $address | not) (le $length 32) -}}
{{- end -}}
{{- if not (and $isNetwork $hasLength) -}}
{{- $problems = append $problems (printf "%s: %s is no network: write an address and the length of its prefix, such as 10.0.0.0/8 or 2001:db8::/32" .path .network) -}}
{{- else if not (or $length .allowsAll) -}}
{{- $problems = append $problems (printf "%s: %s is every address: list the networks themselves" .path .network) -}}
{{- else if include "tempinbox.hasHostBits" (dict "address" $address "length" $length) -}}
{{- $problems = append $problems (printf "%s: %s has bits set past its prefix: write the first address of the network, or %s/%d for this address alone" .path .network $address (ternary 128 32 (contains ":" $address))) -}}
{{- end -}}
{{- $problems | toJson -}}
{{- end -}}

{{/* Text where an address has bits set past its prefix: address, length. */}}
{{- define "tempinbox.hasHostBits" -}}
{{- $isV6 := contains ":" .address -}}
{{- $width := ternary 16 8 $isV6 -}}
{{- $groups := splitList "." .address -}}
{{- if $isV6 -}}
{{- $halves := splitList "::" .address -}}
{{- $groups = splitList ":" (first $halves) | compact -}}
{{- $tail := splitList ":" (rest $halves | join "") | compact -}}
{{- range until (sub 8 (add (len $groups) (len $tail)) | int) }}{{ $groups = append $groups "0" }}{{ end -}}
{{- $groups = concat $groups $tail -}}
{{- end -}}
{{- range $index, $group := $groups -}}
{{- $size := 1 -}}
{{- range until (sub (mul $width (add1 $index)) $.length | max 0 | min $width | int) }}{{ $size = mul $size 2 }}{{ end -}}
{{- if mod (printf "%s%s" (ternary "0x" "" $isV6) $group | int64) $size }}true{{ end -}}
{{- end -}}
{{- end -}}

{{/* An address without the length of a prefix with it, as settings take and CIDRs need it. */}}
{{- define "tempinbox.cidr" -}}
{{ . }}{{ if not (contains "/" .) }}/{{ ternary 128 32 (contains ":" .) }}{{ end -}}
{{- end -}}

{{/* What a pod has mounted, as JSON: a list of {name, path, volume, settings}. `settings` are the
     settings that name the files. No subPath: such a mount is never updated.
     root, name (a service or "tools"), config. */}}
{{- define "tempinbox.files" -}}
{{- $values := .root.Values -}}
{{- $name := .name -}}
{{- $config := .config -}}
{{- $isTools := eq $name "tools" -}}
{{- $files := list -}}
{{- $dev := include "tempinbox.devSecret" . -}}

{{- $database := include "tempinbox.databaseSecret" . -}}
{{- $secret := ternary $dev $database (empty $database) -}}
{{- $key := ternary "uri" $values.database.existingSecretKeys.uri (empty $database) -}}
{{- $files = append $files (dict "name" "database" "secret" $secret "items" (dict "uri" $key) "settings" (dict "database-file" "uri")) -}}
{{- with $values.database.tls.existingSecret -}}
{{- $files = append $files (dict "name" "database-ca" "secret" . "items" (dict "ca.pem" $values.database.tls.existingSecretKeys.ca) "settings" dict) -}}
{{- end -}}

{{- if ne $name "rate-limit" -}}
{{- $kafka := $values.kafka -}}
{{- $user := $config.kafkaUser.existingSecret -}}
{{- if and (not $user) $values.strimzi.users.enabled (ne $values.strimzi.users.authentication "oauth") -}}
{{- $user = printf "%s-kafka-%s" (include "tempinbox.fullname" .root) $name -}}
{{- end -}}
{{- if $kafka.propertiesFile.existingSecret -}}
{{- $files = append $files (dict "name" "kafka" "secret" $kafka.propertiesFile.existingSecret "items" (dict "kafka.properties" $kafka.propertiesFile.existingSecretKeys.properties) "settings" (dict "kafka-properties-file" "kafka.properties")) -}}
{{- else if include "tempinbox.kafkaProperties" . -}}
{{- $files = append $files (dict "name" "kafka" "configMap" (include "tempinbox.kafkaConfigMap" .) "items" (dict "kafka.properties" "kafka.properties") "settings" (dict "kafka-properties-file" "kafka.properties")) -}}
{{- end -}}
{{- with include "tempinbox.kafkaCa" .root -}}
{{- $files = append $files (dict "name" "kafka-ca" "secret" . "items" (dict "ca.pem" $kafka.tls.existingSecretKeys.ca) "settings" dict) -}}
{{- end -}}
{{- if hasPrefix "SASL_" $kafka.securityProtocol -}}
{{- $secret := coalesce $user $kafka.sasl.existingSecret -}}
{{- $key := ternary "kafka-password" $kafka.sasl.existingSecretKeys.password (empty $secret) -}}
{{- if or $secret $kafka.sasl.value -}}
{{- $isOauth := eq $kafka.sasl.mechanism "OAUTHBEARER" -}}
{{- $path := ternary "client-secret" "password" $isOauth -}}
{{- $files = append $files (dict "name" "kafka-user" "secret" (default $dev $secret) "items" (dict $path $key) "settings" (dict (printf "kafka-sasl-%s-file" $path) $path)) -}}
{{- end -}}
{{- else if eq $kafka.securityProtocol "SSL" -}}
{{- $keys := $kafka.clientCertificate.existingSecretKeys -}}
{{- with coalesce $user $kafka.clientCertificate.existingSecret -}}
{{- $files = append $files (dict "name" "kafka-user" "secret" . "items" (dict "certificate.pem" $keys.certificate "key.pem" $keys.key) "settings" dict) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- if ne $name "mail-ingest" -}}
{{- $token := $values.rpc.token -}}
{{- $key := ternary "rpc-token" $token.existingSecretKeys.token (empty $token.existingSecret) -}}
{{- $files = append $files (dict "name" "rpc-token" "secret" (default $dev $token.existingSecret) "items" (dict "token" $key) "settings" (dict "rpc-token-file" "token")) -}}
{{- $keys := $values.rpc.tls.existingSecretKeys -}}
{{- with coalesce $config.rpcTlsSecret $values.rpc.tls.existingSecret -}}
{{- $files = append $files (dict "name" "rpc-tls" "secret" . "items" (dict "certificate.pem" $keys.certificate "key.pem" $keys.key "ca.pem" $keys.ca) "settings" (dict "rpc-tls-certificate-file" "certificate.pem" "rpc-tls-key-file" "key.pem" "rpc-tls-ca-file" "ca.pem")) -}}
{{- end -}}
{{- end -}}

{{- if has $name (list "gateway" "webhook-dispatcher") -}}
{{- $keys := $values.masterKeys -}}
{{- $key := ternary "master-keys" $keys.existingSecretKeys.keys (empty $keys.existingSecret) -}}
{{- $files = append $files (dict "name" "master-keys" "secret" (default $dev $keys.existingSecret) "items" (dict "master-keys" $key) "settings" (dict "master-key-file" "master-keys")) -}}
{{- end -}}

{{- if not $isTools -}}
{{- with $values.adminToken.existingSecret -}}
{{- $files = append $files (dict "name" "admin-token" "secret" . "items" (dict "token" $values.adminToken.existingSecretKeys.token) "settings" (dict "admin-token-file" "token")) -}}
{{- end -}}
{{- with (default dict $config.tls).existingSecret -}}
{{- $keys := $config.tls.existingSecretKeys -}}
{{- $files = append $files (dict "name" "tls" "secret" . "items" (dict "certificate.pem" $keys.certificate "key.pem" $keys.key) "settings" (dict "tls-certificate-file" "certificate.pem" "tls-key-file" "key.pem")) -}}
{{- end -}}
{{- $submission := default dict $config.submission -}}
{{- if $submission.enabled -}}
{{- with $submission.tls.existingSecret -}}
{{- $keys := $submission.tls.existingSecretKeys -}}
{{- $files = append $files (dict "name" "submission-tls" "secret" . "items" (dict "certificate.pem" $keys.certificate "key.pem" $keys.key) "settings" (dict "submission-tls-certificate-file" "certificate.pem" "submission-tls-key-file" "key.pem")) -}}
{{- end -}}
{{- end -}}
{{- with (default dict $config.mailRelay).existingSecret -}}
{{- $files = append $files (dict "name" "mail-relay" "secret" . "items" (dict "password" $config.mailRelay.existingSecretKeys.password) "settings" (dict "mail-relay-password-file" "password")) -}}
{{- end -}}
{{- with (default dict $config.mailRelay).existingCaSecret -}}
{{- $files = append $files (dict "name" "mail-relay-ca" "secret" . "items" (dict "ca.pem" $config.mailRelay.existingCaSecretKeys.ca) "settings" (dict "mail-relay-ca-file" "ca.pem")) -}}
{{- end -}}
{{- with (default dict $config.webhookCa).existingSecret -}}
{{- $files = append $files (dict "name" "webhook-ca" "secret" . "items" (dict "ca.pem" $config.webhookCa.existingSecretKeys.ca) "settings" (dict "webhook-ca-file" "ca.pem")) -}}
{{- end -}}
{{- end -}}
{{- toJson $files -}}
{{- end -}}

{{/* The Secret with the DSN of a program, nothing where it is in the values: root, config. */}}
{{- define "tempinbox.databaseSecret" -}}
{{- $values := .root.Values -}}
{{- coalesce .config.database.existingSecret $values.database.existingSecret (ternary (include "tempinbox.clusterSecret" .root) "" $values.cnpg.enabled) | default "" -}}
{{- end -}}

{{/* The Secret that CloudNativePG makes for the Cluster of the chart. */}}
{{- define "tempinbox.clusterSecret" -}}
{{ include "tempinbox.fullname" . }}-postgres-app
{{- end -}}

{{/* Of each service the Secret of a DSN that may change its schema, as a JSON map; nothing where
     that is the tools' one, or the one of all. */}}
{{- define "tempinbox.ownDatabases" -}}
{{- $main := include "tempinbox.databaseSecret" (dict "root" $ "config" (dict "database" dict)) -}}
{{- $tools := include "tempinbox.databaseSecret" (dict "root" $ "config" .Values.tools) -}}
{{- $databases := dict -}}
{{- $owners := dict -}}
{{- range $name := include "tempinbox.enabled" . | fromJsonArray -}}
{{- $own := (include "tempinbox.config" (dict "root" $ "name" $name) | fromYaml).database -}}
{{- $secret := default "" $own.existingSecret -}}
{{- $_ := set $databases $name $secret -}}
{{- with $own.existingOwnerSecret }}{{ $_ := set $owners $secret . }}{{ end -}}
{{- end -}}
{{- /* Two services with one DSN have one owner, whichever of them names it. */ -}}
{{- range $name, $secret := $databases -}}
{{- $owner := get $owners $secret | default $secret -}}
{{- $_ := set $databases $name (ternary "" $owner (or (has $secret (list "" $main)) (has $owner (list $main $tools)))) -}}
{{- end -}}
{{- toJson $databases -}}
{{- end -}}

{{/* The schemas that lie in a database of their own, each with the Secret of a DSN that may change
     it, as a JSON map; the schemas of all others are those of the tools' DSN. */}}
{{- define "tempinbox.otherDatabases" -}}
{{- $others := dict -}}
{{- $schemas := dict "gateway" "accounts" "inbox" "mailbox" "mail-ingest" "mailbox" "rate-limit" "quota" "webhook-dispatcher" "webhooks" -}}
{{- range $name, $secret := include "tempinbox.ownDatabases" . | fromJson -}}
{{- if $secret }}{{ $_ := set $others (get $schemas $name) $secret }}{{ end -}}
{{- end -}}
{{- toJson $others -}}
{{- end -}}

{{- define "tempinbox.fileVolumes" -}}
{{- range . }}
- name: {{ .name }}
  {{- if .secret }}
  secret:
    secretName: {{ .secret }}
  {{- else }}
  configMap:
    name: {{ .configMap }}
  {{- end }}
    defaultMode: 288 # 0440: the group is the pod's
    items:
      {{- range $path, $key := .items }}
      - key: {{ $key }}
        path: {{ $path }}
      {{- end }}
{{- end }}
{{- end -}}

{{- define "tempinbox.fileMounts" -}}
{{- range . }}
- name: {{ .name }}
  mountPath: /etc/tempinbox/{{ .name }}
  readOnly: true
{{- end }}
{{- end -}}

{{/* Setting → path, as JSON. */}}
{{- define "tempinbox.fileSettings" -}}
{{- $settings := dict -}}
{{- range $file := . -}}
{{- range $setting, $path := $file.settings -}}
{{- $_ := set $settings $setting (printf "/etc/tempinbox/%s/%s" $file.name $path) -}}
{{- end -}}
{{- end -}}
{{- toJson $settings -}}
{{- end -}}

{{- define "tempinbox.kafkaCa" -}}
{{- if contains "SSL" .Values.kafka.securityProtocol -}}
{{- if .Values.kafka.tls.existingSecret }}{{ .Values.kafka.tls.existingSecret -}}
{{- else if .Values.strimzi.users.enabled }}{{ .Values.strimzi.cluster }}-cluster-ca-cert
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "tempinbox.kafkaConfigMap" -}}
{{ include "tempinbox.fullname" .root }}-kafka-{{ ternary "setup" .name (and (eq .name "tools") (default false .hook)) }}
{{- end -}}

{{/* librdkafka's properties of one program; nothing where its defaults will do. */}}
{{- define "tempinbox.kafkaProperties" -}}
{{- $kafka := .root.Values.kafka -}}
{{- $lines := list -}}
{{- $protocol := $kafka.securityProtocol -}}
{{- if ne $protocol "PLAINTEXT" -}}
{{- $lines = append $lines (printf "security.protocol = %s" $protocol) -}}
{{- if include "tempinbox.kafkaCa" .root -}}
{{- $lines = append $lines "ssl.ca.location = /etc/tempinbox/kafka-ca/ca.pem" -}}
{{- end -}}
{{- if hasPrefix "SASL_" $protocol -}}
{{- $lines = append $lines (printf "sasl.mechanism = %s" $kafka.sasl.mechanism) -}}
{{- $user := coalesce .config.kafkaUser.username $kafka.sasl.username -}}
{{- if and (not $user) .root.Values.strimzi.users.enabled -}}
{{- $user = printf "%s-kafka-%s" (include "tempinbox.fullname" .root) .name -}}
{{- end -}}
{{- $isOauth := eq $kafka.sasl.mechanism "OAUTHBEARER" -}}
{{- with $user -}}
{{- $lines = append $lines (printf "%s = %s" (ternary "sasl.oauthbearer.client.id" "sasl.username" $isOauth) .) -}}
{{- end -}}
{{- if $isOauth -}}
{{- $lines = append $lines (printf "sasl.oauthbearer.token.endpoint.url = %s" $kafka.sasl.oauth.tokenEndpointUrl) -}}
{{- with $kafka.sasl.oauth.scope -}}
{{- $lines = append $lines (printf "sasl.oauthbearer.scope = %s" .) -}}
{{- end -}}
{{- end -}}
{{- else if or .config.kafkaUser.existingSecret $kafka.clientCertificate.existingSecret .root.Values.strimzi.users.enabled -}}
{{- $lines = append $lines "ssl.certificate.location = /etc/tempinbox/kafka-user/certificate.pem" -}}
{{- $lines = append $lines "ssl.key.location = /etc/tempinbox/kafka-user/key.pem" -}}
{{- end -}}
{{- end -}}
{{- range $key, $value := $kafka.properties -}}
{{- $lines = append $lines (printf "%s = %s" $key (include "tempinbox.text" $value)) -}}
{{- end -}}
{{- join "\n" $lines -}}
{{- end -}}

{{- define "tempinbox.devSecret" -}}
{{ include "tempinbox.fullname" .root }}-{{ ternary "setup" "dev" (default false .hook) }}
{{- end -}}

{{- define "tempinbox.devData" -}}
{{- include "tempinbox.remember" . -}}
{{- $data := dict -}}
{{- if .Values.trial.enabled -}}
{{- $data = dict "trial" .Values.trial.secret "postgres-password" (include "tempinbox.trialSecret" (list . "postgres")) -}}
{{- end -}}
{{- with .Values.database.value }}{{ $_ := set $data "uri" . }}{{ end -}}
{{- with .Values.rpc.token.value }}{{ $_ := set $data "rpc-token" . }}{{ end -}}
{{- with .Values.masterKeys.value }}{{ $_ := set $data "master-keys" . }}{{ end -}}
{{- with .Values.kafka.sasl.value }}{{ $_ := set $data "kafka-password" . }}{{ end -}}
{{- if $data }}{{ toYaml $data }}{{ end -}}
{{- end -}}

{{/* The release's topics with the operator's configuration over them, as JSON; nothing where there
     is none, since the image has the same file. */}}
{{- define "tempinbox.topics" -}}
{{- if .Values.topics.config -}}
{{- $file := fromJson (.Files.Get "files/kafka/topics.json") -}}
{{- range $topic := $file.topics -}}
{{- range $key, $value := get $.Values.topics.config $topic.name | default dict -}}
{{- $_ := set $topic.config $key (include "tempinbox.text" $value) -}}
{{- end -}}
{{- end -}}
{{- toJson $file -}}
{{- end -}}
{{- end -}}

{{/* With a digest in its name, so that a plain Job is another one when the topics change: root,
     hook. */}}
{{- define "tempinbox.topicsConfigMap" -}}
{{ include "tempinbox.fullname" .root }}-{{ ternary "setup-topics" "topics" (default false .hook) }}-{{ include "tempinbox.topics" .root | sha256sum | trunc 8 }}
{{- end -}}

{{/* The command that compares the release with its values, as a JSON list. */}}
{{- define "tempinbox.doctor" -}}
{{- $args := list "doctor" "--partitions" (toString (int .Values.topics.partitions)) "--replication" (toString (int .Values.topics.replicas)) "--connection-budget" (toString (int (include "tempinbox.budget" . | fromJson).sum)) -}}
{{- if include "tempinbox.topics" . }}{{ $args = concat $args (list "--topics" "/etc/tempinbox/topics/topics.json") }}{{ end -}}
{{- toJson $args -}}
{{- end -}}

{{/* What is mounted of them, as a JSON list: root, hook. */}}
{{- define "tempinbox.topicFiles" -}}
{{- $files := list -}}
{{- if include "tempinbox.topics" .root -}}
{{- $files = append $files (dict "name" "topics" "configMap" (include "tempinbox.topicsConfigMap" .) "items" (dict "topics.json" "topics.json") "settings" dict) -}}
{{- end -}}
{{- toJson $files -}}
{{- end -}}

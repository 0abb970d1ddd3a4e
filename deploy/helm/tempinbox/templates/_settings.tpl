{{/* Sets in `base` what `over` says; sprig's merge functions skip false, 0 and empty text. */}}
{{- define "tempinbox.overlay" -}}
{{- range $key, $value := .over -}}
{{- $old := get $.base $key -}}
{{- if and (kindIs "map" $value) (kindIs "map" $old) -}}
{{- include "tempinbox.overlay" (dict "base" $old "over" $value) -}}
{{- else -}}
{{- $_ := set $.base $key $value -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Keeps in the values what every template asks for, since reading it anew each time is most of the
     time that a rendering takes; and fills the values of a trial. */}}
{{- define "tempinbox.remember" -}}
{{- if not (hasKey .Values "remembered") -}}
{{- $_ := set .Values "remembered" (dict "settings" (fromJson (.Files.Get "files/settings.json")) "configs" dict) -}}
{{- if .Values.trial.enabled }}{{ include "tempinbox.fillTrial" . }}{{ end -}}
{{- end -}}
{{- end -}}

{{/* A service over the defaults, as YAML. root, name. */}}
{{- define "tempinbox.config" -}}
{{- include "tempinbox.remember" .root -}}
{{- $configs := .root.Values.remembered.configs -}}
{{- if not (hasKey $configs .name) -}}
{{- $_ := set $configs .name (include "tempinbox.makeConfig" .) -}}
{{- end -}}
{{- get $configs .name -}}
{{- end -}}

{{- define "tempinbox.makeConfig" -}}
{{- $config := deepCopy .root.Values.defaults -}}
{{- $own := deepCopy (default dict (index .root.Values.services .name)) -}}
{{- include "tempinbox.overlay" (dict "base" $config "over" $own) -}}
{{- $known := index .root.Values.remembered.settings .name -}}
{{- $settings := dict -}}
{{- range $key, $value := $config.settings -}}
{{- if hasKey $known $key -}}
{{- $_ := set $settings $key (include "tempinbox.text" $value) -}}
{{- end -}}
{{- end -}}
{{- $_ := set $config "settings" $settings -}}
{{- toYaml $config -}}
{{- end -}}

{{/* Helm reads numbers as floats, which print as 1e+06. */}}
{{- define "tempinbox.text" -}}
{{- if kindIs "float64" . -}}
{{- if eq . (floor .) }}{{ int64 . }}{{ else }}{{ . }}{{ end -}}
{{- else -}}
{{- . -}}
{{- end -}}
{{- end -}}

{{- define "tempinbox.enabled" -}}
{{- $names := list -}}
{{- range $name, $_ := .Values.services -}}
{{- if (include "tempinbox.config" (dict "root" $ "name" $name) | fromYaml).enabled -}}
{{- $names = append $names $name -}}
{{- end -}}
{{- end -}}
{{- toJson $names -}}
{{- end -}}

{{/* What a setting will be: config, name of the service, setting. */}}
{{- define "tempinbox.setting" -}}
{{- include "tempinbox.remember" .root -}}
{{- $known := index .root.Values.remembered.settings .name -}}
{{- get .config.settings .setting | default (index $known .setting).default -}}
{{- end -}}

{{/* 90s, 2m, 500ms (rounded up) in seconds. */}}
{{- define "tempinbox.seconds" -}}
{{- $number := regexFind "^[0-9]+" . | int64 -}}
{{- $unit := regexFind "[a-z]*$" . -}}
{{- if eq $unit "ms" }}{{ div (add $number 999) 1000 -}}
{{- else if eq $unit "m" }}{{ mul $number 60 -}}
{{- else if eq $unit "h" }}{{ mul $number 3600 -}}
{{- else if eq $unit "d" }}{{ mul $number 86400 -}}
{{- else }}{{ $number -}}
{{- end -}}
{{- end -}}

{{/* 64KiB (rounded up), 25MiB, 2GiB in MiB. */}}
{{- define "tempinbox.mib" -}}
{{- $number := regexFind "^[0-9]+" . | int64 -}}
{{- $unit := regexFind "[A-Za-z]*$" . -}}
{{- if eq $unit "GiB" }}{{ mul $number 1024 -}}
{{- else if eq $unit "MiB" }}{{ $number -}}
{{- else if eq $unit "KiB" }}{{ div (add $number 1023) 1024 -}}
{{- else }}{{ div (add $number 1048575) 1048576 -}}
{{- end -}}
{{- end -}}

{{/* The most pods at once: the upper bound of what scales, and the surge of a rollout. */}}
{{- define "tempinbox.maxReplicas" -}}
{{- $keda := default dict .keda -}}
{{- if $keda.enabled }}{{ int $keda.maxReplicas -}}
{{- else if .hpa.enabled }}{{ int .hpa.maxReplicas -}}
{{- else }}{{ int .replicas -}}
{{- end -}}
{{- end -}}

{{- define "tempinbox.minReplicas" -}}
{{- $keda := default dict .keda -}}
{{- if $keda.enabled }}{{ int $keda.minReplicas -}}
{{- else if .hpa.enabled }}{{ int .hpa.minReplicas -}}
{{- else }}{{ int .replicas -}}
{{- end -}}
{{- end -}}

{{/* Connections of one pod to PostgreSQL (docs/operations/capacity.md). */}}
{{- define "tempinbox.connections" -}}
{{- $count := include "tempinbox.setting" (merge (dict "setting" "database-connections") .) | int -}}
{{- if eq .name "gateway" -}}
{{- $count = add1 $count -}}
{{- else if eq .name "mail-ingest" -}}
{{- $count = add $count (include "tempinbox.setting" (merge (dict "setting" "look-up-connections") .) | int) 2 -}}
{{- if .config.submission.enabled }}{{ $count = add1 $count }}{{ end -}}
{{- end -}}
{{- $count -}}
{{- end -}}

{{/* What all pods may open together, as JSON: sum, and a line for each service. */}}
{{- define "tempinbox.budget" -}}
{{- $sum := 0 -}}
{{- $lines := list -}}
{{- range $name := include "tempinbox.enabled" . | fromJsonArray -}}
{{- $config := include "tempinbox.config" (dict "root" $ "name" $name) | fromYaml -}}
{{- $connections := include "tempinbox.connections" (dict "root" $ "name" $name "config" $config) | int -}}
{{- $pods := include "tempinbox.maxReplicas" $config | int -}}
{{- $surge := int $config.strategy.maxSurge -}}
{{- $sum = add $sum (mul (add $pods $surge) $connections) -}}
{{- $lines = append $lines (printf "%s (%d + %d surge) × %d" $name $pods $surge $connections) -}}
{{- end -}}
{{- dict "sum" $sum "lines" $lines | toJson -}}
{{- end -}}

{{/* The bounds that a service adds up at its start, in MiB, and a quarter and 64 MiB above them for
     the program, fragments of the heap and what is not bounded: limit = (64 + bounds) × 1.25.
     Bytes of one connection, session, address, account and delivery are those of the programs. */}}
{{- define "tempinbox.memoryLimit" -}}
{{- include "tempinbox.remember" .root -}}
{{- $of := dict -}}
{{- range $setting := list "connection-limit" "list-cache-mib" "answer-memory" "reading-memory" "view-cache" "text-cache" "memory-limit" "connections" "submission-connections" "cached-addresses" "accounts-in-memory" "deliveries-in-memory" -}}
{{- if hasKey (index $.root.Values.remembered.settings $.name) $setting -}}
{{- $_ := set $of $setting (include "tempinbox.setting" (merge (dict "setting" $setting) $)) -}}
{{- end -}}
{{- end -}}
{{- $mib := 64 -}}
{{- if eq .name "gateway" -}}
{{- $mib = add $mib (divf (mul (index $of "connection-limit") 16) 1024 | ceil) (index $of "list-cache-mib") (include "tempinbox.mib" (index $of "answer-memory")) 128 48 -}}
{{- else if eq .name "inbox" -}}
{{- $mib = add $mib (include "tempinbox.mib" (index $of "reading-memory")) (include "tempinbox.mib" (index $of "view-cache")) (include "tempinbox.mib" (index $of "text-cache")) 48 -}}
{{- else if eq .name "mail-ingest" -}}
{{- $mib = add $mib (include "tempinbox.mib" (index $of "memory-limit")) (divf (mul (index $of "connections") 10) 1024 | ceil) (divf (mul (index $of "cached-addresses") 300) 1048576 | ceil) 48 -}}
{{- if .config.submission.enabled }}{{ $mib = add $mib (divf (mul (index $of "submission-connections") 10) 1024 | ceil) }}{{ end -}}
{{- else if eq .name "rate-limit" -}}
{{- $mib = add $mib (divf (index $of "accounts-in-memory") 2048 | ceil) -}}
{{- else -}}
{{- $mib = add $mib (divf (index $of "deliveries-in-memory") 256 | ceil) 48 -}}
{{- end -}}
{{- if get .config.settings "otel-exporter-otlp-endpoint" -}}
{{- $mib = add $mib 8 -}}
{{- end -}}
{{- /* The API server refuses a limit below the request. */ -}}
{{- printf "%dMi" (max (div (mul $mib 5) 4) (include "tempinbox.mib" (printf "%sB" (toString .config.resources.requests.memory)) | int) | int) -}}
{{- end -}}

{{- define "tempinbox.spoolSize" -}}
{{- if .config.spool.sizeLimit }}{{ .config.spool.sizeLimit -}}
{{- else -}}
{{- $limit := include "tempinbox.setting" (merge (dict "setting" "spool-limit") .) -}}
{{- printf "%dMi" (add (div (mul (include "tempinbox.mib" $limit | int) 11) 10) 64) -}}
{{- end -}}
{{- end -}}

{{- define "tempinbox.grace" -}}
{{- if kindIs "invalid" .config.terminationGracePeriodSeconds -}}
{{- add (int .config.preStopSeconds) (include "tempinbox.seconds" (include "tempinbox.setting" (merge (dict "setting" "drain-timeout") .)) | int) 10 -}}
{{- else }}{{ int .config.terminationGracePeriodSeconds -}}
{{- end -}}
{{- end -}}

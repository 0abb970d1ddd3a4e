{{/* What every pod has: root, config, account (name of the ServiceAccount). */}}
{{- define "tempinbox.podBasics" -}}
serviceAccountName: {{ .account }}
automountServiceAccountToken: false
enableServiceLinks: false
{{- if not .config.hostUsers }}
hostUsers: false
{{- end }}
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
securityContext:
  runAsNonRoot: true
  {{- if not (kindIs "invalid" .config.runAsUser) }}
  runAsUser: {{ int64 .config.runAsUser }}
  runAsGroup: {{ int64 (default .config.runAsUser .config.fsGroup) }}
  {{- end }}
  {{- if not (kindIs "invalid" .config.fsGroup) }}
  fsGroup: {{ int64 .config.fsGroup }}
  fsGroupChangePolicy: OnRootMismatch
  {{- end }}
  seccompProfile:
    type: RuntimeDefault
{{- with .config.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .config.runtimeClassName }}
runtimeClassName: {{ . }}
{{- end }}
{{- range $key := list "nodeSelector" "tolerations" "affinity" "dnsConfig" "hostAliases" "initContainers" }}
{{- with index $.config $key }}
{{ $key }}:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "tempinbox.containerSecurity" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  runAsNonRoot: true
  capabilities:
    drop: [ALL]
  seccompProfile:
    type: RuntimeDefault
{{- end -}}

{{/* Settings as variables, sorted by name, so that a change moves nothing else. */}}
{{- define "tempinbox.settingsEnv" -}}
{{- range $name, $value := . }}
- name: TEMPINBOX_{{ $name | upper | replace "-" "_" }}
  value: {{ $value | quote }}
{{- end }}
{{- end -}}

{{/* Settings of every program that uses them: root, name, config, files. */}}
{{- define "tempinbox.commonSettings" -}}
{{- include "tempinbox.remember" .root -}}
{{- $settings := include "tempinbox.fileSettings" .files | fromJson -}}
{{- if ne .name "rate-limit" -}}
{{- $_ := set $settings "kafka-brokers" (join "," .root.Values.kafka.brokers) -}}
{{- with .root.Values.kafka.prefix }}{{ $_ := set $settings "kafka-prefix" . }}{{ end -}}
{{- end -}}
{{- if has .name (list "gateway" "tools") -}}
{{- range $callee := list "inbox" "rate-limit" "webhook-dispatcher" -}}
{{- $_ := set $settings (printf "%s-rpc" $callee) (printf "%s:9101" (include "tempinbox.rpcHost" (dict "root" $.root "name" $callee))) -}}
{{- end -}}
{{- end -}}
{{- toJson $settings -}}
{{- end -}}

{{- define "tempinbox.postgresEnv" -}}
{{- with .Values.database.tls.mode }}
- name: PGSSLMODE
  value: {{ . }}
{{- end }}
{{- if .Values.database.tls.existingSecret }}
- name: PGSSLROOTCERT
  value: /etc/tempinbox/database-ca/ca.pem
{{- end }}
{{- end -}}

{{/* The settings of a service that the chart decides, with those of the values over them. */}}
{{- define "tempinbox.serviceSettings" -}}
{{- $root := .root -}}
{{- $settings := include "tempinbox.commonSettings" . | fromJson -}}
{{- $_ := set $settings "admin-listen" (include "tempinbox.listen" (dict "root" $root "port" 9090)) -}}
{{- if eq .name "gateway" -}}
{{- $_ := set $settings "listen" (include "tempinbox.listen" (dict "root" $root "port" 8080)) -}}
{{- else if eq .name "mail-ingest" -}}
{{- $_ := set $settings "smtp-listen" (include "tempinbox.listen" (dict "root" $root "port" 2525)) -}}
{{- $_ := set $settings "spool-directory" "/var/spool/tempinbox/mail-ingest" -}}
{{- if .config.proxy.enabled -}}
{{- $_ := set $settings "proxy-listen" (include "tempinbox.listen" (dict "root" $root "port" 2526)) -}}
{{- $_ := set $settings "proxy-networks" (join "," .config.proxy.networks) -}}
{{- end -}}
{{- if .config.submission.enabled -}}
{{- $infix := ternary "-proxy" "" .config.proxy.enabled -}}
{{- $_ := set $settings (printf "submission%s-listen" $infix) (include "tempinbox.listen" (dict "root" $root "port" 2587)) -}}
{{- $_ := set $settings (printf "submissions%s-listen" $infix) (include "tempinbox.listen" (dict "root" $root "port" 2465)) -}}
{{- with get (default dict $root.Values.services.gateway.settings) "capture-host" -}}
{{- $_ := set $settings "capture-host" . -}}
{{- end -}}
{{- end -}}
{{- else -}}
{{- $_ := set $settings "rpc-listen" (include "tempinbox.listen" (dict "root" $root "port" 9101)) -}}
{{- end -}}
{{- range $name, $value := .config.settings -}}
{{- $_ := set $settings $name $value -}}
{{- end -}}
{{- if eq .name "webhook-dispatcher" -}}
{{- $denied := concat $root.Values.cluster.networks (splitList "," (get .config.settings "webhook-deny-networks" | default "" | nospace) | compact) | uniq -}}
{{- $_ := set $settings "webhook-deny-networks" (join "," $denied) -}}
{{- else if eq .name "rate-limit" -}}
{{- $address := ternary "[$(POD_IP)]" "$(POD_IP)" (contains ":" $root.Values.cluster.listenAddress) -}}
{{- $_ := set $settings "rpc-advertise" (printf "%s:9101" $address) -}}
{{- if coalesce .config.rpcTlsSecret $root.Values.rpc.tls.existingSecret -}}
{{- $_ := set $settings "rpc-tls-name" (include "tempinbox.rpcHost" .) -}}
{{- end -}}
{{- end -}}
{{- toJson $settings -}}
{{- end -}}

{{- define "tempinbox.probe" -}}
httpGet:
  path: {{ .path }}
  port: admin
periodSeconds: {{ int .probe.periodSeconds }}
timeoutSeconds: {{ int .probe.timeoutSeconds }}
failureThreshold: {{ int .probe.failureThreshold }}
{{- end -}}

{{/* The pod template of a service: root, name, config. */}}
{{- define "tempinbox.servicePod" -}}
{{- $files := include "tempinbox.files" . | fromJsonArray -}}
{{- $settings := include "tempinbox.serviceSettings" (merge (dict "files" $files) .) | fromJson -}}
{{- $checksums := dict -}}
{{- if and (ne .name "rate-limit") (not .root.Values.kafka.propertiesFile.existingSecret) -}}
{{- with include "tempinbox.kafkaProperties" . }}{{ $_ := set $checksums "checksum/kafka" (sha256sum .) }}{{ end -}}
{{- end -}}
{{- $dev := include "tempinbox.devSecret" . -}}
{{- range $files -}}
{{- if eq (default "" .secret) $dev -}}
{{- $_ := set $checksums "checksum/dev" (include "tempinbox.devData" $.root | sha256sum) -}}
{{- end -}}
{{- end -}}
metadata:
  labels:
    {{- include "tempinbox.podLabels" (dict "root" .root "component" .name) | nindent 4 }}
    {{- with .config.podLabels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- with merge (deepCopy .config.podAnnotations) $checksums }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  {{- include "tempinbox.podBasics" (dict "root" .root "config" .config "account" (include "tempinbox.serviceName" .)) | nindent 2 }}
  terminationGracePeriodSeconds: {{ include "tempinbox.grace" . }}
  {{- $constraints := list }}
  {{- range $at, $key := dict "zone" "topology.kubernetes.io/zone" "host" "kubernetes.io/hostname" }}
  {{- if ne (index $.config.spread $at) "Off" }}
  {{- $constraints = append $constraints (dict "key" $key "when" (index $.config.spread $at)) }}
  {{- end }}
  {{- end }}
  {{- with $constraints }}
  topologySpreadConstraints:
    {{- range . }}
    - maxSkew: 1
      topologyKey: {{ .key }}
      whenUnsatisfiable: {{ .when }}
      matchLabelKeys: [pod-template-hash] # a rollout does not count the pods it replaces
      labelSelector:
        matchLabels:
          {{- include "tempinbox.selectorLabels" (dict "root" $.root "component" $.name) | nindent 10 }}
    {{- end }}
  {{- end }}
  containers:
    - name: {{ .name }}
      image: {{ include "tempinbox.image" (dict "root" .root "config" .config "program" .name) }}
      imagePullPolicy: {{ .root.Values.image.pullPolicy }}
      {{- include "tempinbox.containerSecurity" . | nindent 6 }}
      env:
        - name: POD_NAME
          valueFrom:
            fieldRef:
              fieldPath: metadata.name
        - name: POD_IP
          valueFrom:
            fieldRef:
              fieldPath: status.podIP
        {{- if and .root.Values.kafka.rackLabel (ne .name "rate-limit") }}
        - name: TEMPINBOX_KAFKA_CLIENT_RACK
          valueFrom:
            fieldRef:
              fieldPath: metadata.labels['{{ .root.Values.kafka.rackLabel }}']
        {{- end }}
        {{- with include "tempinbox.postgresEnv" .root | trim }}{{ . | nindent 8 }}{{ end }}
        {{- with include "tempinbox.settingsEnv" $settings | trim }}{{ . | nindent 8 }}{{ end }}
        {{- with .config.extraEnv }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      ports:
        {{- if eq .name "gateway" }}
        - name: http
          containerPort: 8080
        {{- else if eq .name "mail-ingest" }}
        - name: smtp
          containerPort: 2525
        {{- if .config.proxy.enabled }}
        - name: smtp-proxy
          containerPort: 2526
        {{- end }}
        {{- if .config.submission.enabled }}
        - name: submission
          containerPort: 2587
        - name: submissions
          containerPort: 2465
        {{- end }}
        {{- else }}
        - name: rpc
          containerPort: 9101
        {{- end }}
        - name: admin
          containerPort: 9090
      startupProbe:
        {{- include "tempinbox.probe" (dict "path" "/livez" "probe" .config.startupProbe) | nindent 8 }}
      livenessProbe:
        {{- include "tempinbox.probe" (dict "path" "/livez" "probe" .config.livenessProbe) | nindent 8 }}
      readinessProbe:
        {{- include "tempinbox.probe" (dict "path" "/readyz" "probe" .config.readinessProbe) | nindent 8 }}
      {{- if int .config.preStopSeconds }}
      lifecycle:
        preStop:
          sleep:
            seconds: {{ int .config.preStopSeconds }}
      {{- end }}
      {{- $resources := deepCopy .config.resources }}
      {{- if not $resources.limits.memory }}
      {{- $_ := set $resources.limits "memory" (include "tempinbox.memoryLimit" .) }}
      {{- end }}
      resources:
        {{- toYaml $resources | nindent 8 }}
      {{- with .config.resizePolicy }}
      resizePolicy:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      volumeMounts:
        {{- with include "tempinbox.fileMounts" $files | trim }}{{ . | nindent 8 }}{{ end }}
        - name: tmp
          mountPath: /tmp
        {{- if eq .name "mail-ingest" }}
        - name: spool
          mountPath: /var/spool/tempinbox
        {{- end }}
        {{- with .config.extraVolumeMounts }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
  volumes:
    {{- with include "tempinbox.fileVolumes" $files | trim }}{{ . | nindent 4 }}{{ end }}
    - name: tmp
      emptyDir:
        sizeLimit: 64Mi
    {{- if eq .name "mail-ingest" }}
    - name: spool
      emptyDir:
        sizeLimit: {{ include "tempinbox.spoolSize" . }}
    {{- end }}
    {{- with .config.extraVolumes }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
{{- end -}}

{{/* The spec of a pod with the tools image: root, container, command, args, files and settings of
     its own, hook, config where it is not that of the tools. */}}
{{- define "tempinbox.toolPod" -}}
{{- $config := default .root.Values.tools .config -}}
{{- $hook := default false .hook -}}
{{- $all := include "tempinbox.files" (dict "root" .root "name" "tools" "config" $config "hook" $hook) | fromJsonArray -}}
{{- $files := default list .files -}}
{{- range $all -}}
{{- if or (not $.only) (has .name (default list $.only)) -}}
{{- $files = append $files . -}}
{{- end -}}
{{- end -}}
{{- $common := include "tempinbox.commonSettings" (dict "root" .root "name" "tools" "config" $config "files" $files) | fromJson -}}
{{- include "tempinbox.remember" .root -}}
{{- $known := index .root.Values.remembered.settings (ternary "migrate" "tempinboxctl" (eq .container "migrate")) -}}
{{- $settings := dict -}}
{{- range $name, $value := $common -}}
{{- if hasKey $known $name }}{{ $_ := set $settings $name $value }}{{ end -}}
{{- end -}}
{{- $settings = merge (default dict .settings) $settings -}}
{{- include "tempinbox.podBasics" (dict "root" .root "config" $config "account" (printf "%s-%s" (include "tempinbox.fullname" .root) (ternary "setup" "tools" $hook))) }}
restartPolicy: {{ default "Never" .restartPolicy }}
containers:
  - name: {{ .container }}
    image: {{ include "tempinbox.image" (dict "root" .root "config" $config "program" "tools") }}
    imagePullPolicy: {{ .root.Values.image.pullPolicy }}
    {{- include "tempinbox.containerSecurity" . | nindent 4 }}
    {{- with .command }}
    command:
      {{- toYaml . | nindent 6 }}
    {{- end }}
    {{- with .args }}
    args:
      {{- toYaml . | nindent 6 }}
    {{- end }}
    env:
      - name: POD_NAME
        valueFrom:
          fieldRef:
            fieldPath: metadata.name
      {{- with include "tempinbox.postgresEnv" .root | trim }}{{ . | nindent 6 }}{{ end }}
      {{- with include "tempinbox.settingsEnv" $settings | trim }}{{ . | nindent 6 }}{{ end }}
      {{- with $config.extraEnv }}
      {{- toYaml . | nindent 6 }}
      {{- end }}
    resources:
      {{- toYaml $config.resources | nindent 6 }}
    volumeMounts:
      {{- with include "tempinbox.fileMounts" $files | trim }}{{ . | nindent 6 }}{{ end }}
      - name: tmp
        mountPath: /tmp
      {{- with $config.extraVolumeMounts }}
      {{- toYaml . | nindent 6 }}
      {{- end }}
volumes:
  {{- with include "tempinbox.fileVolumes" $files | trim }}{{ . | nindent 2 }}{{ end }}
  - name: tmp
    emptyDir:
      sizeLimit: 64Mi
  {{- with $config.extraVolumes }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end -}}

{{/* At most 38 characters, since the longest suffix has 25. A cut name ends with a digest, so that
     two long releases stay apart. */}}
{{- define "tempinbox.fullname" -}}
{{- $chart := default .Chart.Name .Values.nameOverride -}}
{{- $name := .Values.fullnameOverride -}}
{{- if not $name -}}
{{- $name = ternary .Release.Name (printf "%s-%s" .Release.Name $chart) (contains $chart .Release.Name) -}}
{{- end -}}
{{- if gt (len $name) 38 -}}
{{- $name = printf "%s-%s" (trunc 29 $name | trimSuffix "-") (sha256sum $name | trunc 8) -}}
{{- end -}}
{{- $name -}}
{{- end -}}

{{- define "tempinbox.selectorLabels" -}}
app.kubernetes.io/name: {{ default .root.Chart.Name .root.Values.nameOverride | trunc 63 | trimSuffix "-" }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{- define "tempinbox.labels" -}}
{{ include "tempinbox.selectorLabels" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
app.kubernetes.io/part-of: tempinbox
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{- with .root.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* Without the chart's version: a new chart alone replaces no pod. */}}
{{- define "tempinbox.podLabels" -}}
{{ include "tempinbox.selectorLabels" . }}
app.kubernetes.io/part-of: tempinbox
{{- with .root.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* root, component, name; optional: namespace, labels, annotations. */}}
{{- define "tempinbox.metadata" -}}
{{- $annotations := merge (deepCopy (default dict .annotations)) .root.Values.commonAnnotations -}}
metadata:
  name: {{ .name }}
  namespace: {{ default .root.Release.Namespace .namespace }}
  labels:
    {{- include "tempinbox.labels" . | nindent 4 }}
    {{- with .labels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- with $annotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}

{{/* root, name of a service */}}
{{- define "tempinbox.serviceName" -}}
{{ include "tempinbox.fullname" .root }}-{{ .name }}
{{- end -}}

{{/* The name that certificates of the service need, too. */}}
{{- define "tempinbox.rpcHost" -}}
{{ include "tempinbox.serviceName" . }}.{{ .root.Release.Namespace }}.svc.{{ .root.Values.cluster.domain }}
{{- end -}}

{{/* An address and a port that programs listen on. */}}
{{- define "tempinbox.listen" -}}
{{- $address := .root.Values.cluster.listenAddress -}}
{{ ternary (printf "[%s]" $address) $address (contains ":" $address) }}:{{ .port }}
{{- end -}}

{{/* root, config (with image), program */}}
{{- define "tempinbox.image" -}}
{{- $all := .root.Values.image -}}
{{- $own := .config.image -}}
{{- $repository := default (printf "%s/%s" $all.repository .program | trimPrefix "/") $own.repository -}}
{{- with $all.registry }}{{ trimSuffix "/" . }}/{{ end -}}
{{- $repository -}}
{{- if $own.digest }}@{{ $own.digest }}
{{- else }}:{{ coalesce $own.tag $all.tag .root.Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{- define "tempinbox.kafkaName" -}}
{{ .root.Values.kafka.prefix }}{{ .name }}
{{- end -}}

{{/* Adds to a dict of rights: type, pattern and name of a topic or group, then operations on it. */}}
{{- define "tempinbox.grant" -}}
{{- $rights := first . -}}
{{- $key := slice . 1 4 | join "/" -}}
{{- $_ := set $rights $key (concat (get $rights $key | default list) (slice . 4) | uniq | sortAlpha) -}}
{{- end -}}

{{/* Names of topics may have upper case and underscores, names of objects may not. */}}
{{- define "tempinbox.objectName" -}}
{{ . | lower | replace "_" "-" | trimAll "-." }}
{{- end -}}

{{/* Sets what the values of a trial leave out. All its secrets come from one, which is random and kept
     in the Secret of those that stand in values. */}}
{{- define "tempinbox.fillTrial" -}}
{{- $values := .Values -}}
{{- $kept := (lookup "v1" "Secret" .Release.Namespace (include "tempinbox.devSecret" (dict "root" $))).data | default dict -}}
{{- $_ := set $values.trial "secret" ($values.trial.secret | default (get $kept "trial" | b64dec) | default (randAlphaNum 32)) -}}
{{- $database := printf "postgresql://tempinbox:%s@%s:5432/tempinbox" (include "tempinbox.trialSecret" (list . "postgres")) (include "tempinbox.rpcHost" (dict "root" $ "name" "postgres")) -}}
{{- $_ := set $values.database "value" ($values.database.value | default $database) -}}
{{- $_ := set $values.rpc.token "value" ($values.rpc.token.value | default (include "tempinbox.trialSecret" (list . "rpc"))) -}}
{{- $_ := set $values.masterKeys "value" ($values.masterKeys.value | default (printf "trial:%s" (include "tempinbox.trialSecret" (list . "master-keys") | b64enc))) -}}
{{- $_ := set $values.kafka "brokers" ($values.kafka.brokers | default (list (printf "%s:9092" (include "tempinbox.rpcHost" (dict "root" $ "name" "kafka"))))) -}}
{{- end -}}

{{/* 32 characters for one purpose: the root, its name. */}}
{{- define "tempinbox.trialSecret" -}}
{{ printf "%s %s" (first .).Values.trial.secret (last .) | sha256sum | trunc 32 }}
{{- end -}}

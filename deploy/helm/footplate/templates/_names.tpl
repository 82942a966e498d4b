{{- define "footplate.name" -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{- define "footplate.labels" -}}
app.kubernetes.io/name: footplate
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.Version | quote }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end -}}

{{- define "footplate.selector" -}}
app.kubernetes.io/name: footplate
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: server
{{- end -}}

{{- define "footplate.databaseSelector" -}}
app.kubernetes.io/name: footplate
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: postgresql
{{- end -}}

{{- define "footplate.clusterName" -}}
{{ include "footplate.name" . }}-0.{{ include "footplate.name" . }}-cluster.{{ .Release.Namespace }}.svc.{{ .Values.clusterDomain }}
{{- end -}}

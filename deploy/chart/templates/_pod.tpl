{{/* Of every object, before its suffix: a name has at most 63 letters, and the longest suffix 11. */}}
{{- define "pixgate.name" -}}
{{ .Release.Name | trunc 52 | trimSuffix "-" }}
{{- end }}

{{- define "pixgate.labels" -}}
app.kubernetes.io/name: pixgate
app.kubernetes.io/instance: {{ include "pixgate.name" . }}
{{- end }}

{{- define "pixgate.meta" -}}
{{ include "pixgate.labels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "pixgate.image" -}}
{{- with .Values.image -}}
{{- if .digest }}{{ .repository }}@{{ .digest }}{{ else }}{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}{{ end -}}
{{- end -}}
{{- end }}

{{/* Whether the Valkey of the chart is the cache. */}}
{{- define "pixgate.valkey" -}}
{{- and .Values.valkey.enabled (not .Values.config.cache.url) -}}
{{- end }}

{{- define "pixgate.config" -}}
{{- $config := deepCopy .Values.config -}}
{{- $server := $config.server -}}
{{- if not (or $server.trusted_peers (eq (default "peer" $server.client_address) "peer")) -}}
{{- fail "config.server.trusted_peers is empty: name the network of the Ingress's pods, such as --set-string config.server.trusted_peers=10.20.0.0/24. Peers in it set the client's address and certificate, so name no network that holds others. Without a proxy in front, set config.server.client_address=peer" -}}
{{- end -}}
{{- if eq (include "pixgate.valkey" .) "true" -}}
{{- $tls := .Values.valkey.tlsSecret -}}
{{- $_ := set $config.cache "url" (printf "%s://:${VALKEY_PASSWORD}@%s-valkey:6379/0" (ternary "rediss" "redis" (not (empty $tls))) (include "pixgate.name" .)) -}}
{{- if $tls }}{{ $_ := set $config.cache "ca" "/run/secrets/valkey/ca.crt" }}{{ end -}}
{{- end -}}
{{- toYaml $config -}}
{{- end }}

{{/* What every pod has: no token, no variables of Services (one called pixgate sets PIXGATE_PORT). */}}
{{- define "pixgate.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext: {{- include "pixgate.user" . | nindent 2 }}
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- end }}

{{- define "pixgate.user" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
seccompProfile: {type: RuntimeDefault}
{{- end }}

{{- define "pixgate.locked" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end }}

{{/* A container of ours, but for what it runs: a dict of root and part. */}}
{{- define "pixgate.container" -}}
{{- with .root -}}
image: {{ include "pixgate.image" . }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext: {{- include "pixgate.locked" . | nindent 2 }}
envFrom:
  - secretRef: {name: {{ .Values.secret }}}
  {{- if and .Values.ownerSecret (ne $.part "gateway") }}
  - secretRef: {name: {{ .Values.ownerSecret }}}
  {{- end }}
volumeMounts:
  - {name: config, mountPath: /etc/pixgate, readOnly: true}
  - {name: tmp, mountPath: /tmp}
  {{- if .Values.filesSecret }}
  - {name: files, mountPath: /run/secrets/pixgate, readOnly: true}
  {{- end }}
  {{- if and .Values.valkey.tlsSecret (eq (include "pixgate.valkey" .) "true") }}
  - {name: valkey, mountPath: /run/secrets/valkey, readOnly: true}
  {{- end }}
{{- end }}
{{- end }}

{{/* Its volumes: a dict of root and the name of its ConfigMap. */}}
{{- define "pixgate.volumes" -}}
- name: config
  configMap: {name: {{ .config }}}
- name: tmp
  emptyDir: {sizeLimit: 64Mi}
{{- with .root.Values.filesSecret }}
- name: files
  secret: {secretName: {{ . }}}
{{- end }}
{{- if and .root.Values.valkey.tlsSecret (eq (include "pixgate.valkey" .root) "true") }}
- name: valkey
  secret:
    secretName: {{ .root.Values.valkey.tlsSecret }}
    items: [{key: ca.crt, path: ca.crt}]
{{- end }}
{{- end }}

{{- define "pixgate.probes" -}}
startupProbe:
  httpGet: {path: /livez, port: ops}
  periodSeconds: 2
  failureThreshold: 60
livenessProbe:
  httpGet: {path: /livez, port: ops}
  periodSeconds: 10
  timeoutSeconds: 5
readinessProbe:
  httpGet: {path: /readyz, port: ops}
  periodSeconds: 2
  timeoutSeconds: 2
{{- end }}

{{/* The Deployment of a part, gateway or worker: a dict of root, part, command and ports. */}}
{{- define "pixgate.deployment" -}}
{{- $root := .root -}}
{{- $values := index $root.Values .part -}}
{{- $name := printf "%s-%s" (include "pixgate.name" $root) .part -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ $name }}
  namespace: {{ $root.Release.Namespace }}
  labels:
    {{- include "pixgate.meta" $root | nindent 4 }}
    app.kubernetes.io/component: {{ .part }}
spec:
  {{- if not (dig "autoscaling" "enabled" false $values) }}
  replicas: {{ $values.replicas }}
  {{- end }}
  selector:
    matchLabels:
      {{- include "pixgate.labels" $root | nindent 6 }}
      app.kubernetes.io/component: {{ .part }}
  strategy:
    type: RollingUpdate
    rollingUpdate: {maxSurge: 1, maxUnavailable: 0}
  template:
    metadata:
      labels:
        {{- include "pixgate.labels" $root | nindent 8 }}
        app.kubernetes.io/component: {{ .part }}
      annotations:
        checksum/config: {{ include "pixgate.config" $root | sha256sum }}
        {{- if eq $root.Values.monitoring.mode "annotations" }}
        prometheus.io/scrape: "true"
        prometheus.io/port: {{ $root.Values.config.admin.port | quote }}
        {{- end }}
    spec:
      {{- include "pixgate.pod" $root | nindent 6 }}
      serviceAccountName: {{ include "pixgate.name" $root }}
      terminationGracePeriodSeconds: {{ $values.terminationGracePeriodSeconds }}
      topologySpreadConstraints:
        - maxSkew: 1
          topologyKey: kubernetes.io/hostname
          whenUnsatisfiable: ScheduleAnyway
          labelSelector:
            matchLabels:
              {{- include "pixgate.labels" $root | nindent 14 }}
              app.kubernetes.io/component: {{ .part }}
      containers:
        - name: {{ .part }}
          args: [{{ .command }}]
          {{- include "pixgate.container" . | nindent 10 }}
          resources: {{- toYaml $values.resources | nindent 12 }}
          ports:
            {{- if eq .part "gateway" }}
            - {name: public, containerPort: {{ $root.Values.config.server.port }}}
            {{- end }}
            - {name: ops, containerPort: {{ $root.Values.config.admin.port }}}
          {{- include "pixgate.probes" $root | nindent 10 }}
      volumes:
        {{- include "pixgate.volumes" (dict "root" $root "config" (include "pixgate.name" $root)) | nindent 8 }}
      {{- with $values.nodeSelector }}
      nodeSelector: {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with $values.tolerations }}
      tolerations: {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with $values.affinity }}
      affinity: {{- toYaml . | nindent 8 }}
      {{- end }}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ $name }}
  namespace: {{ $root.Release.Namespace }}
  labels: {{- include "pixgate.meta" $root | nindent 4 }}
spec:
  maxUnavailable: 1
  selector:
    matchLabels:
      {{- include "pixgate.labels" $root | nindent 6 }}
      app.kubernetes.io/component: {{ .part }}
{{- end }}

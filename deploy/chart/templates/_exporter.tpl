{{/* Annotations of a pod by which Prometheus finds it: a dict of root and port. */}}
{{- define "pixgate.scraped" -}}
{{- if eq .root.Values.monitoring.mode "annotations" }}
annotations:
  prometheus.io/scrape: "true"
  prometheus.io/port: {{ .port | quote }}
{{- end }}
{{- end }}

{{/* A PodMonitor of an exporter: a dict of root, part, job and target, which is empty or probed. */}}
{{- define "pixgate.monitor" -}}
{{- $monitoring := .root.Values.monitoring -}}
---
apiVersion: monitoring.coreos.com/v1
kind: PodMonitor
metadata:
  name: {{ include "pixgate.name" .root }}-{{ .part }}
  namespace: {{ .root.Release.Namespace }}
  labels:
    {{- include "pixgate.meta" .root | nindent 4 }}
    {{- with $monitoring.labels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  selector:
    matchLabels: {app.kubernetes.io/name: {{ .part }}-exporter, app.kubernetes.io/instance: {{ include "pixgate.name" .root }}}
  podMetricsEndpoints:
    - port: metrics
      interval: {{ $monitoring.interval }}
      {{- with .target }}
      path: /probe
      params: {module: [front], target: [{{ . | quote }}]}
      {{- end }}
      relabelings:
        - {targetLabel: job, replacement: {{ .job }}}
        - {targetLabel: environment, replacement: {{ .root.Values.config.environment }}}
        - {targetLabel: cluster, replacement: {{ $monitoring.cluster }}}
        {{- with .target }}
        - {targetLabel: instance, replacement: {{ . | quote }}}
        {{- end }}
{{- end }}

{{/* A container that shows figures: a dict of root, image, port and health. */}}
{{- define "pixgate.metrics" -}}
image: {{ .image }}
securityContext: {{- include "pixgate.locked" .root | nindent 2 }}
resources: {{- toYaml .root.Values.monitoring.exporters.resources | nindent 2 }}
ports:
  - {name: metrics, containerPort: {{ .port }}}
livenessProbe:
  httpGet: {path: {{ .health }}, port: metrics}
  periodSeconds: 10
readinessProbe:
  httpGet: {path: {{ .health }}, port: metrics}
  periodSeconds: 5
{{- end }}

{{/* An exporter of its own: a dict as for the container, with part and job, and maybe args, secret, config and target; or valkey, and its Secret of TLS. */}}
{{- define "pixgate.exporter" -}}
{{- $root := .root -}}
{{- $name := printf "%s-%s" (include "pixgate.name" $root) .part -}}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ $name }}
  namespace: {{ $root.Release.Namespace }}
  labels: {{- include "pixgate.meta" $root | nindent 4 }}
spec:
  replicas: 1
  selector:
    matchLabels: {app.kubernetes.io/name: {{ .part }}-exporter, app.kubernetes.io/instance: {{ include "pixgate.name" $root }}}
  template:
    metadata:
      labels: {app.kubernetes.io/name: {{ .part }}-exporter, app.kubernetes.io/instance: {{ include "pixgate.name" $root }}}
      {{- include "pixgate.scraped" . | nindent 6 }}
    spec:
      {{- include "pixgate.pod" $root | nindent 6 }}
      serviceAccountName: {{ include "pixgate.name" $root }}
      containers:
        - name: exporter
          {{- with .args }}
          args: {{- toYaml . | nindent 12 }}
          {{- end }}
          {{- include "pixgate.metrics" . | nindent 10 }}
          {{- with .secret }}
          envFrom:
            - secretRef: {name: {{ . }}}
          {{- end }}
          {{- if .valkey }}
          env:
            - {name: REDIS_ADDR, value: "{{ if .tls }}rediss{{ else }}redis{{ end }}://{{ include "pixgate.name" $root }}-valkey:6379"}
            - name: REDIS_PASSWORD
              valueFrom: {secretKeyRef: {name: {{ $root.Values.secret }}, key: VALKEY_PASSWORD}}
            {{- if .tls }}
            - {name: REDIS_EXPORTER_TLS_CA_CERT_FILE, value: /run/secrets/valkey/ca.crt}
            {{- end }}
          {{- end }}
          {{- if .config }}
          volumeMounts:
            - {name: config, mountPath: /etc/{{ .config }}, readOnly: true}
          {{- else if .tls }}
          volumeMounts:
            - {name: valkey, mountPath: /run/secrets/valkey, readOnly: true}
          {{- end }}
      {{- if .config }}
      volumes:
        - name: config
          configMap: {name: {{ $name }}}
      {{- else if .tls }}
      volumes:
        - name: valkey
          secret:
            secretName: {{ .tls }}
            items: [{key: ca.crt, path: ca.crt}]
      {{- end }}
{{- if $root.Values.networkPolicy.enabled }}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: {{ $name }}
  namespace: {{ $root.Release.Namespace }}
  labels: {{- include "pixgate.meta" $root | nindent 4 }}
spec:
  podSelector:
    matchLabels: {app.kubernetes.io/name: {{ .part }}-exporter, app.kubernetes.io/instance: {{ include "pixgate.name" $root }}}
  policyTypes: [Ingress]
  ingress:
    - ports: [{port: metrics}]
      from: {{- toYaml $root.Values.networkPolicy.operationsFrom | nindent 8 }}
{{- end }}
{{- if eq $root.Values.monitoring.mode "podMonitor" }}
{{ include "pixgate.monitor" . }}
{{- end }}
{{- end }}

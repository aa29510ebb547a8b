{{- /* The name of everything: that of the release, with the chart's where it does not hold it. */ -}}
{{- define "veritrail.name" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "veritrail.selects" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "veritrail.labels" -}}
{{ include "veritrail.selects" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "veritrail.image" -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" .Values.image.repository .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" .Values.image.repository (.Values.image.tag | default .Chart.AppVersion) -}}
{{- end -}}
{{- end -}}

{{- /* Settings that are secrets, by name: which key of which secret holds them. */ -}}
{{- define "veritrail.secrets" -}}
{{- $secrets := deepCopy .Values.secrets -}}
{{- $_ := set $secrets "NEO4J_PASSWORD" .Values.neo4j.passwordSecret -}}
{{- $_ := set $secrets "VERITRAIL_JOBS_URL" .Values.postgresql.urlSecret -}}
{{- $_ := set $secrets "VERITRAIL_API_KEY" .Values.apiKeySecret -}}
{{- toJson $secrets -}}
{{- end -}}

{{- /* The pod of the service or of a worker. Takes: root, component, args, size, resources, probes. */ -}}
{{- define "veritrail.pod" -}}
metadata:
  labels:
    {{- include "veritrail.labels" .root | nindent 4 }}
    app.kubernetes.io/component: {{ .component }}
  annotations:
    # A change of settings starts new pods.
    checksum/settings: {{ include (print .root.Template.BasePath "/settings.yaml") .root | sha256sum }}
    {{- with .root.Values.podAnnotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  automountServiceAccountToken: false
  enableServiceLinks: false
  # What is in flight ends within 40 seconds, and everything else is handed back.
  terminationGracePeriodSeconds: 60
  securityContext:
    runAsNonRoot: true
    runAsUser: 10001
    runAsGroup: 10001
    fsGroup: 10001
    seccompProfile: {type: RuntimeDefault}
  {{- with .root.Values.image.pullSecrets }}
  imagePullSecrets: {{ toYaml . | nindent 4 }}
  {{- end }}
  {{- with .root.Values.nodeSelector }}
  nodeSelector: {{ toYaml . | nindent 4 }}
  {{- end }}
  {{- with .root.Values.tolerations }}
  tolerations: {{ toYaml . | nindent 4 }}
  {{- end }}
  topologySpreadConstraints:
    - maxSkew: 1
      topologyKey: kubernetes.io/hostname
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "veritrail.selects" .root | nindent 10 }}
          app.kubernetes.io/component: {{ .component }}
  containers:
    - name: veritrail
      image: {{ include "veritrail.image" .root | quote }}
      imagePullPolicy: {{ .root.Values.image.pullPolicy }}
      args: {{ toJson .args }}
      envFrom:
        - configMapRef: {name: {{ include "veritrail.name" .root }}-settings}
      env:
        {{- range $name, $_ := include "veritrail.secrets" .root | fromJson }}
        - {name: {{ $name }}_FILE, value: /run/secrets/veritrail/{{ $name }}}
        {{- end }}
      {{- with .probes }}
      ports:
        - {name: http, containerPort: 8000}
      {{- toYaml . | nindent 6 }}
      {{- end }}
      resources: {{ toYaml .resources | nindent 8 }}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities: {drop: [ALL]}
      volumeMounts:
        - {name: home, mountPath: /var/lib/veritrail}
        - {name: tmp, mountPath: /tmp}
        - {name: secrets, mountPath: /run/secrets/veritrail, readOnly: true}
  volumes:
    - name: home
      emptyDir: {sizeLimit: {{ .size }}}
    - name: tmp
      emptyDir: {sizeLimit: 1Gi}
    - name: secrets
      projected:
        defaultMode: 0440
        sources:
          {{- range $name, $from := include "veritrail.secrets" .root | fromJson }}
          - secret:
              name: {{ $from.name }}
              items: [{key: {{ $from.key }}, path: {{ $name }}}]
          {{- end }}
{{- end -}}

# shellcheck shell=sh disable=SC2154,SC2086
# Parameters come from outside; KUBECTL and lists of names are several words.
# Functions for jobs: which workloads have pods on NODE, and whether they have as many ready pods as before. A workload
# is a word `Kind/namespace/name=ready pods`; of a DaemonSet only its pod on NODE counts. KUBECTL: words. Each function
# fails if the API does not answer, also where `set -e` has no effect.

# Every pod on NODE: namespace, API version, kind and name of its controller, status of its condition Ready.
owners() {
  $KUBECTL get pods -A --field-selector "spec.nodeName=$NODE,status.phase!=Succeeded,status.phase!=Failed" -o go-template='
{{- range .items}}{{$namespace := .metadata.namespace}}{{$ready := "False"}}
{{- range .status.conditions}}{{if eq .type "Ready"}}{{$ready = .status}}{{end}}{{end}}
{{- range .metadata.ownerReferences}}{{if .controller}}{{$namespace}} {{.apiVersion}} {{.kind}} {{.name}} {{$ready}}{{"\n"}}{{end}}{{end}}
{{- end}}'
}

# Reads words `Kind/namespace/name`, one a line. Prints of those that exist: the word, ready pods, desired pods, kind
# and name of the Deployment that it belongs to.
counts() {
  sort -u >names
  cut -d/ -f2 names | sort -u | while read -r namespace; do
    # shellcheck disable=SC2046 # several words
    $KUBECTL -n "$namespace" get --ignore-not-found \
      $(awk -F/ -v ns="$namespace" '$2 == ns { print ($1 == "ReplicationController" ? tolower($1) : tolower($1) ".apps") "/" $3 }' names) -o go-template='
{{- define "one"}}{{.kind}}/{{.metadata.namespace}}/{{.metadata.name}} {{or .status.readyReplicas 0}} {{or .spec.replicas 0}}
{{- range .metadata.ownerReferences}}{{if .controller}} {{.kind}} {{.name}}{{end}}{{end}}{{"\n"}}{{end}}
{{- if .items}}{{range .items}}{{template "one" .}}{{end}}{{else if .metadata}}{{if .metadata.name}}{{template "one" .}}{{end}}{{end}}' </dev/null || exit 1
  done
}

# The workloads of the pods on NODE, one a line.
workloads() {
  owners >owners || return 1
  awk '$2 == "apps/v1" && $3 == "DaemonSet" && $5 == "True" { print $3 "/" $1 "/" $4 "=1" }' owners
  awk '($2 == "apps/v1" && ($3 == "ReplicaSet" || $3 == "StatefulSet")) || ($2 == "v1" && $3 == "ReplicationController") { print $3 "/" $1 "/" $4 }' owners |
    counts >counted || return 1
  awk '$4 != "Deployment" { print $1 "=" $2 }' counted
  awk '$4 == "Deployment" { split($1, at, "/"); print "Deployment/" at[2] "/" $5 }' counted | counts >deployments || return 1
  awk '{ print $1 "=" $2 }' deployments
}

# Reads words of `workloads`, one a line. Prints of those with fewer ready pods than before, and than desired now:
# `Kind/namespace/name=before now`. A workload that was deleted meanwhile is not missed.
behind() {
  cat >before
  if grep '^DaemonSet/' before >daemons; then
    owners >owners || return 1
    while IFS= read -r one; do
      path=${one#*/}; path=${path%=*}; namespace=${path%%/*}; name=${path#*/}
      if awk -v ns="$namespace" -v name="$name" '$1 == ns && $3 == "DaemonSet" && $4 == name && $5 == "True" { found = 1 } END { exit !found }' owners; then continue; fi
      kept=$($KUBECTL -n "$namespace" get daemonset "$name" --ignore-not-found -o name </dev/null) || return 1
      if [ -n "$kept" ]; then echo "$one 0"; fi
    done <daemons
  fi
  grep -v '^DaemonSet/' before >others || return 0
  sed 's/=.*//' others | counts >now || return 1
  awk 'FILENAME == "now" { ready[$1] = $2; desired[$1] = $3; next }
    { split($1, at, "="); name = at[1]; wanted = at[2] + 0
      if (!(name in ready)) next
      if (desired[name] + 0 < wanted) wanted = desired[name] + 0
      if (ready[name] + 0 < wanted) print $1, ready[name] }' now others
}

# shellcheck shell=sh disable=SC2154,SC2086  # parameters come from outside; KUBECTL is several words
# uses: engine/workloads.sh engine/kured.sh engine/cordon.sh
# Drains a node and records that. Reports every TELL_SECONDS which pods are still there, and which budget keeps them. A
# node that comes back (WORKLOADS is not empty) is drained only when the volumes of the pods that left are detached:
# with its kubelet stopped, they could be attached nowhere else. If the drain fails, it uncordons the node, unless an
# operator had cordoned it. Parameters: KUBECTL (words), NODE, SECONDS_TO_DRAIN, VOLUMES_SECONDS, TELL_SECONDS, FLAGS
# (of kubectl drain, one a line), DRAINED, CORDONED and WORKLOADS (annotations). Uses the functions of workloads.sh,
# cordon.sh and kured.sh; takes kured's lock only where it notes workloads: a node that is removed does not come back.
started=$(date +%s)
# The job reports by itself what it waits for.
: >tells

# Pods that a drain moves and that are still there: "namespace name state". Pods of DaemonSets and static pods stay.
left() {
  $KUBECTL get pods -A --field-selector "spec.nodeName=$NODE,status.phase!=Succeeded,status.phase!=Failed" -o go-template='
{{- range .items}}{{$kind := ""}}{{range .metadata.ownerReferences}}{{if .controller}}{{$kind = .kind}}{{end}}{{end}}
{{- if and (ne $kind "DaemonSet") (ne $kind "Node")}}{{.metadata.namespace}} {{.metadata.name}} {{if .metadata.deletionTimestamp}}terminating since {{.metadata.deletionTimestamp}}{{end}}{{"\n"}}{{end}}
{{- end}}'
}

# Budgets that allow no disruption now: "namespace name healthy needed selector".
strict() {
  $KUBECTL get poddisruptionbudgets -A -o go-template='
{{- range .items}}{{if not .status.disruptionsAllowed}}{{.metadata.namespace}} {{.metadata.name}} {{or .status.currentHealthy 0}} {{or .status.desiredHealthy 0}} {{range $key, $value := .spec.selector.matchLabels}}{{$key}}={{$value}},{{end}}
{{- range .spec.selector.matchExpressions}}{{if eq .operator "Exists"}}{{.key}}{{else if eq .operator "DoesNotExist"}}!{{.key}}{{else}}{{.key}} {{if eq .operator "In"}}in{{else}}notin{{end}} ({{range $i, $value := .values}}{{if $i}},{{end}}{{$value}}{{end}}){{end}},{{end}}{{"\n"}}{{end}}
{{- end}}'
}

# "namespace pod: text" of the pods here that a strict budget keeps.
kept() {
  strict | while read -r namespace budget healthy needed selector; do
    $KUBECTL -n "$namespace" get pods --field-selector "spec.nodeName=$NODE" -l "${selector%,}" -o name | while read -r pod; do
      echo "$namespace ${pod#pod/}: kept by PodDisruptionBudget $budget, which allows no disruption ($healthy" \
        "healthy, $needed needed)"
    done
  done
}

# What keeps the node, in one line. Leaves out what the API does not answer.
why() {
  kept >kept 2>/dev/null || :
  left >left 2>/dev/null || :
  awk '
    FILENAME == "kept" { at = index($0, ": "); by[substr($0, 1, at - 1)] = substr($0, at + 2); next }
    {
      pod = $1 " " $2; total += 1
      state = $0; sub(/^[^ ]+ [^ ]+ ?/, "", state)
      text = (pod in by) ? by[pod] : (state == "" ? "not evicted yet" : state)
      if (total <= 5) said = said (total > 1 ? "; " : "") $1 "/" $2 " (" text ")"
    }
    END { print (total == 0 ? "no pod is left" : said (total > 5 ? "; " (total - 5) " more pods" : "")) }' kept left
}

seconds() { echo $(($(date +%s) - started)); }

# Volumes that are attached to the node: names of PersistentVolumes, one a line. Inline volumes have none.
attachments() {
  $KUBECTL get volumeattachments -o go-template='
{{- range .items}}{{if and (eq .spec.nodeName "'"$NODE"'") .spec.source.persistentVolumeName}}{{.spec.source.persistentVolumeName}}{{"\n"}}{{end}}{{end}}'
}

# "namespace claim" of the pods that stay on the node.
claims_here() {
  $KUBECTL get pods -A --field-selector "spec.nodeName=$NODE,status.phase!=Succeeded,status.phase!=Failed" -o go-template='
{{- range .items}}{{$namespace := .metadata.namespace}}{{$name := .metadata.name}}{{range .spec.volumes}}
{{- with .persistentVolumeClaim}}{{$namespace}} {{.claimName}}{{"\n"}}{{end}}{{if .ephemeral}}{{$namespace}} {{$name}}-{{.name}}{{"\n"}}{{end}}{{end}}{{end}}'
}

# "namespace claim volume" of all claims that have a volume.
claims() {
  $KUBECTL get persistentvolumeclaims -A -o go-template='
{{- range .items}}{{if .spec.volumeName}}{{.metadata.namespace}} {{.metadata.name}} {{.spec.volumeName}}{{"\n"}}{{end}}{{end}}'
}

# The attached volumes that no pod on the node uses. Fails if the API does not answer.
leaving() {
  attachments >attached || return 1
  [ -s attached ] || return 0
  claims_here >here || return 1
  claims >claims || return 1
  awk '
    FILENAME == "here" { stays[$1 " " $2] = 1; next }
    FILENAME == "claims" { if (($1 " " $2) in stays) used[$3] = 1; next }
    !($0 in used)' here claims attached
}

# Waits for the volumes until the drain has used up its time, and at least for VOLUMES_SECONDS.
volumes_leave() {
  until_second=$(($(seconds) + VOLUMES_SECONDS))
  if [ "$until_second" -lt "$SECONDS_TO_DRAIN" ]; then until_second=$SECONDS_TO_DRAIN; fi
  told=$(date +%s)
  # An answer that does not come is no answer: the volumes are waited for.
  while leaving >volumes || echo unknown >volumes; [ -s volumes ]; do
    if [ "$(seconds)" -ge "$until_second" ]; then return 1; fi
    if [ $(($(date +%s) - told)) -ge "$TELL_SECONDS" ]; then
      told=$(date +%s)
      echo "waiting: volumes are detached from $NODE since $(seconds) s: $(paste -s -d , volumes)"
    fi
    sleep 1
  done
}

# Ends the drain with the status $1: the node takes pods again, if kbuild has cordoned it.
give_up() {
  # Nothing is missed: the workloads that were noted are here, or come back here.
  notes=${WORKLOADS:+\"$WORKLOADS\":null}
  cordoned=$($KUBECTL get node "$NODE" -o "go-template={{with .metadata.annotations}}{{with index . \"$CORDONED\"}}{{.}}{{end}}{{end}}")
  if [ -n "$cordoned" ]; then
    $KUBECTL patch node "$NODE" --type merge -p "{\"metadata\":{\"annotations\":{$notes${notes:+,}\"$CORDONED\":null}},\"spec\":{\"unschedulable\":null}}"
    echo "$NODE takes pods again" >&2
  else
    if [ -n "$notes" ]; then $KUBECTL patch node "$NODE" --type merge -p "{\"metadata\":{\"annotations\":{$notes}}}"; fi
    echo "$NODE stays cordoned, as it was before" >&2
  fi
  if [ -n "$WORKLOADS" ]; then kured_release; fi
  exit "$1"
}

if [ -n "$WORKLOADS" ]; then kured_take; fi
cordon

$KUBECTL drain "$NODE" --ignore-daemonsets --delete-emptydir-data $FLAGS --timeout "${SECONDS_TO_DRAIN}s" >drained 2>errors &
drain=$!
told=$started
while kill -0 "$drain" 2>/dev/null; do
  if [ $(($(date +%s) - told)) -ge "$TELL_SECONDS" ]; then
    told=$(date +%s)
    echo "waiting: pods leave $NODE since $(seconds) s: $(why)"
  fi
  sleep 1
done
status=0
wait "$drain" || status=$?
if [ "$status" -ne 0 ]; then
  echo "after $(seconds) s pods are still on $NODE: $(why)" >&2
  grep -e '^error' errors | grep -v -e 'will retry after' | tail -n 3 >&2 || :
  give_up "$status"
fi
if [ -n "$WORKLOADS" ] && ! volumes_leave; then
  echo "after $(seconds) s the pods have left $NODE, and volumes of them are still attached to it:" \
    "$(paste -s -d , volumes). Their storage driver has not detached them" >&2
  give_up 1
fi
# The time of the cordon's taint names this cordon: if the node is uncordoned, and cordoned again, the note is about
# another one.
cordoned_at=$($KUBECTL get node "$NODE" -o 'go-template={{range .spec.taints}}{{if eq .key "node.kubernetes.io/unschedulable"}}{{with .timeAdded}}{{.}}{{end}}{{end}}{{end}}') || cordoned_at=
$KUBECTL annotate --overwrite node "$NODE" "$DRAINED=${cordoned_at:-true}"

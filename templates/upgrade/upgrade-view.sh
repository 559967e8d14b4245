# shellcheck shell=sh disable=SC2154,SC2086  # parameters come from outside; KUBECTL is several words
# Prints one part of what an upgrade meets in the cluster. It creates nothing. The lists come as rows of words, made by
# go-templates: whole objects of thousands of pods would be too much. Parameters: KUBECTL (the command with its options,
# one word a line), PART: pods, budgets, twice, webhooks, apis, objects, addons, flags, nodes or kured; for objects
# REMOVED (API versions of kinds as kubectl takes them, e.g. Workload.v1alpha2.scheduling.k8s.io, one a line).
set -eu -f

# "node namespace name controller emptyDir tolerates claims" of the pods that a drain moves: they have a node and have
# not finished; pods of DaemonSets and static pods stay. Arguments: more options of `get pods`.
moved() {
  $KUBECTL get pods "$@" --field-selector 'status.phase!=Succeeded,status.phase!=Failed' -o go-template='
{{- range .items}}{{$name := .metadata.name}}
{{- $owner := "none"}}{{range .metadata.ownerReferences}}{{if .controller}}{{$owner = .kind}}{{end}}{{end}}
{{- $mirror := ""}}{{with .metadata.annotations}}{{$mirror = index . "kubernetes.io/config.mirror"}}{{end}}
{{- if and .spec.nodeName (not $mirror) (ne $owner "DaemonSet") (ne $owner "Node")}}
{{- $emptydir := "-"}}{{range .spec.volumes}}{{if ne (printf "%v" .emptyDir) "<nil>"}}{{$emptydir = "empty-dir"}}{{end}}{{end}}
{{- $tolerates := "-"}}{{range .spec.tolerations}}{{$key := printf "%v" .key}}{{$effect := printf "%v" .effect}}
{{- if and (or (eq $key "<nil>") (eq $key "") (eq $key "node.kubernetes.io/unschedulable")) (or (eq $effect "<nil>") (eq $effect "") (eq $effect "NoSchedule"))}}{{$tolerates = "tolerates-cordon"}}{{end}}{{end}}
{{- .spec.nodeName}} {{.metadata.namespace}} {{$name}} {{$owner}} {{$emptydir}} {{$tolerates}} {{range .spec.volumes}}
{{- with .persistentVolumeClaim}}{{.claimName}},{{end}}{{if .ephemeral}}{{$name}}-{{.name}},{{end}}{{end}}{{"\n"}}{{end}}
{{- end}}'
}

# "local namespace claim" of the claims whose volume lies on one node.
local_claims() {
  $KUBECTL get persistentvolumes -o go-template='
{{- range .items}}{{if and .spec.local .spec.claimRef}}local {{.spec.claimRef.namespace}} {{.spec.claimRef.name}}{{"\n"}}{{end}}{{end}}'
}

# "node NAME COUNT" for each node with pods that a drain moves, and "pod NODE NAMESPACE/NAME TRAITS" for those that it
# does not move without a loss.
pods() {
  claims=$(local_claims)
  rows=$(moved -A)
  printf '%s\n' "$claims" "$rows" | awk '
    $1 == "local" && NF == 3 { local[$2 "/" $3] = 1; next }
    NF < 6 { next }
    {
      count[$1] += 1
      traits = ($4 == "none" ? ",no-controller" : "") ($5 == "-" ? "" : "," $5) ($6 == "-" ? "" : "," $6)
      all = split($7, claim, ",")
      for (i = 1; i <= all; i++) if (($2 "/" claim[i]) in local) { traits = traits ",local-volume"; break }
      if (traits != "") print "pod", $1, $2 "/" $3, substr(traits, 2)
    }
    END { for (node in count) print "node", node, count[node] }'
}

# "namespace name allowed healthy needed expected minAvailable maxUnavailable policy reason SELECTS selector": `<nil>`
# is missing; SELECTS is `none` for a budget without a selector, which selects no pod. An empty selector selects all
# pods.
budgets() {
  $KUBECTL get poddisruptionbudgets -A -o go-template='
{{- range .items}}{{$reason := "-"}}{{range .status.conditions}}{{if eq .type "DisruptionAllowed"}}{{$reason = .reason}}{{end}}{{end}}
{{- .metadata.namespace}} {{.metadata.name}} {{or .status.disruptionsAllowed 0}} {{or .status.currentHealthy 0}} {{or .status.desiredHealthy 0}} {{or .status.expectedPods 0}} {{printf "%v" .spec.minAvailable}} {{printf "%v" .spec.maxUnavailable}} {{printf "%v" .spec.unhealthyPodEvictionPolicy}} {{$reason}} {{if eq (printf "%v" .spec.selector) "<nil>"}}none{{else}}some{{end}} {{range $key, $value := .spec.selector.matchLabels}}{{$key}}={{$value}},{{end}}
{{- range .spec.selector.matchExpressions}}{{if eq .operator "Exists"}}{{.key}}{{else if eq .operator "DoesNotExist"}}!{{.key}}{{else}}{{.key}} {{if eq .operator "In"}}in{{else}}notin{{end}} ({{range $i, $value := .values}}{{if $i}},{{end}}{{$value}}{{end}}){{end}},{{end}}{{"\n"}}
{{- end}}'
}

# "node namespace/name budget,budget" of the pods that two or more budgets select. The API server matches the selectors,
# eight at once, and only those that may share a pod: most budgets of a namespace want different values of one label.
twice() {
  rows=$(budgets)
  d=$(mktemp -d -p /run kbuild-upgrade.XXXXXX)
  trap 'rm -rf "$d"' EXIT
  trap 'exit 1' HUP INT TERM
  printf '%s\n' "$rows" | awk '
    function apart(a, b,  list, i) {
      for (i = split(keys[a], list, " "); i > 0; i--)
        if (((b, list[i]) in value) && value[b, list[i]] != value[a, list[i]]) return 1
      return 0
    }
    $11 == "some" {
      row[++rows] = $0
      space[rows] = $1
      selector = $0
      for (i = 0; i < 11; i++) sub(/^[^ ]+ ?/, "", selector)
      gsub(/\([^)]*\)/, "", selector)
      for (i = split(selector, term, ","); i > 0; i--) {
        if (term[i] !~ /^[^ !=]+=/) continue
        at = index(term[i], "=")
        key = substr(term[i], 1, at - 1)
        keys[rows] = keys[rows] " " key
        value[rows, key] = substr(term[i], at + 1)
      }
    }
    END {
      for (a = 1; a <= rows; a++) for (b = a + 1; b <= rows; b++)
        if (space[a] == space[b] && !apart(a, b)) { both[a] = 1; both[b] = 1 }
      for (a = 1; a <= rows; a++) if (a in both) print row[a]
    }' >"$d/budgets"
  number=0
  while read -r namespace budget _ _ _ _ _ _ _ _ _ selector; do
    number=$((number + 1))
    {
      moved -n "$namespace" -l "${selector%,}" >"$d/pods.$number" || : >"$d/failed"
      awk -v budget="$budget" 'NF > 5 { print $1, $2 "/" $3, budget }' "$d/pods.$number" >"$d/of.$number"
    } &
    [ $((number % 8)) -ne 0 ] || wait
  done <"$d/budgets"
  wait
  [ ! -e "$d/failed" ] || exit 1
  find "$d" -name 'of.*' -exec cat {} + | sort | awk '
    { pod = $1 " " $2; all[pod] += 1; by[pod] = by[pod] (all[pod] > 1 ? "," : "") $3; if (all[pod] == 2) found[++count] = pod }
    END { for (i = 1; i <= count; i++) print found[i], by[found[i]] }'
}

# "hook KIND CONFIGURATION NAME NAMESPACE SERVICE" of the webhooks whose failure fails the request (`- -` for one by
# URL), and "ready NAMESPACE SERVICE" of their services with an endpoint that is ready. An unset `ready` counts as true.
webhooks() {
  hooks=$($KUBECTL get validatingwebhookconfigurations,mutatingwebhookconfigurations -o go-template='
{{- range .items}}{{$kind := .kind}}{{$configuration := .metadata.name}}{{range .webhooks}}{{if eq (printf "%v" .failurePolicy) "Fail"}}hook {{$kind}} {{$configuration}} {{.name}} {{with .clientConfig.service}}{{.namespace}} {{.name}}{{else}}- -{{end}}{{"\n"}}{{end}}{{end}}{{end}}')
  printf '%s\n' "$hooks"
  services=$(printf '%s\n' "$hooks" | awk 'NF == 6 && $6 != "-" { print $6 }' | sort -u | paste -s -d , -)
  [ -n "$services" ] || return 0
  $KUBECTL get endpointslices -A -l "kubernetes.io/service-name in ($services)" -o go-template='
{{- range .items}}{{$ready := false}}{{range .endpoints}}{{if ne (printf "%v" .conditions.ready) "false"}}{{$ready = true}}{{end}}{{end}}
{{- if $ready}}ready {{.metadata.namespace}} {{index .metadata.labels "kubernetes.io/service-name"}}{{"\n"}}{{end}}{{end}}'
}

# The gauge of deprecated APIs that were requested since this API server started. A last line `end` says that it was
# read whole.
apis() {
  { $KUBECTL get --raw /metrics && echo end; } | {
    found=$(sed -n -e '/^apiserver_requested_deprecated_apis{/p' -e '/^end$/p')
    printf '%s\n' "$found"
    case $found in *end) ;; *) exit 1 ;; esac
  }
}

# Prints the objects of the API version of a kind, one a line; nothing if the API server does not serve it.
listed() {
  if $KUBECTL get "$1" -A --ignore-not-found -o name 2>"$d/errors"; then return 0; fi
  if grep -q "the server doesn't have a resource type" "$d/errors"; then return 3; fi
  cat "$d/errors" >&2
  return 1
}

# True if the API server serves the kind in another version of its group, too, which is not in REMOVED: then objects are
# stored in that one.
is_elsewhere() {
  kind=${1%%.*} rest=${1#*.}
  group=${rest#*.}
  for version in $($KUBECTL api-versions | sed -n "s|^$group/||p"); do
    printf '%s\n' $REMOVED | grep -q -x -F "$kind.$version.$group" && continue
    status=0
    listed "$kind.$version.$group" >"$d/other" || status=$?
    case $status in 0) return 0 ;; 3) ;; *) return 2 ;; esac
  done
  return 1
}

# "KIND.VERSION.GROUP COUNT" of the API versions in REMOVED that have objects, and in which alone their kind is served.
objects() {
  d=$(mktemp -d -p /run kbuild-upgrade.XXXXXX)
  trap 'rm -rf "$d"' EXIT
  trap 'exit 1' HUP INT TERM
  for api in $REMOVED; do
    status=0
    listed "$api" >"$d/found" || status=$?
    case $status in 0) ;; 3) continue ;; *) exit 1 ;; esac
    [ -s "$d/found" ] || continue
    status=0
    is_elsewhere "$api" || status=$?
    case $status in 0) ;; 1) echo "$api $(wc -l <"$d/found")" ;; *) exit 1 ;; esac
  done
}

# Who owns which fields of CoreDNS's Deployment, whether kube-proxy's DaemonSet exists, and kubeadm's
# ClusterConfiguration.
addons() {
  coredns=$($KUBECTL -n kube-system get deployment coredns --ignore-not-found -o 'jsonpath=found {.metadata.managedFields}')
  proxy=$($KUBECTL -n kube-system get daemonset kube-proxy --ignore-not-found -o name)
  configuration=$($KUBECTL -n kube-system get configmap kubeadm-config -o 'jsonpath={.data.ClusterConfiguration}')
  printf 'coredns %s\nkube-proxy %s\n%s\n' "$coredns" "${proxy:+found}" "$configuration"
}

# "NODE COMPONENT FLAG" for each flag of the control planes' static pods, without dashes and without its value.
flags() {
  rows=$($KUBECTL -n kube-system get pods -l tier=control-plane -o go-template='
{{- range .items}}{{$node := .spec.nodeName}}{{$component := index .metadata.labels "component"}}{{range .spec.containers}}{{range .command}}{{$node}} {{$component}} {{.}}{{"\n"}}{{end}}{{end}}{{end}}')
  printf '%s\n' "$rows" | sed -n 's/^\([^ ]* [^ ]*\) --\([^= ]*\).*/\1 \2/p'
}

# "name unschedulable cordoned" for each node: whether it takes pods, and kbuild's note that kbuild has cordoned it.
nodes() {
  $KUBECTL get nodes -o go-template='
{{- range .items}}{{$note := ""}}{{with .metadata.annotations}}{{$note = index . "kbuild.dev/cordoned"}}{{end}}
{{- .metadata.name}} {{if .spec.unschedulable}}unschedulable{{else}}-{{end}} {{if $note}}kbuild{{else}}-{{end}}{{"\n"}}{{end}}'
}

# kured's lock, which it holds while it drains and reboots a node: JSON in an annotation of its DaemonSet.
kured() {
  $KUBECTL -n kube-system get daemonset kured --ignore-not-found -o go-template='found {{with .metadata.annotations}}{{with index . "weave.works/kured-node-lock"}}{{.}}{{end}}{{end}}'
}

"$PART"

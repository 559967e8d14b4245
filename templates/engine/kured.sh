# shellcheck shell=sh disable=SC2154,SC2086  # parameters come from outside; KUBECTL is several words
# Functions for jobs. kured (https://kured.dev) reboots nodes, one at a time, while it holds a lock: JSON in an
# annotation of its DaemonSet (pkg/daemonsetlock of kured). While kbuild drains nodes it holds the lock itself, for an
# hour at most, so that kured takes no other node away. KUBECTL: words; NODE: the node that is drained; CORDONED: an
# annotation of nodes that kbuild drains; SECONDS_TO_DRAIN: how long the lock is waited for.
KURED_LOCK=weave.works/kured-node-lock
KURED_SECONDS=3600

# The DaemonSet: its version, its option --concurrency (or nothing), and the lock (or nothing), separated by tabs;
# nothing without kured.
kured() {
  $KUBECTL --request-timeout 20s -n kube-system get daemonset kured --ignore-not-found -o go-template='
{{- .metadata.resourceVersion}}{{"\t"}}{{range .spec.template.spec.containers}}{{range .command}}{{.}} {{end}}{{range .args}}{{.}} {{end}}{{end}}{{"\t"}}
{{- with .metadata.annotations}}{{with index . "weave.works/kured-node-lock"}}{{.}}{{end}}{{end}}'
}

# Names of the nodes that hold a lock that has not run out, one a line. `unreadable`: the lock has a form or a time that
# kbuild does not know, so it counts as held.
kured_holders() {
  lock=$(printf %s "$1" | tr -d ' \t\n')
  case $lock in
    '' | *'"locks":[]'* | *'"locks":null'*) return 0 ;;
    *'{"nodeID":"'*) ;;
    *)
      echo unreadable
      return 0
      ;;
  esac
  echo "$lock" | sed 's/{"nodeID"/\n&/g' | sed -n '/^{"nodeID"/p' | while IFS= read -r one; do
    created=$(echo "$one" | sed -n 's/.*"created":"\([^"]*\)".*/\1/p')
    # A Go duration: nanoseconds; 0: no limit.
    ttl=$(echo "$one" | sed -n 's/.*"TTL":\([0-9]*\)[0-9]\{9\}\([^0-9].*\)\{0,1\}$/\1/p')
    since=$(date -d "${created:-none}" +%s 2>/dev/null) || since=''
    if [ -n "$since" ] && [ "${ttl:-0}" -gt 0 ] && [ $((since + ttl)) -lt "$(date +%s)" ]; then continue; fi
    echo "$one" | sed -n 's/^{"nodeID":"\([^"]*\)".*/\1/p'
  done
}

# Takes the lock, or keeps it for another hour. Waits while kured reboots a node. A lock in another name is an
# operator's, who wants no reboots: it stays. Fails after SECONDS_TO_DRAIN.
kured_take() {
  from=$(date +%s)
  said=''
  while
    found=$(kured) || return 1
    [ -n "$found" ]
  do
    version=$(printf %s "$found" | cut -f 1)
    owners=$(printf %s "$found" | cut -f 2 | sed -n 's/.*--concurrency[= ]\([0-9]*\).*/\1/p')
    rebooting='' others=''
    for holder in $(kured_holders "$(printf %s "$found" | cut -f 3)"); do
      if [ "$holder" = kbuild ]; then continue; fi
      node=$($KUBECTL --request-timeout 20s get node "$holder" --ignore-not-found -o name) || return 1
      if [ -n "$node" ]; then rebooting=$holder; else others=$holder; fi
    done
    if [ -z "$rebooting" ]; then
      if [ -n "$others" ]; then return 0; fi
      one="{\"nodeID\":\"kbuild\",\"created\":\"$(date -u +%Y-%m-%dT%H:%M:%SZ)\",\"TTL\":${KURED_SECONDS}000000000}"
      lock=$one
      if [ "${owners:-1}" -gt 1 ]; then
        lock=$(i=0; while [ "$i" -lt "$owners" ]; do printf '%s,' "$one"; i=$((i + 1)); done)
        lock="{\"maxOwners\":$owners,\"locks\":[${lock%,}]}"
      fi
      # Another holder may have taken it meanwhile.
      if $KUBECTL -n kube-system annotate --overwrite --resource-version "$version" daemonset kured "$KURED_LOCK=$lock" >&2; then return 0; fi
    fi
    if [ "$said" != "$rebooting" ]; then echo "waiting: kured reboots $rebooting, and holds its lock"; fi
    said=$rebooting
    if [ $(($(date +%s) - from)) -ge "$SECONDS_TO_DRAIN" ]; then
      echo "kured reboots ${rebooting:-a node}: its lock was not free within $SECONDS_TO_DRAIN s" >&2
      return 1
    fi
    sleep 1
  done
}

# Gives the lock back, unless another node is still being drained.
kured_release() {
  found=$(kured) || return 0
  case $found in *'"nodeID":"kbuild"'*) ;; *) return 0 ;; esac
  others=$($KUBECTL get nodes -o go-template='{{range .items}}{{$name := .metadata.name}}{{range $key, $value := .metadata.annotations}}{{if eq $key "'"$CORDONED"'"}}{{$name}}{{"\n"}}{{end}}{{end}}{{end}}' | grep -vx -e "$NODE") || :
  if [ -n "$others" ]; then return 0; fi
  $KUBECTL -n kube-system annotate --resource-version "$(printf %s "$found" | cut -f 1)" daemonset kured "$KURED_LOCK-" >&2 || :
}

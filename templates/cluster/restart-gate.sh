# shellcheck shell=sh disable=SC2154,SC2086,SC2016
# Parameters come from outside; KUBECTL is several words; go-template has its own $.
# Waits until the other control planes can do without NODE, which is about to restart: their API servers are ready, and
# so are their controller managers and schedulers, whose leases are renewed. Prints `needed: …` for each that is still
# missing after SECONDS_AT_MOST, and ends with 0 then, too. What has not worked on NODE itself for BROKEN_SECONDS is not
# asked of the others: a restart takes nothing away there, and may be what mends it. Parameters: KUBECTL (words), NODE,
# SERVERS (name and URL of each control plane's API server, one a line, NODE's too), VIA (this host), SECONDS_AT_MOST,
# BROKEN_SECONDS (longer than a component takes that starts again).
gate=$(mktemp -d)
trap 'rm -rf -- "$gate"' EXIT
# No clock of a host is compared with that of another one: the holder of a lease writes the time by its own.
seconds() { cut -d . -f 1 /proc/uptime; }
last() { tail -n 1 "$1" | cut -c 1-160; }

# "component node ready reason arguments" of the static pods.
pods() {
  $KUBECTL --request-timeout 5s -n kube-system get pods -l tier=control-plane -o go-template='
{{- range .items}}{{$ready := "false"}}{{$why := "-"}}
{{- range .status.containerStatuses}}{{if .ready}}{{$ready = "true"}}{{end}}{{with .state.waiting}}{{with .reason}}{{$why = .}}{{end}}{{end}}{{with .state.terminated}}{{with .reason}}{{$why = .}}{{end}}{{end}}{{end}}
{{- with .metadata.labels.component}}{{.}}{{else}}-{{end}} {{with .spec.nodeName}}{{.}}{{else}}-{{end}} {{$ready}} {{$why}}
{{- range .spec.containers}}{{range .command}} {{.}}{{end}}{{range .args}} {{.}}{{end}}{{end}}{{"\n"}}{{end}}'
}

# True if a component of NODE is ready.
works() { awk -v component="$1" -v node="$NODE" '$1 == component && $2 == node && $3 == "true" { found = 1 } END { exit !found }' "$gate/pods"; }
# The value of a flag of a component of NODE, or its default: COMPONENT FLAG DEFAULT.
flag() {
  value=$(awk -v component="$1" -v node="$NODE" '$1 == component && $2 == node' "$gate/pods" | sed -n "s/.* $2=\([^ ]*\).*/\1/p" | tail -n 1)
  echo "${value:-$3}"
}

# True if something of NODE has been broken for BROKEN_SECONDS: WHAT, and a command that succeeds while it works.
broken() {
  since=$gate/broken-$1
  shift
  if "$@"; then
    rm -f "$since"
    return 1
  fi
  if [ ! -e "$since" ]; then seconds >"$since"; fi
  [ $(($(seconds) - $(cat "$since"))) -ge "$BROKEN_SECONDS" ]
}

is_ready() { [ "$($KUBECTL --server "$1" --request-timeout 5s get --raw /readyz 2>"$gate/said")" = ok ]; }

servers() {
  echo "$SERVERS" | while read -r name url; do
    if [ "$name" = "$NODE" ] || is_ready "$url"; then continue; fi
    echo "the API server of $name ready (found: $(last "$gate/said"))"
  done
}

# Asks for the lease of a component. It counts as renewed when its time has changed while this looked on.
lease() {
  # Without election there is no lease to go by.
  if grep -q "^$1 .* --leader-elect=[0fF]" "$gate/pods"; then return 0; fi
  space=$(flag "$1" --leader-elect-resource-namespace kube-system)
  name=$(flag "$1" --leader-elect-resource-name "$1")
  if ! said=$($KUBECTL --request-timeout 5s -n "$space" get lease "$name" --ignore-not-found -o 'jsonpath={.spec.holderIdentity}|{.spec.leaseDurationSeconds}|{.spec.renewTime}' 2>"$gate/said"); then
    echo "the lease $space/$name (could not tell it: $(last "$gate/said"))"
    return 0
  fi
  if [ -z "$said" ]; then
    echo "the lease $space/$name (found: none, so no $1 was ever elected)"
    return 0
  fi
  holder=${said%%|*}
  renewed=${said##*|}
  duration=${said#*|}
  duration=${duration%|*}
  # A holder on NODE that hangs is mended by the restart.
  case $holder in "${NODE}_"*) return 0 ;; esac
  now=$(seconds)
  if [ ! -e "$gate/$1" ]; then
    echo "$now no $renewed" >"$gate/$1"
  fi
  read -r since changed before <"$gate/$1"
  if [ "$renewed" != "$before" ]; then
    since=$now
    changed=yes
    echo "$since $changed $renewed" >"$gate/$1"
  fi
  if [ $changed = yes ] && [ $((now - since)) -le $((3 * ${duration:-15})) ]; then return 0; fi
  age=
  if at=$(date -d "${renewed:-none}" +%s 2>/dev/null); then age=", $(($(date +%s) - at)) s ago by the clock of $VIA"; fi
  echo "the lease $space/$name renewed (found: not for the $((now - since)) s that it was watched, last at" \
    "${renewed:-no time}$age; holder ${holder:-none})"
}

controllers() {
  awk -v component="$1" -v node="$NODE" '$1 == component && $2 != node && $3 != "true" { print component " of " $2 " ready (found: " ($4 == "-" ? "not ready" : $4) ")" }' "$gate/pods"
  lease "$1"
}

look() {
  if ! pods >"$gate/pods" 2>"$gate/said"; then
    echo "the control plane's pods (could not tell them: $(last "$gate/said"))"
    return 0
  fi
  servers >"$gate/missing"
  if [ -s "$gate/missing" ] && ! broken API is_ready "$(echo "$SERVERS" | awk -v node="$NODE" '$1 == node { print $2 }')"; then cat "$gate/missing"; fi
  for component in kube-controller-manager kube-scheduler; do
    controllers "$component" >"$gate/missing"
    if [ -s "$gate/missing" ] && ! broken "$component" works "$component"; then cat "$gate/missing"; fi
  done
}

from=$(seconds)
told=0
looks=0
while look >"$gate/needed" && [ -s "$gate/needed" ]; do
  waited=$(($(seconds) - from))
  looks=$((looks + 1))
  # A single look, which may take long on a busy host, tells nothing of a lease.
  if [ "$waited" -ge "$SECONDS_AT_MOST" ] && [ "$looks" -ge 3 ]; then
    sed 's/^/needed: /' "$gate/needed"
    exit 0
  fi
  if [ "$waited" -ge $((told + 10)) ]; then
    told=$waited
    echo "waiting: before $NODE restarts ($waited s of at most $SECONDS_AT_MOST s):" \
      "$(awk '{ said = said (NR > 1 ? "; " : "") $0 } END { print said }' "$gate/needed")"
  fi
  # Where all is well, only the next renewal of a lease is waited for, which comes within 2 s.
  if [ "$waited" -lt 5 ]; then sleep 0.3; else sleep 1; fi
done

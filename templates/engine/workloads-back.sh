# shellcheck shell=sh disable=SC2154,SC2086  # parameters and functions come from outside; KUBECTL is several words
# uses: engine/workloads.sh engine/kured.sh
# Waits until workloads have as many ready pods as before NODE was drained. Then removes the note and gives kured's lock
# back, where FORGETS is not empty. Parameters: KUBECTL (words), NODE, NOTE (the annotation), KINDS (a basic regular
# expression: the kinds to wait for), FORGETS, SECONDS_AT_MOST, TELL_SECONDS (between two reports), CORDONED (an
# annotation). Uses the functions of workloads.sh and kured.sh.
started=$(date +%s)
told=$started
# The job reports by itself what it waits for.
: >tells
seconds() { echo $(($(date +%s) - started)); }
listed() { awk '{ split($1, at, "="); said = said (NR > 1 ? "; " : "") at[1] " (" $2 " of " at[2] " ready)" } END { print said }' left; }

$KUBECTL get node "$NODE" -o "go-template={{with .metadata.annotations}}{{with index . \"$NOTE\"}}{{.}}{{end}}{{end}}" >noted
tr ' ' '\n' <noted | grep "^$KINDS/" >waited || :
while
  # An answer that does not come is no answer: the workloads are waited for.
  behind <waited >left || echo 'API/-/-=1 0' >left
  [ -s left ]
do
  if [ "$(seconds)" -ge "$SECONDS_AT_MOST" ]; then
    echo "after $(seconds) s there are fewer ready pods than before $NODE was drained: $(listed)" >&2
    exit 1
  fi
  if [ $(($(date +%s) - told)) -ge "$TELL_SECONDS" ]; then
    told=$(date +%s)
    echo "waiting: pods that left $NODE come back since $(seconds) s: $(listed)"
  fi
  sleep 1
done
if [ -n "$FORGETS" ]; then
  $KUBECTL annotate node "$NODE" "$NOTE-"
  kured_release
fi

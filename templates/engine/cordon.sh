# shellcheck shell=sh disable=SC2154,SC2086  # parameters come from outside; KUBECTL is several words
# A function for jobs. `cordon`: cordons NODE, and notes in the same write when kbuild did it (CORDONED, an annotation;
# not where an operator had cordoned it) and which workloads have pods there (WORKLOADS, an annotation; empty: they are
# not noted). Does nothing again where an interrupted run has done it. STALE (annotations, one a line): notes of an
# earlier drain, whose cordon is no more. Uses the functions of workloads.sh.
cordon() {
  for note in $STALE; do
    $KUBECTL annotate node "$NODE" "$note-"
  done
  found=$($KUBECTL get node "$NODE" -o "go-template={{if .spec.unschedulable}}cordoned{{end}} {{with .metadata.annotations}}{{with index . \"${WORKLOADS:-none}\"}}noted{{end}}{{end}}")
  notes='' spec=''
  case $found in
    cordoned*) ;;
    *) notes="\"$CORDONED\":\"$(date -u +%Y-%m-%dT%H:%M:%SZ)\"" spec=',"spec":{"unschedulable":true}' ;;
  esac
  if [ -n "$WORKLOADS" ] && [ "${found#* }" != noted ]; then
    noted=$(workloads) || return 1
    noted=$(echo "${noted:-none}" | tr '\n' ' ')
    notes="$notes${notes:+,}\"$WORKLOADS\":\"${noted% }\""
  fi
  if [ -n "$notes" ]; then
    $KUBECTL patch node "$NODE" --type merge -p "{\"metadata\":{\"annotations\":{$notes}}$spec}"
  fi
}

# shellcheck shell=sh disable=SC2154  # parameters come from outside
# Runs probes ("$@": names, `here` or `apart`, command, and so on) and frames what each prints, on both streams, with
# NONCE: no output can guess it. BATCH (a script, probe-batch.sh) runs many in one shell, which takes a tenth of what a
# shell and a deadline for each would; it begins no other after ENOUGH seconds, and gets LONGEST. The probe at which it
# ended, or hung, is given up with its status, and the next batch goes on behind that.
exec 4>&1
while [ $# -gt 0 ]; do
  status=0
  # The nonce goes in by the environment: every user of the host sees command lines. A dot comes back for each probe
  # that ended, a comma if the rest is for the next batch.
  ended=$(BATCH_NONCE=$NONCE timeout -k 1 "$LONGEST" sh -c "$BATCH" sh "$ENOUGH" "$@" 3>&1 >&4 4>&-) || status=$?
  dots=${ended%,}
  shift $((${#dots} * 3))
  if [ $# -gt 0 ] && [ "$dots" = "$ended" ]; then
    printf '\n%s\n' "$NONCE:end:$1:$status"
    printf '\n%s\n' "$NONCE:end:$1:$status" >&2
    shift 3
  fi
done

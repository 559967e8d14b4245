# shellcheck shell=sh
# Functions of a job that waits until its change is in use. They use the functions of templates/runtime/.

# await TEXT SECONDS COMMAND…: runs COMMAND, which prints what is missing, once a second until it prints nothing.
# Prints every 10 s why it waits. After SECONDS it ends the job with TEXT ("the certificates are renewed") and what
# is still to come. COMMAND may read `waited`.
await() {
  await_text=$1
  await_most=$2
  shift 2
  from=$(date +%s)
  waited=0
  told=-10
  while [ -n "$("$@" | tee waits)" ]; do
    waited=$(($(date +%s) - from))
    if [ "$waited" -gt "$await_most" ]; then
      echo "$await_text, and after $await_most s this is still to come:" >&2
      cat waits >&2
      exit 1
    fi
    if [ "$waited" -ge $((told + 10)) ]; then
      echo "waiting: $(tr '\n' ';' <waits) ($waited s of at most $await_most s)"
      told=$waited
    fi
    sleep 1
  done
}

# anew IDS COMPONENT…: prints the components of which no container runs that is not among IDS (words).
anew() {
  before=$1
  shift
  for component; do
    new=
    for id in $(runtime_running "$component"); do
      case " $before " in
        *" $id "*) ;;
        *) new=yes ;;
      esac
    done
    if [ -z "$new" ]; then echo "$component starts again"; fi
  done
}

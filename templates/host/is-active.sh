# shellcheck shell=sh
# A function for probes that depend on whether a unit runs.

# True if the unit $1, one of those below, is active. systemctl is called once for all probes that run in one shell.
is_active() {
  if [ -z "${active_states-}" ]; then
    active_states=
    # Its status only says whether all are active. It prints one line a unit, in order.
    active_states=$(systemctl is-active containerd crio docker firewalld haproxy keepalived systemd-resolved 2>/dev/null) || :
    active_units=' '
    for active_unit in containerd crio docker firewalld haproxy keepalived systemd-resolved; do
      # A line feed.
      case ${active_states%%'
'*} in active | reloading | refreshing) active_units="$active_units$active_unit " ;; esac
      active_states=${active_states#*'
'}
    done
    active_states=known
  fi
  case $active_units in *" $1 "*) return 0 ;; *) return 1 ;; esac
}

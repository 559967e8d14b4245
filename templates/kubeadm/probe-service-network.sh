# shellcheck shell=sh disable=SC2154  # parameters come from outside
# Prints whether the Service addresses API and DNS answer from this host; `absent` where it has not joined. One process
# tries both; where it hung, another one goes on behind that. Each address has two seconds.
if [ -e /etc/kubernetes/kubelet.conf ]; then
  set -- "api/$API/443" "dns/$DNS/53"
  while [ $# -gt 0 ]; do
    # It prints a line for each address that it has tried.
    # shellcheck disable=SC2016 # for bash
    tried=$(timeout 2 bash -c 'for target; do
      answer=silent
      if { exec 3<>"/dev/tcp/${target#*/}"; } 2>/dev/null; then answer=answers; fi
      echo "${target%%/*} $answer"
    done' bash "$@" 2>/dev/null) || :
    fresh=yes
    IFS='
'
    for line in $tried; do
      echo "$line"
      shift
      fresh=
    done
    # One that had less than its two seconds gets them now.
    if [ $# -gt 0 ] && [ -n "$fresh" ]; then
      echo "${1%%/*} silent"
      shift
    fi
  done
else echo absent; fi

# shellcheck shell=sh disable=SC2154  # parameters come from outside
# Prints whether the Service addresses API and DNS answer from this host; `absent` where it has not joined.
if [ -e /etc/kubernetes/kubelet.conf ]; then
  for target in "api/$API/443" "dns/$DNS/53"; do
    if timeout 2 bash -c 'exec 3<>/dev/tcp/"$0"' "${target#*/}" 2>/dev/null; then
      echo "${target%%/*} answers"
    else echo "${target%%/*} silent"; fi
  done
else echo absent; fi

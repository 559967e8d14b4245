# shellcheck shell=sh disable=SC2154  # parameters come from outside
# given: runtime
# Leads kubeconfigs of this host to SERVER (a URL). A job. Parameters: CONFS (lines: names below /etc/kubernetes),
# KUBELET (yes: it starts again, and must report to the API through SERVER; if it does not within 120 s, its kubeconfig
# is put back, unless a run that was cut off had led it there), NODE, PODS (lines: static pods that start again). It
# uses the functions of templates/runtime/.
umask 077
kubernetes=/etc/kubernetes
put() {
  install -m 0600 -o root -g root -- "$1" "$2.kbuild-new"
  sync -- "$2.kbuild-new"
  mv -f -- "$2.kbuild-new" "$2"
}
# When the kubelet reported last, as the API tells the kubelet itself.
reported() {
  env -u HTTPS_PROXY -u https_proxy kubectl --kubeconfig "$kubernetes/kubelet.conf" --request-timeout 5s -n kube-node-lease get lease "$NODE" -o 'jsonpath={.spec.renewTime}' 2>reason || true
}
servers() {
  kubectl config view --kubeconfig "$1" -o 'jsonpath={.clusters[*].cluster.server}'
}
if [ -n "$KUBELET" ]; then cp -- $kubernetes/kubelet.conf old.conf; fi
for conf in $CONFS; do
  cp -- "$kubernetes/$conf" new.conf
  for cluster in $(kubectl config view --raw --kubeconfig new.conf -o 'jsonpath={.clusters[*].name}'); do
    kubectl config --kubeconfig new.conf set-cluster "$cluster" --server "$SERVER" >&2
  done
  put new.conf "$kubernetes/$conf"
done
for component in $PODS; do
  for id in $(runtime_running "$component"); do runtime_signal SIGTERM "$id" 2>/dev/null || true; done
done
if [ -z "$KUBELET" ]; then exit 0; fi
before=$(reported)
systemctl restart kubelet
from=$(date +%s)
told=0
while now=$(reported) && { [ -z "$now" ] || [ "$now" = "$before" ]; }; do
  waited=$(($(date +%s) - from))
  if [ "$waited" -gt 120 ]; then
    failed="the kubelet of $NODE did not report through $SERVER within 120 s ($(tail -n 1 reason))"
    case " $(servers old.conf) " in
      *" $SERVER "*)
        echo "$failed. A run that was cut off has led its kubeconfig there, so kbuild cannot put the former one" \
          "back: make $SERVER reachable from $NODE, then run the same command again" >&2
        exit 1
        ;;
    esac
    put old.conf $kubernetes/kubelet.conf
    systemctl restart kubelet
    echo "$failed, and has its former kubeconfig again" >&2
    exit 1
  fi
  if [ "$waited" -ge $((told + 10)) ]; then
    echo "waiting: the kubelet of $NODE reports through $SERVER ($waited s of at most 120 s)"
    told=$waited
  fi
  sleep 1
done

# shellcheck shell=sh disable=SC2154,SC2086  # parameters come from outside; KUBECTL is several words
# Applies edited kubeadm settings to a live cluster with kubeadm's own phases, and notes them. Parameters: PARTS (cluster,
# kubelet, kubeProxy, or manifests: what cluster does beyond the first control plane; one a line), NODE, KUBECTL (words), MANAGER, SETTINGS (a ConfigMap; empty: none). config.yaml lies beside the script.
server_pod() { $KUBECTL -n kube-system get pod "kube-apiserver-$NODE" -o "jsonpath={.metadata.annotations.kubernetes\.io/config\.hash} {.status.containerStatuses[0].ready}" 2>/dev/null; }

# Where an authority signs elsewhere, kubeadm's phases want all the kubeconfigs of a founder. The one that joined control
# planes never had, and that users put away, is stood for by one without credentials.
super=/etc/kubernetes/super-admin.conf
if [ ! -e /etc/kubernetes/pki/ca.key ] && [ ! -e $super ]; then
  trap 'rm -f -- $super' EXIT
  trap 'exit 1' HUP INT TERM
  kubectl config --kubeconfig $super set-cluster none --server https://localhost --certificate-authority /etc/kubernetes/pki/ca.crt --embed-certs >&2
  kubectl config --kubeconfig $super set-context none --cluster none >&2
  kubectl config --kubeconfig $super use-context none >&2
fi

for part in $PARTS; do
  case $part in
    cluster | manifests)
      if [ "$part" = cluster ]; then kubeadm init phase upload-config kubeadm --config config.yaml; fi
      before=$(server_pod)
      sum=$(sha256sum </etc/kubernetes/manifests/kube-apiserver.yaml)
      kubeadm init phase control-plane all --config config.yaml
      if [ "$sum" != "$(sha256sum </etc/kubernetes/manifests/kube-apiserver.yaml)" ]; then
        # The old server answers until the kubelet has noticed its new manifest.
        until=$(($(date +%s) + 240))
        while now=$(server_pod) || true; [ "$now" = "$before" ] || [ "${now#* }" != true ]; do
          if [ "$(date +%s)" -gt $until ]; then echo 'the API server did not come back with its new settings' >&2; exit 1; fi
          sleep 1
        done
      fi
      ;;
    kubelet) kubeadm init phase upload-config kubelet --config config.yaml ;;
    kubeProxy)
      kubeadm init phase addon kube-proxy --config config.yaml
      $KUBECTL -n kube-system rollout restart daemonset/kube-proxy
      ;;
  esac
done
if [ -n "$SETTINGS" ]; then
  printf '%s' "$SETTINGS" | $KUBECTL apply --server-side --force-conflicts --field-manager "$MANAGER" -f -
fi

# shellcheck shell=sh disable=SC2154,SC2086  # parameters come from outside; KUBECTL is several words
# Applies edited settings to a live cluster with kubeadm's own phases, and notes them. Parameters: PARTS (one a line:
# pull the images; cluster: upload the configuration and write the manifests; manifests; etcd: its manifest; kubelet,
# kubeProxy, coredns), NODE, KUBECTL (words), MANAGER, DNS_REPLICAS (pods of CoreDNS; empty: as many as there are),
# SETTINGS (a ConfigMap; empty: none), HTTP_PROXY_URL, HTTPS_PROXY_URL, NO_PROXY_LIST (empty: none; kubeadm puts them
# into the manifests that it writes). config.yaml lies beside the script.
if [ -n "$HTTP_PROXY_URL$HTTPS_PROXY_URL" ]; then
  export HTTP_PROXY="$HTTP_PROXY_URL" HTTPS_PROXY="$HTTPS_PROXY_URL" NO_PROXY="$NO_PROXY_LIST"
fi
manifests=/etc/kubernetes/manifests
# `pod COMPONENT [SECONDS]`: hash of the manifest that its pod has, and whether it is ready; SECONDS: at most, default
# 5. An API server whose etcd restarts would keep a request for a minute.
pod() { $KUBECTL --request-timeout "${2:-5}s" -n kube-system get pod "$1-$NODE" -o "jsonpath={.metadata.annotations.kubernetes\.io/config\.hash} {.status.containerStatuses[0].ready}" 2>/dev/null; }
sum() { sha256sum 2>/dev/null <"$manifests/$1.yaml" || echo 'none -'; }

# Runs a command that writes the manifests of COMPONENTS (words) again; waits for each that it changed.
rewrite() {
  components=$1
  shift
  before=$(for one in $components; do echo "$one $(sum "$one") $(pod "$one" 60 || true)"; done)
  "$@"
  echo "$before" | while read -r one old _ pod; do
    if [ "$old" = "$(sum "$one" | cut -d ' ' -f 1)" ]; then continue; fi
    # The old pod answers until the kubelet has noticed its new manifest.
    from=$(date +%s)
    told=-10
    while now=$(pod "$one") || true; [ "$now" = "$pod" ] || [ "${now#* }" != true ] || ! $KUBECTL --request-timeout 5s get --raw /readyz >/dev/null 2>&1; do
      waited=$(($(date +%s) - from))
      if [ $waited -ge $((told + 10)) ]; then
        echo "waiting: $one of $NODE restarts with its new manifest ($waited s of at most 240 s)"
        told=$waited
      fi
      if [ $waited -gt 240 ]; then
        echo "$one of $NODE is not ready with its new manifest $manifests/$one.yaml after 240 s; the other" \
          "control planes keep what they have. Correct the setting or the patch and run the same command again" >&2
        exit 1
      fi
      sleep 1
    done
  done
}

# With an external certificate authority, kubeadm's phases require all kubeconfigs of a founder. Only the founder has
# super-admin.conf, and operators may remove it: the script puts one without credentials in its place.
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
    pull) kubeadm config images pull --config config.yaml ;;
    cluster | manifests)
      if [ "$part" = cluster ]; then kubeadm init phase upload-config kubeadm --config config.yaml; fi
      rewrite 'kube-apiserver kube-controller-manager kube-scheduler' kubeadm init phase control-plane all --config config.yaml
      ;;
    etcd) rewrite etcd kubeadm init phase etcd local --config config.yaml ;;
    kubelet) kubeadm init phase upload-config kubelet --config config.yaml ;;
    kubeProxy)
      # The cluster may have no kube-proxy.
      there=$($KUBECTL -n kube-system get daemonset kube-proxy --ignore-not-found -o name)
      if [ -n "$there" ]; then
        kubeadm init phase addon kube-proxy --config config.yaml
        $KUBECTL -n kube-system rollout restart daemonset/kube-proxy
      fi
      ;;
    coredns)
      there=$($KUBECTL -n kube-system get deployment coredns --ignore-not-found -o name)
      if [ -n "$there" ]; then
        # kubeadm keeps the number of pods that it finds.
        if [ -n "$DNS_REPLICAS" ]; then $KUBECTL -n kube-system scale deployment/coredns --replicas "$DNS_REPLICAS"; fi
        kubeadm init phase addon coredns --config config.yaml
      fi
      ;;
  esac
done
if [ -n "$SETTINGS" ]; then
  printf '%s' "$SETTINGS" | $KUBECTL apply --server-side --validate=ignore --force-conflicts --field-manager "$MANAGER" -f -
fi

# shellcheck shell=sh disable=SC2034  # the scripts that follow use it
# Sets runtime_serving: the path of the CRI socket that this host's kubelet was given; empty on a host that has not joined. While a node
# changes its runtime, this is the one that runs its pods. Where several files name one, the kubelet's own order decides: kubeadm's flag,
# then kubeadm's file of the host, then the kubelet's configuration. The last file is that of a host of role etcd.
runtime_serving=
for runtime_file in /var/lib/kubelet/kubeadm-flags.env /var/lib/kubelet/instance-config.yaml /var/lib/kubelet/config.yaml /etc/kubernetes/etcd-kubelet.yaml; do
  if [ -z "$runtime_serving" ] && [ -f "$runtime_file" ]; then
    runtime_serving=$(sed -nE 's/.*(--container-runtime-endpoint=|containerRuntimeEndpoint:) *"?([^" ]+).*/\2/p' "$runtime_file" | head -n 1)
  fi
done
runtime_serving=${runtime_serving#unix://}
runtime_serving=${runtime_serving#/var}

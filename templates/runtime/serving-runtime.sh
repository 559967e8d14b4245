# shellcheck shell=sh disable=SC2034  # the scripts that follow use it
# Sets runtime_given, the CRI endpoint that this host's kubelet was given, and runtime_serving, the path of its socket;
# both are empty on a host that has not joined. While a node changes its runtime, this is the one that runs its pods.
# Where several files name one, the kubelet's own order decides: kubeadm's flag, then kubeadm's file of the host, then
# the kubelet's configuration. The last file is that of a host of role etcd.
runtime_given=
for runtime_file in /var/lib/kubelet/kubeadm-flags.env /var/lib/kubelet/instance-config.yaml /var/lib/kubelet/config.yaml /etc/kubernetes/etcd-kubelet.yaml; do
  if [ -n "$runtime_given" ] || ! [ -f "$runtime_file" ]; then continue; fi
  while [ -z "$runtime_given" ] && { IFS= read -r runtime_line || [ -n "$runtime_line" ]; }; do
    case $runtime_line in
      *--container-runtime-endpoint=*) runtime_given=${runtime_line##*--container-runtime-endpoint=} ;;
      *containerRuntimeEndpoint:*) runtime_given=${runtime_line##*containerRuntimeEndpoint:} ;;
      *) continue ;;
    esac
    runtime_given=${runtime_given#"${runtime_given%%[! ]*}"}
    runtime_given=${runtime_given#\"}
    runtime_given=${runtime_given%%[ \"]*}
  done <"$runtime_file"
done
runtime_serving=${runtime_given#unix://}
case $runtime_serving in /var/run/*) runtime_serving=${runtime_serving#/var} ;; esac

# shellcheck shell=sh disable=SC2154  # parameters come from outside
# uses: kubeadm/marker.sh
# Lets the kubelet of a host of role etcd start its member: kubeadm writes the manifest. Parameters: ACTION (init: a new
# etcd; join: a further member), CLUSTER, MARKER (a path). config.yaml lies beside the script. The marker is on disk
# before that. A later step removes it when the member serves.
mark "$ACTION" begun
kubeadm init phase etcd local --config config.yaml
sync /etc/kubernetes/manifests

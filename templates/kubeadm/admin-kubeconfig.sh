# shellcheck shell=sh
# Makes the administrator's kubeconfig again with the key of the cluster's CA, as kubeadm's init did. config.yaml lies
# in the working directory.
kubeadm init phase kubeconfig admin --config config.yaml

# shellcheck shell=sh disable=SC2154  # parameters come from outside
# Makes private keys on the host and prints a request for each certificate: its name and base64, one a line. Parameters:
# WORK (a folder on tmpfs that is its alone; keys wait there for their certificates), CONFIG (kubeadm's documents, whose
# certificatesDir is WORK/pki), NAMES (as kubeadm calls files: apiserver, admin.conf), ACCOUNTS (yes: the key pair of
# Service accounts too, which kubeadm's init leaves out with an authority without a key).
umask 077
rm -rf -- "$WORK"
mkdir -p -- "$WORK/pki"
printf '%s' "$CONFIG" >"$WORK/config.yaml"
kubeadm certs generate-csr --config "$WORK/config.yaml" --kubeconfig-dir "$WORK" >&2
if [ "$ACCOUNTS" = yes ]; then kubeadm init phase certs sa --config "$WORK/config.yaml" >&2; fi
for name in $NAMES; do
  case $name in
    *.conf) file=$WORK/$name.csr ;;
    etcd-*) file=$WORK/pki/etcd/${name#etcd-}.csr ;;
    *) file=$WORK/pki/$name.csr ;;
  esac
  printf '%s %s\n' "$name" "$(base64 -w 0 -- "$file")"
done

# shellcheck shell=sh
# Prints names and servers of the clusters in the host's kubeconfig files, never their credentials.
cd /etc/kubernetes 2>/dev/null || exit 0
# The kubelet's own file calls every cluster the same: those of the control plane come first.
for file in admin super-admin controller-manager scheduler kubelet; do
  if [ -e "$file.conf" ]; then
    echo "file /etc/kubernetes/$file.conf"
    sed -n '/^clusters:/,/^[b-z]/p' "$file.conf" | grep -E '^ *(server|name):' || true
  fi
done

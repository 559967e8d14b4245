# shellcheck shell=sh
# Prints the public parts of the certificates that kubeadm and the kubelet keep on the host.
show() {
  echo "certificate $1"
  sed -n '/-BEGIN CERTIFICATE-/,/-END CERTIFICATE-/p;/-END CERTIFICATE-/q' "$2"
}
for file in /etc/kubernetes/pki/*.crt /etc/kubernetes/pki/etcd/*.crt; do
  # What the rotation of an authority keeps beside it is none that anything uses by itself.
  case $file in *ca-old.crt | *ca-new.crt | *ca-signing.crt) continue ;; esac
  if [ -e "$file" ]; then show "$(echo "$file" | sed 's|/etc/kubernetes/pki/||;s|[.]crt$||;s|/|-|')" "$file"; fi
done
kubelet=/var/lib/kubelet/pki
if [ -e $kubelet/kubelet-client-current.pem ]; then show kubelet-client $kubelet/kubelet-client-current.pem; fi
# With serverTLSBootstrap the kubelet serves with the former, and what it made for itself before is used no more.
if [ -e $kubelet/kubelet-server-current.pem ]; then
  show kubelet-server $kubelet/kubelet-server-current.pem
elif [ -e $kubelet/kubelet.crt ]; then
  show kubelet $kubelet/kubelet.crt
fi
for name in admin super-admin controller-manager scheduler; do
  if grep -qs client-certificate-data "/etc/kubernetes/$name.conf"; then
    echo "certificate $name.conf"
    sed -n 's/^ *client-certificate-data: *//p' "/etc/kubernetes/$name.conf" | base64 -d
  fi
done

# shellcheck shell=sh
# Prints the public parts of the certificates that kubeadm and the kubelet keep on the host.
show() {
  echo "certificate $1"
  sed -n '/-BEGIN CERTIFICATE-/,/-END CERTIFICATE-/p;/-END CERTIFICATE-/q' "$2"
}
for file in /etc/kubernetes/pki/*.crt /etc/kubernetes/pki/etcd/*.crt; do
  if [ -e "$file" ]; then show "$(echo "$file" | sed 's|/etc/kubernetes/pki/||;s|[.]crt$||;s|/|-|')" "$file"; fi
done
client=/var/lib/kubelet/pki/kubelet-client-current.pem
if [ -e $client ]; then show kubelet-client $client; fi
for name in admin super-admin controller-manager scheduler; do
  if grep -qs client-certificate-data "/etc/kubernetes/$name.conf"; then
    echo "certificate $name.conf"
    sed -n 's/^ *client-certificate-data: *//p' "/etc/kubernetes/$name.conf" | base64 -d
  fi
done

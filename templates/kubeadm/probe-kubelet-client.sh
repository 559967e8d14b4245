# shellcheck shell=sh
# Prints the certificate with which the kubelet of this host shows to the API which node it is: `certificate`, and its
# public part. Nothing on a host without the kubelet's kubeconfig.
conf=/etc/kubernetes/kubelet.conf
if [ ! -e "$conf" ]; then exit 0; fi
echo certificate
file=$(sed -n 's/^ *client-certificate: *//p' "$conf" | tr -d "\"'" | head -n 1)
if [ -n "$file" ]; then
  if [ -r "$file" ]; then sed -n '/-BEGIN CERTIFICATE-/,/-END CERTIFICATE-/p;/-END CERTIFICATE-/q' "$file"; fi
else
  # So kubeadm's init leaves it until the kubelet has its own store.
  sed -n 's/^ *client-certificate-data: *//p' "$conf" | head -n 1 | base64 -d 2>/dev/null || true
fi

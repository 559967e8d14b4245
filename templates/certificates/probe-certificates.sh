# shellcheck shell=sh
# Prints the public parts of the certificates that kubeadm and the kubelet keep on the host, each behind `certificate
# NAME`: PEM, or base64 of it where it stands in a kubeconfig.
set --
for file in /etc/kubernetes/pki/*.crt /etc/kubernetes/pki/etcd/*.crt; do
  # No program uses the files by themselves that the rotation of an authority keeps beside it.
  case $file in *ca-old.crt | *ca-new.crt | *ca-signing.crt) continue ;; esac
  if [ -e "$file" ]; then set -- "$@" "$file"; fi
done
kubelet=/var/lib/kubelet/pki
if [ -e $kubelet/kubelet-client-current.pem ]; then set -- "$@" $kubelet/kubelet-client-current.pem; fi
# With serverTLSBootstrap the kubelet serves with the former, and no longer with the one that it made for itself.
if [ -e $kubelet/kubelet-server-current.pem ]; then
  set -- "$@" $kubelet/kubelet-server-current.pem
elif [ -e $kubelet/kubelet.crt ]; then
  set -- "$@" $kubelet/kubelet.crt
fi
for name in admin super-admin controller-manager scheduler; do
  if [ -e "/etc/kubernetes/$name.conf" ]; then set -- "$@" "/etc/kubernetes/$name.conf"; fi
done
# Files hold private keys, too: of a file of certificates it prints the first certificate, of a kubeconfig one line.
if [ $# -gt 0 ]; then
  awk 'BEGIN {
    for (i = 1; i < ARGC; i++) {
      name = ARGV[i]
      isConf = name ~ /[.]conf$/
      sub(/^\/etc\/kubernetes\/(pki\/)?/, "", name)
      sub(/^\/var\/lib\/kubelet\/pki\//, "", name)
      sub(/(-current[.]pem|[.]crt)$/, "", name)
      gsub(/\//, "-", name)
      if (!isConf) print "certificate " name
      state = "before"
      while (state != "behind" && (got = (getline line < ARGV[i])) > 0) {
        if (isConf) {
          if (sub(/^ *client-certificate-data: */, "", line)) { print "certificate " name; print line; state = "behind" }
          continue
        }
        if (line ~ /-BEGIN CERTIFICATE-/) state = "within"
        if (state == "within") print line
        if (line ~ /-END CERTIFICATE-/) state = "behind"
      }
      close(ARGV[i])
      if (got < 0) { print ARGV[i] " cannot be read" >"/dev/stderr"; exit 1 }
    }
  }' "$@"
fi

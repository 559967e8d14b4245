# shellcheck shell=sh
# Prints the certificates of kubeadm's authorities on this host and what of a rotation lies beside them (`file NAME
# CHANGED`), which authorities its kubeconfigs trust (`conf NAME`, in base64), hashes of the authorities' keys (`key
# NAME SHA256`), and with which certificate the controller manager was told to sign (`signing PATH`). The same of the
# key of service account tokens, which has a public key instead of a certificate.
pki=/etc/kubernetes/pki
if [ -e $pki/ca.crt ] || [ -e $pki/etcd/ca.crt ]; then
  set --
  keys=
  for name in ca front-proxy-ca etcd/ca sa; do
    for what in '' -old -new -signing; do
      if [ $name = sa ]; then file=$pki/$name$what.pub; else file=$pki/$name$what.crt; fi
      if [ -e "$file" ]; then set -- "$@" "$file"; fi
      if [ -e "$pki/$name$what.key" ]; then keys="$keys $pki/$name$what.key"; fi
    done
  done
  # No path has a space: with its time in front, each becomes one word.
  changed=$(stat -c '%.3Y:%n' -- "$@")
  set -- $changed
  for conf in admin super-admin controller-manager scheduler kubelet; do
    if [ -e "/etc/kubernetes/$conf.conf" ]; then set -- "$@" "/etc/kubernetes/$conf.conf"; fi
  done
  if [ -e /etc/kubernetes/manifests/kube-controller-manager.yaml ]; then set -- "$@" /etc/kubernetes/manifests/kube-controller-manager.yaml; fi
  awk 'BEGIN {
    for (i = 1; i < ARGC; i++) {
      file = name = ARGV[i]
      what = file ~ /^\// ? (file ~ /[.]conf$/ ? "conf" : "manifest") : "file"
      if (what == "file") {
        time = substr(file, 1, index(file, ":") - 1)
        file = name = substr(file, index(file, ":") + 1)
        sub(/^\/etc\/kubernetes\/pki\//, "", name)
        sub(/[.](crt|pub)$/, "", name)
        print "file", name, time
      }
      if (what == "conf") { sub(/^\/etc\/kubernetes\//, "", name); print "conf", name }
      # A certificate, or a public key with the line that names it: a private key never.
      wanted = file ~ /[.]pub$/ ? "(RSA )?PUBLIC KEY" : "CERTIFICATE"
      within = 0
      while ((got = (getline line < file)) > 0) {
        if (what == "conf") { if (sub(/^ *certificate-authority-data: */, "", line)) print line }
        else if (what == "manifest") { if (sub(/^ *- *--cluster-signing-cert-file=/, "", line)) print "signing", line }
        else {
          if (line ~ ("-BEGIN " wanted "-")) within = 1
          if (within || (file ~ /[.]pub$/ && line ~ /^# [^ ]*$/)) print line
          if (line ~ ("-END " wanted "-")) within = 0
        }
      }
      close(file)
      if (got < 0) { print file " cannot be read" >"/dev/stderr"; exit 1 }
    }
  }' "$@"
  if [ -n "$keys" ]; then
    hashes=$(sha256sum -- $keys)
    set -- $hashes
    while [ $# -gt 1 ]; do
      key=${2#"$pki/"}
      echo "key ${key%.key} $1"
      shift 2
    done
  fi
fi

# shellcheck shell=sh
# Prints the certificates of kubeadm's authorities on this host and what of a rotation lies beside them, which
# authorities its kubeconfigs trust, hashes of the authorities' keys, and with which certificate the controller manager
# was told to sign. The same of the key of service account tokens, which has a public key instead of a certificate.
pki=/etc/kubernetes/pki
pem() { sed -n '/-BEGIN CERTIFICATE-/,/-END CERTIFICATE-/p'; }
if [ -e $pki/ca.crt ] || [ -e $pki/etcd/ca.crt ]; then
  set --
  for name in ca front-proxy-ca etcd/ca; do
    for what in '' -old -new -signing; do
      if [ -e "$pki/$name$what.crt" ]; then
        echo "file $name$what $(stat -c %.3Y "$pki/$name$what.crt")"
        pem <"$pki/$name$what.crt"
      fi
      if [ -e "$pki/$name$what.key" ]; then set -- "$@" "$name$what.key"; fi
    done
  done
  for what in '' -old -new -signing; do
    if [ -e "$pki/sa$what.pub" ]; then
      echo "file sa$what $(stat -c %.3Y "$pki/sa$what.pub")"
      sed -n -e '/^# [^ ]*$/p' -e '/-BEGIN PUBLIC KEY-/,/-END PUBLIC KEY-/p' -e '/-BEGIN RSA PUBLIC KEY-/,/-END RSA PUBLIC KEY-/p' "$pki/sa$what.pub"
    fi
    if [ -e "$pki/sa$what.key" ]; then set -- "$@" "sa$what.key"; fi
  done
  if [ $# -gt 0 ]; then (cd $pki && sha256sum -- "$@") | sed 's/^\([0-9a-f]*\) [ *]\(.*\)[.]key$/key \2 \1/'; fi
  for conf in admin super-admin controller-manager scheduler kubelet; do
    if [ -e "/etc/kubernetes/$conf.conf" ]; then
      echo "conf $conf.conf"
      sed -n 's/^ *certificate-authority-data: *//p' "/etc/kubernetes/$conf.conf" | base64 -d | pem
    fi
  done
  if [ -e /etc/kubernetes/manifests/kube-controller-manager.yaml ]; then
    sed -n 's/^ *- *--cluster-signing-cert-file=/signing /p' /etc/kubernetes/manifests/kube-controller-manager.yaml
  fi
fi

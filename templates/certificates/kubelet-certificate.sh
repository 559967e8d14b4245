# shellcheck shell=sh disable=SC2154  # parameters come from outside
# Gets the kubelet a new client certificate from the cluster with the one that it has, as it does by itself when most of
# its time is over; a job. The kubelet always has a certificate: the new one takes the old one's place whole.
# Parameters: NODE (its name), SERVING (yes: it also asks for a new serving certificate when it starts), REQUEST (how
# the name of the request begins).
umask 077
pki=/var/lib/kubelet/pki
config=/etc/kubernetes/kubelet.conf
if ! command -v openssl >/dev/null; then
  echo 'openssl is not installed on this host, and makes the request: install the package openssl' >&2
  exit 1
fi
if ! grep -q "$pki/kubelet-client-current.pem" $config; then
  echo "$config does not use $pki/kubelet-client-current.pem, which the kubelet renews" >&2
  exit 1
fi
openssl ecparam -name prime256v1 -genkey -noout -out new.key
openssl req -new -key new.key -subj "/O=system:nodes/CN=system:node:$NODE" -out new.csr
name=$REQUEST$(od -An -N6 -tx1 /dev/urandom | tr -d ' \n')
cat >request.json <<END
{"apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest", "metadata": {"name": "$name"},
 "spec": {"signerName": "kubernetes.io/kube-apiserver-client-kubelet", "usages": ["digital signature", "client auth"],
          "request": "$(base64 -w 0 new.csr)"}}
END
kubelet() { env -u HTTPS_PROXY -u https_proxy kubectl --kubeconfig $config --request-timeout 10s "$@"; }
from=$(date +%s)
told=-10
asked=
while :; do
  if [ -z "$asked" ] && kubelet create --validate=false -f request.json >answer 2>&1; then asked=yes; fi
  if [ -n "$asked" ] && kubelet get certificatesigningrequest "$name" -o 'jsonpath={.status.certificate}' >new.b64 2>answer && [ -s new.b64 ]; then break; fi
  waited=$(($(date +%s) - from))
  if [ "$waited" -gt 240 ]; then
    echo "the cluster has not signed the request $name after 240 s: \`kubectl describe csr $name\` says why" >&2
    cat answer >&2
    exit 1
  fi
  if [ "$waited" -ge $((told + 10)) ]; then
    echo "waiting: the cluster signs the request $name ($waited s of at most 240 s)"
    told=$waited
  fi
  sleep 1
done
base64 -d new.b64 >new.crt
if [ "$(openssl x509 -in new.crt -noout -pubkey)" != "$(openssl pkey -in new.key -pubout)" ]; then
  echo "the cluster has signed another key than that of $name" >&2
  exit 1
fi
pair=$pki/kubelet-client-$(date -u +%Y-%m-%d-%H-%M-%S).pem
cat new.crt new.key >new.pem
install -m 0600 -o root -g root -- new.pem "$pair.kbuild-new"
sync -- "$pair.kbuild-new"
mv -f -- "$pair.kbuild-new" "$pair"
ln -sfn -- "$pair" "$pki/kubelet-client-current.pem.kbuild-new"
mv -fT -- "$pki/kubelet-client-current.pem.kbuild-new" "$pki/kubelet-client-current.pem"
sync -- "$pki"
# A kubelet without one asks for it, and serves with the old one, which it has in memory, until then.
if [ -n "$SERVING" ]; then rm -f -- "$pki/kubelet-server-current.pem"; fi
systemctl restart kubelet

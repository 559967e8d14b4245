# shellcheck shell=sh disable=SC2154  # parameters come from outside
# Waits until every kubelet of KUBELETS (lines: NODE ADDRESS) shows, on its port, a certificate that the cluster's
# authority has signed for that address. Fails after 60 s with the answer of the first other one.
ca=/etc/kubernetes/pki/ca.crt
deadline=$(($(date +%s) + 60))
shown() {
  timeout 5 openssl s_client -connect "$1:10250" -CAfile "$ca" -verify_ip "$1" -verify_return_error </dev/null 2>&1
}
echo "$KUBELETS" | while read -r node address; do
  until answer=$(shown "$address"); do
    if [ "$(date +%s)" -ge "$deadline" ]; then
      echo "the kubelet of $node shows no certificate of the cluster at $address:10250: $(
        echo "$answer" | grep -iE 'error|errno|alert' | head -n 3 | tr '\n' ' '
      )" >&2
      exit 1
    fi
    sleep 1
  done
done

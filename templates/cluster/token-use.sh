# shellcheck shell=sh disable=SC2154,SC2086  # parameters come from outside; KUBECTL is several words
# Prints every pod that has a service account token from its kubelet, and every Secret with one, a line each, and `end`.
# Of a token only its header is printed, which says with which key it was signed; `-` if it has none. The rest is a
# secret. Parameters: KUBECTL (words), ALWAYS (yes: not only while the key of service accounts is rotated).
if [ -n "$ALWAYS" ] || [ -e /etc/kubernetes/pki/sa-new.pub ]; then
  tab=$(printf '\t')
  $KUBECTL get pods -A --field-selector status.phase!=Succeeded,status.phase!=Failed \
    -o 'jsonpath={range .items[*]}pod{"\t"}{.metadata.namespace}{"\t"}{.metadata.name}{"\t"}{.status.startTime}{"\t"}{.metadata.ownerReferences[0].kind}{"\t"}{.metadata.ownerReferences[0].name}{"\t"}{.metadata.labels.pod-template-hash}{"\t"}{.spec.volumes[*].projected.sources[*].serviceAccountToken.expirationSeconds}{"\n"}{end}'
  {
    $KUBECTL get secrets -A --field-selector type=kubernetes.io/service-account-token \
      -o 'go-template={{range .items}}{{printf "secret\t%s\t%s\t" .metadata.namespace .metadata.name}}{{with .data}}{{with .token}}{{. | base64decode}}{{end}}{{end}}{{"\n"}}{{end}}' && echo end
  } | sed -n \
    -e "s/^\(secret${tab}[^${tab}]*${tab}[^${tab}]*${tab}[A-Za-z0-9_-]*\)[.].*/\1/p" -e t \
    -e "s/^\(secret${tab}[^${tab}]*${tab}[^${tab}]*${tab}\)..*/\1-/p" -e t \
    -e '/^end$/p'
else
  echo end
fi

# shellcheck shell=sh disable=SC2154,SC2086  # KUBECTL comes from outside and is several words
# While the CA of the cluster is rotated: prints when each namespace got its present CAs, and every pod that reads them,
# one a line.
if [ -e /etc/kubernetes/pki/ca-new.crt ]; then
  $KUBECTL get configmaps -A --field-selector metadata.name=kube-root-ca.crt --show-managed-fields \
    -o 'jsonpath={range .items[*]}given{"\t"}{.metadata.namespace}{"\t"}{.metadata.managedFields[*].time}{"\n"}{end}'
  $KUBECTL get pods -A --field-selector status.phase!=Succeeded,status.phase!=Failed \
    -o 'jsonpath={range .items[*]}pod{"\t"}{.metadata.namespace}{"\t"}{.metadata.name}{"\t"}{.status.startTime}{"\t"}{.metadata.ownerReferences[0].kind}{"\t"}{.metadata.ownerReferences[0].name}{"\t"}{.metadata.labels.pod-template-hash}{"\t"}{.spec.volumes[*].projected.sources[*].configMap.name}{"\n"}{end}'
fi

#!/bin/sh
# Builds Calico's programs and those of its operator, each as a module of its own: what its go.mod names is what its project builds with.
# VERSION: v3.28.5. MODULE: the version of its module, which has no tag that Go takes. API: that of github.com/projectcalico/api,
# which is a folder beside it in the repository. OPERATOR: v1.36.5. OUT: gets a folder for each image, and
# manifests/: the operator's CRDs, and the operator.
set -eu
sources() { # MODULE@VERSION FOLDER
  dir=$(go mod download -json "$1" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')
  cp -r "$dir" "$2"
  chmod -R u+w "$2"
}
# Tests of a long kind may run beside it. Without cgo Felix has a stub for its programs of BPF, which only that dataplane uses.
build() { nice go build -trimpath -ldflags "-s -w $flags" -o "$OUT/$1" "$2"; }

sources "github.com/projectcalico/calico@$MODULE" calico
cd calico
go mod edit -replace "github.com/projectcalico/api=github.com/projectcalico/api@$API"
flags="-X github.com/projectcalico/calico/node/buildinfo.GitVersion=$VERSION -X github.com/projectcalico/calico/typha/pkg/buildinfo.GitVersion=$VERSION"
build node/bin/calico-node ./node/cmd/calico-node
build typha/usr/bin/calico-typha ./typha/cmd/calico-typha
build kube-controllers/usr/bin/kube-controllers ./kube-controllers/cmd/kube-controllers
build kube-controllers/usr/bin/check-status ./kube-controllers/cmd/check-status
build cni/opt/cni/bin/calico ./cni-plugin/cmd/calico
cp "$OUT/cni/opt/cni/bin/calico" "$OUT/cni/opt/cni/bin/calico-ipam"
build cni/opt/cni/bin/install ./cni-plugin/cmd/install
build csi/usr/bin/csi-driver ./pod2daemon/csidriver
build flexvol/usr/local/bin/flexvol ./pod2daemon/flexvol
cd ..

sources "github.com/tigera/operator@$OPERATOR" operator
cd operator
flags="-X github.com/tigera/operator/version.VERSION=$OPERATOR"
build operator/usr/bin/operator .
mkdir -p "$OUT/manifests"
# Those of Calico without Enterprise, as in its project's manifest: of the others the operator concludes that all of them must be there.
crds=pkg/crds/operator/operator.tigera.io
for crd in ${crds}_apiservers*.yaml ${crds}_imagesets*.yaml ${crds}_installations*.yaml ${crds}_tigerastatuses*.yaml pkg/crds/calico/*.yaml; do
  echo ---
  cat "$crd"
done > "$OUT/manifests/operator-crds.yaml"
cd ..
# Its namespace, account, roles and Deployment, without the CRDs of its own version. That of Calico is older than the operator, which so
# gets all rights.
awk 'BEGIN { RS = "\n---\n"; ORS = RS } /kind: CustomResourceDefinition/ { next } { print }' calico/manifests/tigera-operator.yaml |
  sed -E "s,(operator:|value: )v1\.34\.[0-9]+,\1$OPERATOR," > "$OUT/manifests/tigera-operator.yaml"
cat >> "$OUT/manifests/tigera-operator.yaml" <<'Y'
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: tigera-operator-lab}
subjects: [{kind: ServiceAccount, name: tigera-operator, namespace: tigera-operator}]
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
Y

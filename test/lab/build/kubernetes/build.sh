#!/bin/sh
# Builds kubeadm, kubelet, kubectl, hyperkube (API server, controller manager, scheduler, proxy) and agnhost
# from the published k8s.io/kubernetes module. VERSION: v1.36.3. PROGRAMS: which of them. OUT: folder for the programs.
set -eu
# The staging modules are v0.0.0 in the module's own go.mod; they are published as v0.36.3.
staging=v0.${VERSION#v1.}
mod=$(go mod download -json "k8s.io/kubernetes@$VERSION" | sed -n 's/^\t"GoMod": "\(.*\)",$/\1/p')
{
  echo 'module kbuild.lab/kube'
  grep -m1 '^go ' "$mod"
  echo "require k8s.io/kubernetes $VERSION"
  sed -nE 's/^.*(k8s\.io\/[a-z-]+) v0\.0\.0$/\1/p' "$mod" | sort -u | sed "s/.*/replace & => & $staging/"
} > go.mod
go mod tidy

pkg=k8s.io/component-base/version
minor=$(echo "$VERSION" | cut -d. -f2)
flags="-s -w -X $pkg.gitVersion=$VERSION -X $pkg.gitMajor=1 -X $pkg.gitMinor=$minor -X $pkg.gitCommit=lab -X $pkg.gitTreeState=clean -X $pkg.buildDate=2026-01-01T00:00:00Z"
for p in k8s.io/client-go/pkg/version k8s.io/kubectl/pkg/version; do
  flags="$flags -X $p.gitVersion=$VERSION -X $p.gitMajor=1 -X $p.gitMinor=$minor"
done
for p in $PROGRAMS; do
  case $p in
    hyperkube) package=. ;;
    agnhost) package=k8s.io/kubernetes/test/images/agnhost ;;
    *) package=k8s.io/kubernetes/cmd/$p ;;
  esac
  go build -trimpath -tags selinux,notest,grpcnotrace -ldflags "$flags" -o "$OUT/$p" "$package"
done

#!/bin/sh
# Builds the programs of Cilium's agent and operator, as a module of its own: what it names in go.mod and go.sum is what its project builds
# with. VERSION: v1.19.5. OUT: gets root/ (the agent's programs and scripts), operator/, and cilium.tgz (the chart).
set -eu
dir=$(go mod download -json "github.com/cilium/cilium@$VERSION" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')
cp -r "$dir" source
chmod -R u+w source
cd source
version="-X 'github.com/cilium/cilium/pkg/version.ciliumVersion=${VERSION#v} lab linux/amd64'"
# Tests of a long kind may run beside it.
build() { nice go build -trimpath -tags "osusergo${3:-}" -ldflags "-s -w $version" -o "$OUT/$1" "$2"; }
build root/usr/bin/cilium-agent ./daemon
build root/usr/bin/cilium-dbg ./cilium-dbg
build root/usr/bin/cilium-health-responder ./cilium-health/responder
build root/usr/bin/cilium-mount ./tools/mount
build root/usr/bin/cilium-sysctlfix ./tools/sysctlfix
build root/opt/cni/bin/cilium-cni ./plugins/cilium-cni
build operator/usr/bin/cilium-operator-generic ./operator ,ipam_provider_operator
for script in images/cilium/init-container.sh plugins/cilium-cni/install-plugin.sh plugins/cilium-cni/cni-uninstall.sh; do
  install -m 755 "$script" "$OUT/root/"
done
# The agent compiles these on each host.
mkdir -p "$OUT/root/var/lib/cilium"
cp -r bpf "$OUT/root/var/lib/cilium/bpf"
rm -rf "$OUT/root/var/lib/cilium/bpf/tests" "$OUT/root/var/lib/cilium/bpf/complexity-tests"
tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -C install/kubernetes -cz -f "$OUT/cilium.tgz" cilium

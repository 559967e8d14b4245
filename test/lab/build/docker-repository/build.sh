#!/bin/sh
# A repository as Docker has one for Debian 12: docker-ce, docker-ce-cli and containerd.io. Beside it, in cri-dockerd/, the archive of
# cri-dockerd as its project releases it, and sha256sums, which that project does not publish. docker-ce holds lab-runc besides, and no
# docker-init. VERSION: 26.1.5. ADAPTER_VERSION: 0.4.3. ENGINE, ADAPTER: the programs. CONTAINERD: the result of
# containerd-repository/build.sh. KEY, GNUPGHOME: who signs. OUT: root of the repository.
set -eu
WORK=$PWD
pool=dists/bookworm/pool/stable/amd64
binary=dists/bookworm/stable/binary-amd64
mkdir -p "$OUT/$pool" "$OUT/$binary" "$OUT/cri-dockerd"
cp "$CONTAINERD/$pool"/*.deb "$OUT/$pool/"

deb() { # NAME FIELDS... : packs root/NAME
  name=$1 version=$VERSION-1~debian.12~bookworm
  shift
  mkdir -p "root/$name/DEBIAN"
  {
    printf 'Package: %s\nVersion: 5:%s\nArchitecture: amd64\nMaintainer: Docker <support@docker.com>\nSection: admin\nPriority: optional\nHomepage: https://www.docker.com\n' "$name" "$version"
    for field in "$@"; do echo "$field"; done
  } > "root/$name/DEBIAN/control"
  dpkg-deb --root-owner-group -Znone --build "root/$name" "$OUT/$pool/${name}_${version}_amd64.deb"
}
root=root/docker-ce
for p in dockerd docker-proxy; do install -D -m 755 "$ENGINE/$p" "$root/usr/bin/$p"; done
install -D -m 755 lab-runc "$root/usr/libexec/docker/lab-runc"
for unit in docker.service docker.socket; do install -D -m 644 "$unit" "$root/usr/lib/systemd/system/$unit"; done
install -d "$root/DEBIAN"
for s in postinst prerm postrm; do install -m 755 docker-ce.$s "$root/DEBIAN/$s"; done
deb docker-ce 'Depends: containerd.io (>= 1.7.27), docker-ce-cli, iptables, libsystemd0' 'Conflicts: docker.io' 'Replaces: docker.io' \
  'Description: Docker: the open-source application container engine'
install -D -m 755 "$ENGINE/docker" root/docker-ce-cli/usr/bin/docker
deb docker-ce-cli 'Conflicts: docker.io' 'Replaces: docker.io' 'Description: Docker CLI: the open-source application container engine'

mkdir cri-dockerd
install -m 755 "$ADAPTER/cri-dockerd" cri-dockerd/cri-dockerd
archive=cri-dockerd-$ADAPTER_VERSION.amd64.tgz
tar --owner=0 --group=0 -I 'gzip -1' -cf "$OUT/cri-dockerd/$archive" cri-dockerd
(cd "$OUT/cri-dockerd" && sha256sum "$archive" > sha256sums)

cd "$OUT"
. "$WORK/docker-index.sh"

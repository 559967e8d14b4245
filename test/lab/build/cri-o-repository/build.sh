#!/bin/sh
# Repositories as CRI-O's project has them a minor, deb/ and rpm/: cri-o, flat, with a signed index, and what the project does not
# publish there: cri-tools, and Debian's libraries that conmon and crun need. The package holds Debian's conmon, crun and runc instead
# of the static programs of the project's, no conmon-rs, and lab-crun. VERSION: 1.36.1. MINOR: 1.36. CRICTL_VERSION: 1.36.0. CRIO,
# CRICTL: the programs. INGREDIENTS: the result of cri-o-ingredients/build.sh. DEBIAN: that of debian/build.sh, for runc. KEY, GNUPGHOME:
# who signs. OUT: gets deb/ and rpm/.
set -eu
. ./rpm.sh
WORK=$PWD
deb_root=$OUT/deb
mkdir -p "$deb_root/amd64"

deb() { # NAME VERSION FIELDS... : packs root/NAME
  name=$1 version=$2
  shift 2
  mkdir -p "root/$name/DEBIAN"
  {
    printf 'Package: %s\nVersion: %s\nArchitecture: amd64\nMaintainer: Kubernetes Authors <dev@kubernetes.io>\nSection: admin\nPriority: optional\nHomepage: https://kubernetes.io\n' "$name" "$version"
    for field in "$@"; do echo "$field"; done
  } > "root/$name/DEBIAN/control"
  dpkg-deb --root-owner-group -Znone --build "root/$name" "$deb_root/amd64/${name}_${version}_amd64.deb"
}
root=root/cri-o
for p in crio pinns; do install -D -m 755 "$CRIO/$p" "$root/usr/bin/$p"; done
dpkg-deb -x "$DEBIAN"/pool/main/runc_*.deb runc
install -D -m 755 "$INGREDIENTS/root/usr/bin/conmon" "$root/usr/libexec/crio/conmon"
install -m 755 "$INGREDIENTS/root/usr/bin/crun" runc/usr/sbin/runc lab-crun "$root/usr/libexec/crio/"
install -D -m 644 crio.service "$root/usr/lib/systemd/system/crio.service"
install -D -m 644 10-crio.conf "$root/etc/crio/crio.conf.d/10-crio.conf"
install -m 644 "$CRIO/policy.json" "$root/etc/crio/policy.json"
install -D -m 644 registries.conf "$root/etc/containers/registries.conf.d/crio.conf"
install -m 644 "$CRIO/crictl.yaml" "$root/etc/crictl.yaml"
install -D -m 644 "$CRIO/10-crio-bridge.conflist" "$root/etc/cni/net.d/10-crio-bridge.conflist.disabled"
install -D -m 755 "$CRICTL/crictl" root/cri-tools/usr/bin/crictl

# The libraries of a minimal Rocky are Debian's in the lab: glib2 and yajl are not among them.
for library in glib2:libglib-2.0.so.0 yajl:libyajl.so.2; do
  mkdir -p "root/${library%%:*}/usr/lib/x86_64-linux-gnu"
  find "$INGREDIENTS/root" -name "${library#*:}*" -exec cp -P {} "root/${library%%:*}/usr/lib/x86_64-linux-gnu/" \;
  rpm_of "${library%%:*}" 2.0 1 x86_64 "$OUT/rpm/x86_64" < /dev/null
done
rpm_of cri-tools "$CRICTL_VERSION" 1.1 x86_64 "$OUT/rpm/x86_64" < /dev/null
{
  printf 'Requires: iptables\nRequires: glib2\nRequires: yajl\nRecommends: kubernetes-cni\n'
  service_scripts crio.service
} | rpm_of cri-o "$VERSION" 1.1 x86_64 "$OUT/rpm/x86_64"
rpm_repository "$OUT/rpm"

install -d "$root/var/lib/crio" "$root/DEBIAN"
# As in the project's packages: an upgrade overwrites 10-crio.conf and policy.json.
printf '%s\n' /etc/containers/registries.conf.d/crio.conf /etc/crictl.yaml > "$root/DEBIAN/conffiles"
for s in postinst prerm postrm; do install -m 755 cri-o.$s "$root/DEBIAN/$s"; done

deb cri-o "$VERSION-1.1" 'Depends: iptables, libglib2.0-0, libseccomp2, libyajl2' 'Recommends: kubernetes-cni' \
  "Description: Open Container Initiative-based implementation of Kubernetes Container Runtime Interface"
deb cri-tools "$CRICTL_VERSION-1.1" 'Description: Command-line utility for interacting with a container runtime'
cp "$INGREDIENTS"/archives/libyajl2_*.deb "$deb_root/amd64/"

cd "$deb_root"
apt-ftparchive packages . > Packages
gzip -kn Packages
label=isv:cri-o:stable:v$MINOR
apt-ftparchive -o "APT::FTPArchive::Release::Origin=obs://build.opensuse.org/$label/deb" -o "APT::FTPArchive::Release::Label=$label" \
  -o APT::FTPArchive::Release::Architectures=amd64 release . > "$WORK/Release.lab"
mv "$WORK/Release.lab" Release
gpg --batch --local-user "$KEY" --clearsign -o InRelease Release
gpg --batch --local-user "$KEY" --armor --detach-sign -o Release.gpg Release
gpg --batch --armor --export "$KEY" > Release.key

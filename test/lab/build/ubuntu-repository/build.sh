#!/bin/sh
# An Ubuntu's archive, of Debian's packages, and Docker's repository for it. CODENAME, VERSION: noble, 24.04.3. DEBS: what its tree has
# over Debian's. DEBIAN: Debian 12's archive, where the tree is Debian 12's. CONTAINERD: Docker's repository for Debian 12.
# ARCHIVE_KEY, KEY, GNUPGHOME: who signs the archive, and Docker's. OUT: gets ubuntu/ and docker/.
set -eu
WORK=$PWD
mkdir -p "$OUT/ubuntu/pool/main" "$OUT/ubuntu/pool/security"
cp -l "$DEBS"/*.deb "$OUT/ubuntu/pool/main/"
if [ -n "${DEBIAN:-}" ]; then cp -ln "$DEBIAN"/pool/main/*.deb "$OUT/ubuntu/pool/main/"; fi
# A security update for unattended-upgrades, which takes as long as a test wants.
dpkg-deb -R "$DEBS"/distro-info-data_*.deb update
sed -i 's/^Version: .*/&+ubuntu1/' update/DEBIAN/control
printf '#!/bin/sh\n[ ! -x /usr/local/sbin/lab-during-upgrade ] || exec /usr/local/sbin/lab-during-upgrade\n' > update/DEBIAN/postinst
chmod 755 update/DEBIAN/postinst
dpkg-deb --root-owner-group -Znone --build update "$OUT/ubuntu/pool/security" > /dev/null

cd "$OUT/ubuntu"
suite() { # SUITE POOL: of its component main; the others are empty
  for component in main restricted universe multiverse; do
    folder=dists/$1/$component/binary-amd64
    mkdir -p "$folder"
    if [ "$component" = main ] && [ -n "$2" ]; then apt-ftparchive packages "$2" > "$folder/Packages"; else : > "$folder/Packages"; fi
    gzip -kn "$folder/Packages"
  done
  apt-ftparchive -o APT::FTPArchive::Release::Origin=Ubuntu -o APT::FTPArchive::Release::Label=Ubuntu \
    -o APT::FTPArchive::Release::Suite="$1" -o APT::FTPArchive::Release::Codename="$CODENAME" \
    -o APT::FTPArchive::Release::Architectures=amd64 \
    -o 'APT::FTPArchive::Release::Components=main restricted universe multiverse' release "dists/$1" > Release
  mv Release "dists/$1/Release"
  gpg --batch --local-user "$ARCHIVE_KEY" --clearsign -o "dists/$1/InRelease" "dists/$1/Release"
}
suite "$CODENAME" pool/main
suite "$CODENAME-updates" ''
suite "$CODENAME-backports" ''
suite "$CODENAME-security" pool/security
gpg --batch --export "$ARCHIVE_KEY" > "$OUT/ubuntu-archive-keyring.gpg"

# Docker's versions name the system.
pool=dists/$CODENAME/pool/stable/amd64
binary=dists/$CODENAME/stable/binary-amd64
mkdir -p "$OUT/docker/linux/ubuntu/$pool" "$OUT/docker/linux/ubuntu/$binary"
cd "$WORK"
dpkg-deb -R "$CONTAINERD"/dists/bookworm/pool/stable/amd64/containerd.io_*.deb containerd
sed -i "s/^Version: .*/&~ubuntu.$(echo "$VERSION" | cut -d. -f1,2)~$CODENAME/" containerd/DEBIAN/control
dpkg-deb --root-owner-group -Znone --build containerd "$OUT/docker/linux/ubuntu/$pool" > /dev/null
sed "s/bookworm/$CODENAME/g" docker-index.sh > index.sh
cd "$OUT/docker/linux/ubuntu"
. "$WORK/index.sh"

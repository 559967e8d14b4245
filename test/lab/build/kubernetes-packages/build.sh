#!/bin/sh
# The packages of one Kubernetes version from a site laid out as pkgs.k8s.io, in a repository of the lab's own: its hosts are offline.
# PACKAGES_BASE: the site, https://pkgs.k8s.io/core:/stable:. FINGERPRINT: of the key that signs there. VERSION: 1.36.3. MINOR: 1.36.
# PACKAGES: what to take beside kubeadm, kubelet and kubectl, each in its newest version. KEY, GNUPGHOME: who signs. OUT: root of the repository.
set -eu
WORK=$PWD
url=$PACKAGES_BASE/v$MINOR/deb
get() { curl -fsSL --retry 3 -o "$2" "$url/$1"; }
verified() { # FILE SHA256
  echo "$2  $1" | sha256sum --check --quiet
}

# Only the pinned key is taken out of what the site calls its key.
get Release.key published.key
mkdir -m 700 site
gpg --homedir site --batch --quiet --import published.key
gpg --homedir site --batch --export "$FINGERPRINT" > key.gpg
gpgconf --homedir site --kill all
[ -s key.gpg ] || { echo "$url/Release.key is not the key $FINGERPRINT"; exit 1; }
get InRelease InRelease
gpgv --quiet --keyring "$WORK/key.gpg" --output Release InRelease
get Packages Packages
verified Packages "$(awk '/^[A-Za-z0-9]/ { inside = $1 == "SHA256:" } inside && $3 == "Packages" { print $1; exit }' Release)"

take() { # NAME VERSION-PREFIX : the newest package of that name
  line=$(awk -v name="$1" -v prefix="$2" 'BEGIN { RS = ""; FS = "\n" } {
    split("", f)
    for (i = 1; i <= NF; i++) { at = index($i, ": "); f[substr($i, 1, at - 1)] = substr($i, at + 2) }
    if (f["Package"] == name && (f["Architecture"] == "amd64") && index(f["Version"], prefix) == 1) print f["Version"], f["SHA256"], f["Filename"]
  }' Packages | sort -V | tail -n 1)
  [ -n "$line" ] || { echo "$url has no package $1 $2"; exit 1; }
  # shellcheck disable=SC2086
  set -- $line
  get "$3" "$OUT/amd64/${3##*/}"
  verified "$OUT/amd64/${3##*/}" "$2"
}
mkdir -p "$OUT/amd64"
for p in kubeadm kubectl kubelet; do take "$p" "$VERSION-"; done
for p in $PACKAGES; do take "$p" ''; done

cd "$OUT"
. "$WORK/kubernetes-index.sh"

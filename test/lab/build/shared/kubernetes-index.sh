# The signed index of a repository as pkgs.k8s.io has one a minor; sourced in its root. MINOR: 1.36. KEY, GNUPGHOME: who signs.
# WORK: a folder for what is not published.
apt-ftparchive packages . > Packages
gzip -kn Packages
label=isv:kubernetes:core:stable:v$MINOR
# Written elsewhere first: the index names the files that are there.
apt-ftparchive -o "APT::FTPArchive::Release::Origin=obs://build.opensuse.org/$label/deb" -o "APT::FTPArchive::Release::Label=$label" \
  -o APT::FTPArchive::Release::Architectures=amd64 release . > "$WORK/Release.lab"
mv "$WORK/Release.lab" Release
gpg --batch --local-user "$KEY" --clearsign -o InRelease Release
gpg --batch --local-user "$KEY" --armor --detach-sign -o Release.gpg Release
gpg --batch --armor --export "$KEY" > Release.key

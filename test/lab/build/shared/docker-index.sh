# The signed index of a repository as Docker has one for Debian 12; sourced in its root. pool, binary: its folders of packages and of the
# index. KEY, GNUPGHOME: who signs.
apt-ftparchive packages $pool > $binary/Packages
gzip -kn $binary/Packages
apt-ftparchive -o APT::FTPArchive::Release::Origin=Docker -o 'APT::FTPArchive::Release::Label=Docker CE' \
  -o APT::FTPArchive::Release::Suite=bookworm -o APT::FTPArchive::Release::Codename=bookworm \
  -o APT::FTPArchive::Release::Architectures=amd64 -o APT::FTPArchive::Release::Components=stable \
  release dists/bookworm > Release
mv Release dists/bookworm/Release
gpg --batch --local-user "$KEY" --clearsign -o dists/bookworm/InRelease dists/bookworm/Release
gpg --batch --armor --export "$KEY" > gpg

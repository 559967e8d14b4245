# shellcheck shell=sh
# Functions for the recipes of rpm repositories. KEY, GNUPGHOME: who signs.
export HOME="$PWD" # rpm's settings and build folder
# Not compressed: the wire is this machine's memory, and unpacking is what a test waits for.
cat > .rpmmacros <<M
%_topdir $PWD/rpmbuild
%_binary_payload w.ufdio
%_build_id_links none
%__os_install_post %{nil}
%_gpg_name $KEY
%_gpg_path $GNUPGHOME
%__gpg /usr/bin/gpg
%_gpg_digest_algo sha256
M

# Packs root/NAME, which may be absent: a package without files, whose programs the tree has already. Files below /etc are settings.
# More lines of the preamble, and scripts, come from stdin.
rpm_of() { # NAME VERSION RELEASE ARCH FOLDER
  mkdir -p "root/$1" "$5" rpmbuild
  cat > more
  {
    printf 'Name: %s\nVersion: %s\nRelease: %s\nSummary: %s of the lab\nLicense: Apache-2.0\nAutoReqProv: no\n' "$1" "$2" "$3" "$1"
    sed '/^%/,$d' more
    printf '%%description\nOf the lab.\n'
    sed -n '/^%/,$p' more
    printf '%%install\ncp -a %s/root/%s/. %%{buildroot}/\n%%files\n' "$PWD" "$1"
    (cd "root/$1" && find . -mindepth 1 ! -type d -printf '/%P\n' | sort | sed 's#^/etc/#%config(noreplace) /etc/#')
  } > "$1.spec"
  rpmbuild --quiet --target "$4" -bb "$1.spec"
  mv rpmbuild/RPMS/"$4/$1-$2-$3.$4.rpm" "$5/"
}

# Signs the packages of a folder and makes its index, signed too.
rpm_repository() { # FOLDER
  find "$1" -name "*.rpm" -exec rpmsign --addsign {} + > /dev/null
  createrepo_c --quiet "$1"
  gpg --batch --local-user "$KEY" --armor --detach-sign "$1/repodata/repomd.xml"
  gpg --batch --armor --export "$KEY" > "$1/repodata/repomd.xml.key"
}

# A service's scripts, as systemd's macros make them: rpm enables and starts nothing.
service_scripts() { # UNIT
  cat <<S
%post
[ ! -d /run/systemd/system ] || systemctl daemon-reload
%preun
if [ \$1 -eq 0 ] && [ -d /run/systemd/system ]; then systemctl --no-reload disable --now $1 || :; fi
%postun
if [ -d /run/systemd/system ]; then
  systemctl daemon-reload
  [ \$1 -eq 0 ] || systemctl try-restart $1 || :
fi
S
}

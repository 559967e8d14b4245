#!/bin/sh
# The storage of a registry with the images of upstream's conformance specifications that the lab has not already. DEBIAN_TREE, PROGRAMS, AGNHOST,
# TOOLS: other artifacts. AGNHOST_TAGS, BUSYBOX_TAG, …: what the suite of that version asks for. OUT: root of the registry.
set -eu
. ./registry.sh
TREE=$DEBIAN_TREE/tree
. ./image-tools.sh
. ./oci.sh
LAYOUT=$PWD/layout
mkdir -p layers "$LAYOUT/blobs/sha256"
echo '{"imageLayoutVersion":"1.0.0"}' > "$LAYOUT/oci-layout"
put() { install -D -m 755 "$1" "$2"; }

# All of busybox, not linked statically: its name service is that of glibc. `sh` is bash: Debian's busybox 1.35 hands no variable on whose name
# is none of a shell's (`data-1`), which four specifications want.
mkdir -p layers/shell/tmp layers/shell/etc layers/shell/bin
chmod 1777 layers/shell/tmp
with_libraries layers/shell /bin/busybox /usr/bin/getent /usr/bin/bash
ln -s ../usr/bin/bash layers/shell/bin/sh
for p in $(chroot "$TREE" /bin/busybox --list); do [ -e "layers/shell/bin/$p" ] || ln -s busybox "layers/shell/bin/$p"; done
printf 'root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\nuser-defined-in-image:x:1000:1000::/:/bin/sh\n' > layers/shell/etc/passwd
printf 'root:x:0:\nnogroup:x:65534:\nuser-defined-in-image:x:1000:\n' > layers/shell/etc/group
printf 'hosts: files dns\n' > layers/shell/etc/nsswitch.conf

mkdir -p layers/network
with_libraries layers/network /usr/bin/dig /usr/bin/curl
put "$TREE/usr/bin/nc.openbsd" layers/network/usr/local/bin/nc
with_libraries layers/network /usr/bin/nc.openbsd

put "$AGNHOST/agnhost" layers/agnhost/agnhost
ln -s agnhost layers/agnhost/agnhost-2
mkdir layers/agnhost/uploads
cp "$PROGRAMS"/agnhost/localhost.* layers/agnhost/

for p in kitten nautilus; do
  mkdir "layers/$p"
  cp "$PROGRAMS/$p"/* "layers/$p/"
done
# What the specification of image volumes reads of kitten's base.
mkdir layers/kitten/etc
echo 'NAME="Alpine Linux"' > layers/kitten/etc/os-release
put "$PROGRAMS/sample-apiserver" layers/sample-apiserver/sample-apiserver
put "$PROGRAMS/nonewprivs" layers/nonewprivs/usr/local/bin/nnp
chmod 4755 layers/nonewprivs/usr/local/bin/nnp

mkdir -p layers/nginx/var/log/nginx layers/nginx/var/lib/nginx layers/nginx/run layers/nginx/etc/nginx layers/nginx/usr/share/nginx/html
with_libraries layers/nginx /usr/sbin/nginx
printf '<html><body><h1>It works! nginx</h1></body></html>\n' > layers/nginx/usr/share/nginx/html/index.html
cat > layers/nginx/etc/nginx/nginx.conf <<'C'
user root;
daemon off;
error_log /dev/stderr;
events {}
http {
  access_log /dev/stdout;
  server {
    listen 80;
    root /usr/share/nginx/html;
  }
}
C

# The shared script writes an entry point alone: its arguments and the user go behind it.
with() { printf '%s"],"Cmd":["%s' "$1" "$2"; }
tests=e2e-test-images
for tag in $AGNHOST_TAGS; do image "$tests/agnhost:$tag" "$(with /agnhost pause)" agnhost shell network; done
for p in kitten nautilus; do image "$tests/$p:$UPDATE_DEMO_TAG" "$(with /agnhost test-webserver)" agnhost shell "$p"; done
# `env` starts what a pod gives as arguments alone, as an image without an entry point does.
image "$tests/busybox:$BUSYBOX_TAG" "$(with /bin/env sh)" shell
image "$tests/nonroot:$NONROOT_TAG" "/bin/env\"],\"User\":\"1234\",\"Cmd\":[\"sh" shell
image "$tests/nonewprivs:$NONEWPRIVS_TAG" "$(with /bin/env nnp)" shell nonewprivs
image "$tests/glibc-dns-testing:$DNS_TAG" "$(with /bin/env sh)" shell network
for tag in $NGINX_TAGS; do image "$tests/nginx:$tag" "$(with /bin/env nginx)" shell nginx; done
image "$tests/sample-apiserver:$APISERVER_TAG" /sample-apiserver sample-apiserver shell

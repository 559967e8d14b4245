# shellcheck shell=sh
# Copies the images from where users get them. KUBERNETES_IMAGES, FLANNEL_IMAGES: names and tags. KUBERNETES_BASE, FLANNEL_BASE: URLs of
# the registries. CHECKSUMS: a file of "SHA256  NAME:TAG" lines, of the manifests for amd64, or empty.
copy() { # BASE NAME:TAG
  tls=true
  case $1 in http://*) tls=false ;; esac
  echo "$2"
  skopeo --insecure-policy --override-os linux --override-arch amd64 copy --quiet --preserve-digests --retry-times 3 \
    --src-tls-verify=$tls --dest-tls-verify=false "docker://${1#*://}/$2" "docker://$REGISTRY/$2"
  [ -n "$CHECKSUMS" ] || return 0
  sum=$(awk -v name="$2" '$2 == name { print $1 }' "$CHECKSUMS")
  [ -n "$sum" ] || { echo "no checksum for $2"; exit 1; }
  skopeo inspect --raw --tls-verify=false "docker://$REGISTRY/$2" > manifest
  echo "$sum  manifest" | sha256sum --check --quiet || { echo "$2 is not what its checksum says"; exit 1; }
}
for i in $KUBERNETES_IMAGES; do copy "$KUBERNETES_BASE" "$i"; done
for i in $FLANNEL_IMAGES; do copy "$FLANNEL_BASE" "$i"; done

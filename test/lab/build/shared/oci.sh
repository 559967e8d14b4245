# shellcheck shell=sh
# Writes images into an OCI layout by hand: no container runtime is needed to make one.

digest() { sha256sum "$1" | cut -d' ' -f1; }

blob() { # FILE : moves it into the layout, prints "DIGEST SIZE"
  d=$(digest "$1")
  s=$(stat -c %s "$1")
  mv "$1" "$LAYOUT/blobs/sha256/$d"
  echo "$d $s"
}

layer() { # NAME : packs layers/NAME; the same files give the same digest
  [ ! -e "layers/$1.blob" ] || return 0
  tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -C "layers/$1" -cf layer.tar .
  blob layer.tar > "layers/$1.blob"
}

image() { # REPOSITORY:TAG ENTRYPOINT LAYER...
  ref=$1 entrypoint=$2 diffs='' list=''
  shift 2
  for name in "$@"; do
    layer "$name"
    read -r d s < "layers/$name.blob"
    diffs="$diffs${diffs:+,}\"sha256:$d\""
    # Not compressed: a host's time is worth more than the disk of the registry.
    list="$list${list:+,}{\"mediaType\":\"application/vnd.oci.image.layer.v1.tar\",\"digest\":\"sha256:$d\",\"size\":$s}"
  done
  printf '{"architecture":"amd64","os":"linux","config":{"Entrypoint":["%s"],"Env":["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"]},"rootfs":{"type":"layers","diff_ids":[%s]}}' \
    "$entrypoint" "$diffs" > config.json
  config=$(blob config.json)
  printf '{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","config":{"mediaType":"application/vnd.oci.image.config.v1+json","digest":"sha256:%s","size":%s},"layers":[%s]}' \
    "${config% *}" "${config#* }" "$list" > manifest.json
  manifest=$(blob manifest.json)
  printf '{"schemaVersion":2,"manifests":[{"mediaType":"application/vnd.oci.image.manifest.v1+json","digest":"sha256:%s","size":%s}]}' \
    "${manifest% *}" "${manifest#* }" > "$LAYOUT/index.json"
  echo "$ref"
  skopeo --insecure-policy copy --quiet --preserve-digests --dest-tls-verify=false "oci:$LAYOUT" "docker://$REGISTRY/$ref"
}

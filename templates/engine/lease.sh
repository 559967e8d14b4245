# The lock of a whole cluster: the Lease kbuild in kube-system. ACTION: take (also renews), free, show, force (frees
# that of any run). ADMIN: kubeconfigs, by colons; the first that is there counts. SERVER: API server. HOLDER: who takes
# it; QUOTED: the same as a JSON string. SECONDS_HELD is written into it. STALE: a version of another run's Lease that
# may be replaced. Prints `locked`; or `held` with version and holder; or nothing. Its time is only for operators: the
# clocks of hosts differ.
kube() {
  env -u HTTPS_PROXY -u https_proxy KUBECONFIG="$ADMIN" kubectl --server "$SERVER" --request-timeout=10s -n kube-system "$@"
}
found=$(kube get lease kbuild --ignore-not-found \
  -o jsonpath='{.metadata.resourceVersion} {.spec.holderIdentity}')
version=${found%% *}
holder=${found#* }
if [ -z "$found" ]; then version='' holder=''; fi

case $ACTION in
  show)
    if [ -n "$holder" ]; then echo "held $holder"; fi
    exit 0
    ;;
  force)
    if [ -n "$version" ]; then kube delete lease kbuild --wait=false >/dev/null; fi
    exit 0
    ;;
  free)
    if [ "$holder" = "$HOLDER" ]; then kube delete lease kbuild --wait=false >/dev/null; fi
    exit 0
    ;;
esac

if [ -n "$holder" ] && [ "$holder" != "$HOLDER" ] && [ "$version" != "$STALE" ]; then
  echo "held $version $holder"
  exit 0
fi
if [ -n "$version" ]; then verb=replace line="\"resourceVersion\":\"$version\","; else verb=create line=''; fi
# Six digits, as the API wants them: uutils had no %6N at first.
now=$(date -u +%Y-%m-%dT%H:%M:%S.%N | cut -c 1-26)Z
# The API server refuses the second run: its version is old, or the object exists already.
if printf '{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{%s"name":"kbuild","namespace":"kube-system"},"spec":{"holderIdentity":%s,"leaseDurationSeconds":%s,"renewTime":"%s"}}\n' \
  "$line" "$QUOTED" "$SECONDS_HELD" "$now" | kube "$verb" --validate=ignore -f - >/dev/null 2>/run/kbuild/lease.errors; then
  echo locked
elif grep -q -e AlreadyExists -e Conflict -e 'object has been modified' /run/kbuild/lease.errors; then
  echo 'held unknown by another run, which takes it just now'
else
  cat /run/kbuild/lease.errors >&2
  exit 1
fi

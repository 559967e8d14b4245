# shellcheck shell=sh disable=SC2154  # parameters come from outside
# Prints what each endpoint in URLS (with spaces between; none: `not asked`) answers to the API server's certificate:
# version, health and the number of keys in RANGE (JSON), or an error. CA, CERTIFICATE, KEY: paths.
if [ -z "$URLS" ] || [ -e /etc/kubernetes/kubelet.conf ] || [ ! -e "$KEY" ] || ! command -v curl >/dev/null; then
  echo 'not asked'
  URLS=
fi
ask() { curl -sS --noproxy '*' --max-time 4 --cacert "$CA" --cert "$CERTIFICATE" --key "$KEY" "$@" 2>&1; }
# `echo` of Debian's shell interprets backslashes.
line() {
  printf %s "$*"
  echo
}
for url in $URLS; do
  echo "endpoint $url"
  if answer=$(ask "$url/version"); then
    line "version $answer"
    line "health $(ask "$url/health" || true)"
    line "keys $(ask "$url/v3/kv/range" -d "$RANGE" || true)"
  else line "error $answer"; fi
done

# Asks a pod's web server for its name by way of kubectl port-forward.
# KUBECTL (words, with the namespace), POD, PORT
said=$(mktemp -p /run)
# shellcheck disable=SC2086
$KUBECTL --request-timeout=0 port-forward "pod/$POD" ":$PORT" >"$said" 2>&1 &
forward=$!
trap 'kill "$forward" 2>/dev/null; rm -f "$said"' EXIT
tries=0
until port=$(sed -n 's/^Forwarding from 127\.0\.0\.1:\([0-9]*\) .*/\1/p' "$said") && [ -n "$port" ]; do
  tries=$((tries + 1))
  if [ "$tries" -gt 100 ] || ! kill -0 "$forward" 2>/dev/null; then
    cat "$said" >&2
    exit 1
  fi
  sleep 0.1
done
env -u KUBECONFIG kubectl --kubeconfig /dev/null --server "http://127.0.0.1:$port" --request-timeout=10s get --raw /hostname

# shellcheck shell=sh
# Starts a registry of our own for the time of the build, at a free port of the loopback. Sets REGISTRY to its address.
for port in 5731 5732 5733 5734 5735; do
  REGISTRY=127.0.0.1:$port
  printf 'version: 0.1\nstorage: {filesystem: {rootdirectory: %s}}\nhttp: {addr: "%s"}\nlog: {level: error, accesslog: {disabled: true}}\n' "$OUT" "$REGISTRY" > registry.yml
  "$TOOLS/docker-registry" serve registry.yml > registry.log 2>&1 &
  registry=$!
  for _ in 1 2 3 4 5 6 7 8 9 10; do
    sleep 0.2
    kill -0 $registry 2>/dev/null || break
    ! curl -fsS --noproxy '*' -o /dev/null "http://$REGISTRY/v2/" 2>/dev/null || break 2
  done
  kill $registry 2>/dev/null || true
done
trap 'kill $registry 2>/dev/null || true' EXIT

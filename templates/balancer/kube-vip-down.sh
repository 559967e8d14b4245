# shellcheck shell=sh disable=SC2154  # parameters come from outside
# Stops kube-vip on this host. MANIFEST: its static pod. ADDRESS: the virtual address, with its mask. PORT: the API's.
# TAKEN_OVER=yes: return when another control plane serves the address. When the manifest is gone, the kubelet ends the
# pod softly, and kube-vip releases its lease and the address. A kube-vip that is killed leaves the address on the
# interface (https://github.com/kube-vip/kube-vip/issues/996): then it is deleted here.
held() { ip -o addr show to "$ADDRESS" | awk -v held="$ADDRESS" '$4 == held { print $2 }'; }
# until_deadline SECONDS COMMAND...: waits until the command succeeds. Status 1: it did not succeed within that time.
until_deadline() {
  deadline=$(($(date +%s) + $1))
  shift
  until "$@"; do
    if [ "$(date +%s)" -ge "$deadline" ]; then return 1; fi
    sleep 0.2
  done
}
is_released() { [ -z "$(held)" ]; }
is_served() { timeout 2 bash -c 'exec 3<>"/dev/tcp/$0/$1"' "${ADDRESS%/*}" "$PORT" 2>/dev/null; }

had=$(held)
rm -f -- "$MANIFEST"
# A pod has 30 s to end, and the kubelet may take a moment to notice that the file is gone.
if [ -n "$had" ] && systemctl -q is-active kubelet; then until_deadline 45 is_released || true; fi
for interface in $(held); do ip addr del "$ADDRESS" dev "$interface"; done
# kube-vip of another host must get the lease first. Until then no client reaches the API at the address. A later step
# that needs the API reports that.
if [ -n "$had" ] && [ "$TAKEN_OVER" = yes ]; then
  until_deadline 60 is_served || echo "no other control plane has taken ${ADDRESS%/*} over within 60 s"
fi

# Prints the last words of what kbuild builds on a host: LINES lines of the kubelet's journal, and of each control-plane
# container that has ended. Reads only; what is not there says nothing.
echo "== kubelet"
timeout 10 journalctl -u kubelet -n "$LINES" --no-pager -o cat 2>/dev/null || :
if command -v crictl >/dev/null; then
  cri() { timeout 10 crictl --runtime-endpoint unix:///run/containerd/containerd.sock "$@" 2>/dev/null; }
  for name in etcd kube-apiserver kube-controller-manager kube-scheduler; do
    id=$(cri ps -a -q --state Exited --name "^$name\$" | head -n 1) || id=
    if [ -n "$id" ]; then
      echo "== $name (container $(printf %.12s "$id"), ended)"
      cri logs --tail "$LINES" "$id" 2>&1 || :
    fi
  done
fi

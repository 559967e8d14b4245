# shellcheck shell=sh disable=SC2154  # parameters come from outside
# Moves a drained host from one container runtime to another one that answers already: the kubelet stops, its pods end
# and are removed, the kubelet is given the other socket, and starts. Only pods of CRI are touched: containers of other
# programs, images and data stay. Parameters: FROM, TO (CRI endpoints), UNITS (of the runtime FROM, one a line).
cri() { timeout -k 1 90 crictl -t 60s -r "$FROM" "$@"; }
if ! command -v crictl >/dev/null; then
  echo "there is no crictl on this host: install the package cri-tools" >&2
  exit 1
fi
if ! timeout -k 1 60 crictl -t 30s -r "$TO" version >/dev/null; then
  echo "the new runtime does not answer at $TO" >&2
  exit 1
fi
# shellcheck disable=SC2086  # several units
systemctl start $UNITS
if ! cri version >/dev/null; then
  echo "the present runtime does not answer at $FROM, so its pods cannot be ended: mend" \
    "$(echo "$UNITS" | head -n 1) first" >&2
  exit 1
fi
files=
# The kubelet reads the first; kubeadm the second, whenever it writes the first anew. The flag of the third would win
# over both.
for file in /var/lib/kubelet/config.yaml /var/lib/kubelet/instance-config.yaml /var/lib/kubelet/kubeadm-flags.env; do
  if grep -qsE -e '^containerRuntimeEndpoint: *"?[^" ]' -e '--container-runtime-endpoint=' "$file"; then files="$files $file"; fi
done
if [ -z "$files" ]; then
  echo "no file of kubeadm in /var/lib/kubelet names the container runtime" >&2
  exit 1
fi

# Start the kubelet however the job ends: without it the host starts no pod.
trap 'systemctl start kubelet' EXIT
systemctl stop kubelet

# Ends the pods $1 and removes them, their network too. A container has 30 s to end.
end_pods() {
  for pod in $1; do
    for id in $(cri ps -q --pod "$pod"); do { cri stop -t 30 "$id" >/dev/null 2>&1 || true; } & done
  done
  wait
  for pod in $1; do
    cri stopp "$pod" >/dev/null || true
    cri rmp -f "$pod" >/dev/null || true
  done
}
# The control plane ends last: some network plugins need it to remove a pod from the network.
last=$(cri pods -q --label tier=control-plane)
first=
for pod in $(cri pods -q); do
  case " $(echo "$last" | tr '\n' ' ') " in *" $pod "*) ;; *) first="$first $pod" ;; esac
done
end_pods "$first"
end_pods "$last"
ids=$(cri ps -q)
pods=$(cri pods -q --state Ready)
if [ -n "$ids$pods" ]; then
  echo "containers of Kubernetes still run: $(echo "$ids" "$pods" | tr '\n' ' ')" >&2
  exit 1
fi

for file in $files; do
  sed -E -e "s#^(containerRuntimeEndpoint: *).*#\1$TO#" -e "s#(--container-runtime-endpoint=)[^\" ]*#\1$TO#" "$file" >"$file.new"
  sync "$file.new"
  chmod --reference="$file" "$file.new"
  mv "$file.new" "$file"
done
# The operator's crictl: a package may have brought it.
if grep -qs "endpoint: *\"\{0,1\}$FROM" /etc/crictl.yaml; then
  sed "s#\(endpoint: *\"\{0,1\}\)$FROM#\1$TO#" /etc/crictl.yaml >/etc/crictl.yaml.new
  sync /etc/crictl.yaml.new
  mv /etc/crictl.yaml.new /etc/crictl.yaml
fi

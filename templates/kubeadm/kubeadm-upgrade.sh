# shellcheck shell=sh disable=SC2154,SC2086  # parameters come from outside; KUBECTL is several words
# given: kubeadm-job
# kubeadm's upgrade of this host, as a job. Parameters: HOW (apply: also writes the version into the cluster; node),
# ROLE, VERSION (without v), CLUSTER, MARKER (a path), KUBERNETES (/etc/kubernetes), KUBELET (/var/lib/kubelet), KEPT
# (backups of each kind that stay), KUBECTL (words; empty on a worker), HTTP_PROXY_URL, HTTPS_PROXY_URL, NO_PROXY_LIST
# (empty: none). config.yaml lies in the working directory. The marker explains an upgrade that was cut off, with its
# version and HOW: it is continued as it was begun, and nothing is ever undone because of it.
if [ -n "$HTTP_PROXY_URL$HTTPS_PROXY_URL" ]; then
  export HTTP_PROXY="$HTTP_PROXY_URL" HTTPS_PROXY="$HTTPS_PROXY_URL" NO_PROXY="$NO_PROXY_LIST"
fi
manifests=$KUBERNETES/manifests
backups=$KUBERNETES/tmp

# A component's port: that of its manifest, or its default.
port() {
  found=$(sed -n "s/^ *- --secure-port=//p" "$manifests/$1.yaml" 2>/dev/null | tail -n 1)
  echo "${found:-$2}"
}

# Asks a component of this host. Controller manager and scheduler serve with a certificate that they signed themselves.
healthy() { $KUBECTL --server "https://127.0.0.1:$1" --insecure-skip-tls-verify get --raw "$2" --request-timeout 5s 2>&1; }

# Prints the components that do not answer well, one a line; nothing when all do.
wrong() {
  found=$($KUBECTL get --raw /version --request-timeout 5s 2>&1) || :
  case $found in
    *"\"gitVersion\": \"v$VERSION\""*) $KUBECTL get --raw /readyz --request-timeout 5s >ready 2>&1 || echo "kube-apiserver: $(tail -n 1 ready)" ;;
    *) echo "kube-apiserver: does not answer with v$VERSION" ;;
  esac
  answer=$(healthy "$(port kube-controller-manager 10257)" /healthz) || echo "kube-controller-manager: $(echo "$answer" | tail -n 1)"
  answer=$(healthy "$(port kube-scheduler 10259)" /livez) || echo "kube-scheduler: $(echo "$answer" | tail -n 1)"
}

# kubeadm calls a component upgraded whose container starts and dies, so each is probed at its own port.
verify() {
  from=$(date +%s)
  told=-10
  while wrong >wrong 2>/dev/null || :; [ -s wrong ]; do
    waited=$(($(date +%s) - from))
    if [ "$waited" -gt 240 ]; then
      echo "kubeadm has upgraded this control plane to $VERSION, and after 240 s there is still:" >&2
      cat wrong >&2
      exit 1
    fi
    if [ "$waited" -ge $((told + 10)) ]; then
      echo "waiting: $(tr '\n' ';' <wrong) ($waited s of at most 240 s)"
      told=$waited
    fi
    sleep 1
  done
}

# After an upgrade that was cut off, the kubelet may start controller manager and scheduler again only after minutes
# (its back-off is 5 minutes at most), and kubeadm gives a Job that needs both of them 60 s (before 1.36: 15 s).
# Whatever they do then, kubeadm has its turn: it may be its new manifest that mends them.
let_components_start() {
  from=$(date +%s)
  told=-10
  while ! { healthy "$(port kube-controller-manager 10257)" /healthz && healthy "$(port kube-scheduler 10259)" /livez; } >/dev/null; do
    waited=$(($(date +%s) - from))
    if [ "$waited" -gt 330 ]; then return 0; fi
    if [ "$waited" -ge $((told + 10)) ]; then
      echo "waiting: controller manager and scheduler start again after an upgrade that was cut off ($waited s of at" \
        "most 330 s)"
      told=$waited
    fi
    sleep 1
  done
}

# kubeadm keeps a copy of etcd's data and of the manifests for each of its upgrades.
prune() {
  for kind in kubeadm-backup-etcd kubeadm-backup-manifests kubeadm-upgraded-manifests kubeadm-kubelet-config; do
    # shellcheck disable=SC2012 # kubeadm's names hold a time and nothing odd
    ls -1dt "$backups/$kind"* 2>/dev/null | tail -n "+$((KEPT + 1))" | while read -r old; do rm -rf -- "$old"; done
  done
}

# kubeadm copies etcd's data (`cp -r`) before it replaces the first manifest. A copy after which no manifest was
# replaced may be half of one, takes the room that the next one needs, and there is nothing that it could bring back.
# $1: a file that is older than kubeadm's work for kbuild: an older copy is an operator's.
drop_half_copy() {
  find "$backups" -maxdepth 1 \( -name 'kubeadm-backup-etcd-*' -o -name 'kubeadm-backup-manifests-*' -empty \) \
    -newer "$manifests" -newer "$1" -exec rm -rf -- {} + 2>/dev/null || :
}

# Prints the objects of kubeadm's upgrade, on this host and in the cluster: names, inodes and times of files, and
# versions of ConfigMaps. Fails if it cannot be read.
changeable() {
  find "$KUBERNETES" -mindepth 1 -path "$backups" -prune -o -printf '%p %i %C@\n' >changeable-files &&
    find "$KUBELET" -maxdepth 1 -type f -printf '%p %i %C@\n' >>changeable-files &&
    sort changeable-files || return 1
  if [ "$ROLE" != control-plane ]; then return 0; fi
  $KUBECTL -n kube-system get configmaps kubeadm-config kubelet-config --request-timeout 5s \
    -o 'jsonpath={range .items[*]}{.metadata.name}{" "}{.metadata.resourceVersion}{"\n"}{end}'
}

: >tells
begun=
if [ -e "$MARKER" ]; then begun=yes; fi
if [ "$ROLE" = control-plane ] && [ -e "$MARKER" ]; then
  drop_half_copy "$MARKER"
  let_components_start
fi
if ! changeable >before 2>/dev/null; then echo unknown >before; fi
mark upgrade begun "$VERSION" "$HOW"
status=0
case $HOW in
  apply) run_kubeadm upgrade apply --config config.yaml --yes || status=$? ;;
  node) run_kubeadm upgrade node --config config.yaml || status=$? ;;
esac
if [ "$status" -ne 0 ]; then
  drop_half_copy tells
  # It failed in its preflight checks, most likely. There is nothing to continue, so another version may follow.
  if [ -z "$begun" ] && changeable >after 2>/dev/null && cmp -s before after; then
    rm -f "$MARKER"
    sync "$(dirname "$MARKER")"
    echo "kubeadm has changed nothing on this host" >&2
  fi
  exit "$status"
fi
if [ "$ROLE" = control-plane ]; then verify; fi
mark upgrade 'done' "$VERSION" "$HOW"
prune
rm -f "$MARKER"
sync "$(dirname "$MARKER")"

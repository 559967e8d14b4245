# shellcheck shell=sh disable=SC2154  # parameters come from outside
# uses: kubeadm/mounts.sh
# given: kubeadm-job runtime
# kubeadm reset, as a job. Parameters: CLUSTER, MARKER (a path), SECONDS_TO_RESET; etcd_folder (the folder of etcd's
# data) is set before. config.yaml lies in the working directory. It uses the functions of templates/runtime/. A runtime
# that does not answer, or keeps containers, is restarted once, and the reset is done once more. Mounts below
# /var/lib/kubelet are taken away before it is emptied. Any other mount in a folder that is emptied, and one that stays,
# ends the script: nothing is deleted through a mount.
emptied="/etc/kubernetes/manifests /etc/kubernetes/pki /etc/kubernetes/tmp /var/lib/etcd $etcd_folder"
# shellcheck disable=SC2086  # several words
refuse_mounts_below $emptied

mark reset begun

restart_runtime() {
  echo "the container runtime does not answer or keeps containers: restarting it"
  # A stuck daemon does not stop by itself; its containers have supervisors of their own and stay.
  runtime_answers || systemctl kill -s KILL "$runtime_unit" || true
  timeout -k 1 30 systemctl restart "$runtime_unit" || {
    systemctl kill -s KILL "$runtime_unit" || true
    systemctl reset-failed "$runtime_unit" || true
    timeout -k 1 60 systemctl start "$runtime_unit"
  }
}

# kubeadm does the same, but parents before children, and not for names with blanks.
unmount_volumes() { mounts_below /var/lib/kubelet | sort -r | while read -r mount; do timeout -k 1 30 umount -- "$(printf %b "$mount")"; done; }

take_down() {
  unmount_volumes || true
  if command -v kubeadm >/dev/null; then
    timeout -k 10 "$SECONDS_TO_RESET" kubeadm reset --config config.yaml
  else
    # The packages were removed. This removes the same files without kubeadm.
    # shellcheck disable=SC2086
    refuse_mounts_below /var/lib/kubelet $emptied
    for folder in /var/lib/kubelet $emptied; do
      if [ -d "$folder" ]; then find "$folder/" -mindepth 1 -xdev -delete || return; fi
    done
    (cd /etc/kubernetes 2>/dev/null && rm -f admin.conf super-admin.conf kubelet.conf bootstrap-kubelet.conf controller-manager.conf scheduler.conf) || true
  fi
}

has_runtime=no
if runtime_is_installed; then has_runtime=yes; fi

if [ $has_runtime = yes ]; then
  systemctl is-active -q "$runtime_unit" || systemctl start "$runtime_unit" || true
  runtime_answers || restart_runtime
fi
# kubeadm deletes etcd's data before it stops the kubelet, which may start etcd again on the empty folder in between.
systemctl stop kubelet 2>/dev/null || true
had_etcd=no
if [ -e /etc/kubernetes/manifests/etcd.yaml ]; then had_etcd=yes; fi
status=0
take_down || status=$?
if [ $has_runtime = yes ] && { [ $status -ne 0 ] || [ -n "$(runtime_kept)" ] || [ -n "$(mounts_below /var/lib/kubelet)" ]; }; then
  restart_runtime
  status=0
  take_down || status=$?
fi
# kubeadm leaves the folder as it is when it cannot unmount all that is in it; some versions call that a success.
refuse_mounts_below /var/lib/kubelet
if [ $status -ne 0 ]; then
  echo "kubeadm reset failed with status $status" >&2
  exit "$status"
fi
if [ $has_runtime = yes ] && [ -n "$(runtime_kept)" ]; then
  echo "containers of Kubernetes still run: $(runtime_kept | tr '\n' ' ')" >&2
  exit 1
fi
# Removes files of an etcd that kubeadm ended only after it had deleted the data: the next join refuses a folder with
# anything in it.
if [ $had_etcd = yes ]; then
  # shellcheck disable=SC2086
  refuse_mounts_below $emptied
  find /var/lib/etcd "$etcd_folder" -mindepth 1 -xdev -delete 2>/dev/null || true
fi
rm -f "$MARKER"
sync "$(dirname "$MARKER")"

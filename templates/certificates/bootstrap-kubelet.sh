# shellcheck shell=sh
# Has the kubelet ask for a new client certificate, as a job: the file `bootstrap` in the working directory is its
# kubeconfig with a bootstrap token. The kubelet takes it because its own certificate has ended, and is done when its
# certificate is another one.
umask 077
bootstrap=/etc/kubernetes/bootstrap-kubelet.conf
current=/var/lib/kubelet/pki/kubelet-client-current.pem
trap 'rm -f -- $bootstrap' EXIT
install -m 0600 -o root -g root bootstrap "$bootstrap.kbuild-new"
mv -f -- "$bootstrap.kbuild-new" "$bootstrap"
old=$(readlink -f "$current" || :)
systemctl reset-failed kubelet || :
systemctl restart kubelet
from=$(date +%s)
told=-10
while [ ! -e "$current" ] || [ "$(readlink -f "$current" || :)" = "$old" ]; do
  waited=$(($(date +%s) - from))
  if [ "$waited" -gt 240 ]; then
    echo "the kubelet has no new certificate after 240 s; its last words:" >&2
    journalctl -u kubelet -n 5 --no-pager -o cat >&2
    exit 1
  fi
  if [ "$waited" -ge $((told + 10)) ]; then
    echo "waiting: the kubelet gets a new certificate ($waited s of at most 240 s)"
    told=$waited
  fi
  sleep 1
done

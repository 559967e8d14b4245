# shellcheck shell=sh disable=SC2154  # parameters come from outside
# uses: certificates/await.sh
# given: runtime
# Makes this host trust the certificates of `bundle.crt`, in the working directory, as an authority of kubeadm.
# A job; it returns when programs that read them once have restarted, and the ports ask clients for certificates of the
# right authorities. Parameters: NAME (the authority's file below the folder pki, without its ending), BEGINS (seconds
# since the epoch: when the last of the certificates begins), SIGNER (old, new: kubeadm and the controller manager sign
# with that one; empty: as before), CONFS (lines: kubeconfigs that hold the certificates), PODS (lines: components to
# start again), KUBELET (yes: it starts again), SHOWN (lines: ADDRESS:PORT), OFFERED, WITHDRAWN (lines: common names
# that a port must name, or must not name any more). It uses the functions of templates/runtime/.
umask 077
kubernetes=/etc/kubernetes
file=$kubernetes/pki/$NAME
put() {
  install -m "$1" -o root -g root -- "$2" "$3.kbuild-new"
  sync -- "$3.kbuild-new"
  mv -f -- "$3.kbuild-new" "$3"
}

# Common names of the authorities whose certificates a port asks for, one a line; fails if it does not answer.
asks_for() {
  timeout 5 openssl s_client -connect "$1" </dev/null 2>/dev/null >shown || :
  grep -q 'BEGIN CERTIFICATE' shown || return 1
  sed -n '/^Acceptable client certificate CA names/,/^\(Client Certificate Types\|Requested\)/s/.*CN *= *//p' shown
}
# Only a port that answers now must answer later: without a valid certificate of its own, a kubelet does not start.
answers=
if command -v openssl >/dev/null; then
  for place in $SHOWN; do
    if asks_for "$place" >/dev/null; then answers="$answers $place"; fi
  done
fi

# A certificate may begin by another host's clock. One that is not valid yet is never placed: its readers would not
# start.
from=$(date +%s)
while now=$(date +%s); [ "$now" -lt "$BEGINS" ]; do
  if [ $((now - from)) -ge 60 ]; then
    echo "a certificate of the authority begins in $((BEGINS - now)) s by the clock of this host; nothing was" \
      "placed: set the clock (kbuild check names hosts whose clocks differ)" >&2
    exit 1
  fi
  sleep 1
done

for conf in $CONFS; do
  if [ -e "$kubernetes/$conf" ] && grep -q '^ *certificate-authority-data: ' "$kubernetes/$conf"; then
    cp -- "$kubernetes/$conf" new.conf
    cluster=$(kubectl config view --raw --kubeconfig new.conf -o 'jsonpath={.clusters[0].name}')
    kubectl config --kubeconfig new.conf set-cluster "$cluster" --certificate-authority bundle.crt --embed-certs >&2
    put 0600 new.conf "$kubernetes/$conf"
  fi
done

# kubeadm signs with this key as the first certificate of the file: the two renames stand together.
if [ -n "$SIGNER" ]; then
  for end in key crt; do put 0600 "$file-$SIGNER.$end" "$file-signing.$end"; done
  put 0600 "$file-$SIGNER.key" "$file.key"
fi
# Last of all: programs that read it once start again if they are older than this file.
if ! cmp -s bundle.crt "$file.crt"; then put 0644 bundle.crt "$file.crt"; fi
sync -- "$(dirname -- "$file.crt")"

restarts=
old=
for component in $PODS; do
  for id in $(runtime_running "$component"); do
    restarts="$restarts $component"
    old="$old $id"
    runtime_signal SIGTERM "$id" 2>/dev/null || true
  done
done
if [ -n "$KUBELET" ]; then systemctl restart kubelet; fi

# Prints the places that do not show it yet, one a line.
waits() {
  # shellcheck disable=SC2086  # several words
  anew "$old" $restarts
  for place in $answers; do
    if ! asks_for "$place" >names; then
      echo "$place answers"
      continue
    fi
    echo "$OFFERED" | while read -r name; do
      if [ -n "$name" ] && ! grep -qxF -- "$name" names; then echo "$place asks for certificates of $name"; fi
    done
    echo "$WITHDRAWN" | while read -r name; do
      if [ -n "$name" ] && grep -qxF -- "$name" names; then echo "$place no longer asks for certificates of $name"; fi
    done
  done
}
# A kubelet waits up to 300 s with a container that has ended often within ten minutes.
await 'the certificates are in their places' 420 waits
if ! command -v openssl >/dev/null; then echo 'openssl is not installed: what the ports ask for was not compared'; fi

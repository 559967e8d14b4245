# shellcheck shell=sh disable=SC2154  # parameters come from outside
# uses: certificates/await.sh
# given: runtime
# Renews certificates of this control plane with kubeadm, as a job. config.yaml lies in the working directory.
# Parameters: RENEW (lines: kubeadm's names), HOW (as-it-was; by-configuration: subject and names by config.yaml), KEYS
# (lines: keys of the authorities that sign them, below the folder pki), WORK (a folder on tmpfs that is made for it),
# RESTARTED (lines: components that read their kubeconfig only when they start), SERVED (lines: FILE ADDRESS:PORT, what
# a port shows afterwards). It uses the functions of templates/runtime/.
umask 077
kubernetes=/etc/kubernetes
fingerprint() { openssl x509 -noout -fingerprint -sha256 2>/dev/null; }
shown() { timeout 5 openssl s_client -connect "$1" </dev/null 2>/dev/null | fingerprint || :; }
# Only a port that answers now must show the new certificate later: etcd may be without quorum until other hosts have
# theirs.
: >answers
if command -v openssl >/dev/null; then
  echo "$SERVED" | while read -r file place; do
    if [ -n "$file" ] && [ -n "$(shown "$place")" ]; then echo "$file $place" >>answers; fi
  done
fi

for key in $KEYS; do
  if [ ! -s "$kubernetes/pki/$key" ]; then
    echo "$kubernetes/pki/$key is not on this host, so kubeadm cannot sign with it: bring it back from a backup" \
      "or from another control plane" >&2
    exit 1
  fi
done

# kubeadm writes its files where they are, one after the other. It does so in a copy, which it alone sees in their
# place, so that a host that dies meanwhile never has half a file, nor a certificate with the key of another.
rm -rf -- "$WORK"
mkdir -p -- "$WORK"
trap 'rm -rf -- "$WORK"' EXIT
cp -rLp -- "$kubernetes"/pki "$kubernetes"/*.conf "$WORK/"
config=$(pwd)/config.yaml
# shellcheck disable=SC2016 # the inner shell expands it
case $HOW in
  as-it-was) signs='kubeadm certs renew "$name" --config "$4"' ;;
  # kubeadm makes only files that are missing.
  by-configuration) signs='rm "$2/pki/$name.crt" "$2/pki/$name.key"; kubeadm init phase certs "$name" --config "$4"' ;;
esac
unshare --mount sh -euc "mount --bind \"\$1\" \"\$2\"; for name in \$3; do $signs; done" sh "$WORK" "$kubernetes" "$RENEW" "$config"

# kubeadm writes only the first certificate of ca.crt into kubeconfigs (renewal/readwriter.go), and while the CA is
# rotated there are two.
for name in $RENEW; do
  case $name in
    *.conf)
      cluster=$(kubectl config view --raw --kubeconfig "$WORK/$name" -o 'jsonpath={.clusters[0].name}')
      kubectl config --kubeconfig "$WORK/$name" set-cluster "$cluster" --certificate-authority "$kubernetes/pki/ca.crt" --embed-certs >&2
      ;;
  esac
done

file_of() {
  case $1 in
    *.conf) echo "$1" ;;
    etcd-*) echo "pki/etcd/${1#etcd-}.crt" ;;
    *) echo "pki/$1.crt" ;;
  esac
}
for name in $RENEW; do
  if cmp -s "$WORK/$(file_of "$name")" "$kubernetes/$(file_of "$name")"; then
    echo "kubeadm did not renew $name" >&2
    exit 1
  fi
done

stage() {
  cp -p -- "$WORK/$1" "$kubernetes/$1.kbuild-new"
  sync -- "$kubernetes/$1.kbuild-new"
}
place() { mv -f -- "$kubernetes/$1.kbuild-new" "$kubernetes/$1"; }
put() {
  stage "$1"
  if [ "$1" != "${1%.crt}" ]; then
    # The two renames stand together: a server that starts between them would find a key of another certificate.
    stage "${1%.crt}.key"
    place "${1%.crt}.key"
  fi
  place "$1"
}
# The kubeconfig that a component reads only when it starts.
read_at_start() {
  case $1 in
    kube-controller-manager) echo controller-manager.conf ;;
    kube-scheduler) echo scheduler.conf ;;
    kube-vip) echo admin.conf ;;
  esac
}
last=
for component in $RESTARTED; do last="$last $(read_at_start "$component")"; done
for name in $RENEW; do
  case " $last " in
    *" $name "*) ;;
    *) put "$(file_of "$name")" ;;
  esac
done

# Those that run now must run again: without the API they start and end. One that keeps the old certificate works until
# that ends, and nothing shows it. So it is told to end before its file is in its place: where the job is killed
# earlier, the certificate is still due.
restarts=
old=
# Ends the component $1, unless it was told to end.
end_component() {
  for id in $(runtime_running "$1" || true); do
    case " $old " in
      *" $id "*) ;;
      *)
        runtime_signal SIGTERM "$id" 2>/dev/null || true
        restarts="$restarts $1"
        old="$old $id"
        ;;
    esac
  done
}
for component in $RESTARTED; do
  stage "$(read_at_start "$component")"
  end_component "$component"
  place "$(read_at_start "$component")"
  # A component that has started meanwhile, or just before as after a boot, may have read the old file.
  end_component "$component"
done

# Prints the places that do not show the new certificate yet, one a line.
waits() {
  # shellcheck disable=SC2086  # several words
  anew "$old" $restarts
  while read -r file place; do
    if [ "$(shown "$place")" != "$(fingerprint <"$kubernetes/pki/$file")" ]; then echo "$place shows the new certificate"; fi
  done <answers
}
# kube-apiserver looks for new files every minute (dynamic_serving_content.go); etcd reads them for every connection.
# A kubelet waits up to 300 s with a container that has ended often, as those do whose certificates have ended.
await 'the certificates are renewed' 420 waits
if ! command -v openssl >/dev/null; then echo 'openssl is not installed: what the ports show was not compared'; fi

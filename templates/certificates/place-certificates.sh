# shellcheck shell=sh disable=SC2154  # parameters come from outside
# given: runtime
# Puts certificates (files signed_NAME in the working directory, authority.crt beside them) with their keys, which wait
# below WORK, to where kubeadm looks for them; kubeconfigs get theirs inside. Each file takes its place whole.
# Parameters: WORK, NODE (the kubelet's name), CLUSTER, KUBELET_SERVER (URL of the API for the kubelet), RESTARTED
# (words: components whose container ends, to start again with its new kubeconfig). It uses the functions of
# templates/runtime/.
umask 077
pki=/etc/kubernetes/pki
kubelet_pki=/var/lib/kubelet/pki

# Not `install -D`: that of uutils, in Ubuntu 26.04, replaces a link in the path by a folder (uutils/coreutils#11469).
stage() {
  (umask 022; mkdir -p -- "$(dirname -- "$3")")
  install -m "$1" -o root -g root -- "$2" "$3.kbuild-new"
  sync -- "$3.kbuild-new"
}
put() {
  stage "$@"
  mv -f -- "$3.kbuild-new" "$3"
}

config() { kubectl config --kubeconfig "$@" >&2; }
told() { kubectl config view --raw --kubeconfig "$1" -o "jsonpath={$2}"; }

# Puts certificate and key into the kubelet's own store, as a join with a token does: the kubelet renews them there.
put_kubelet() {
  pair=$kubelet_pki/kubelet-client-$(date -u +%Y-%m-%d-%H-%M-%S).pem
  { cat -- "$1"; told "$WORK/kubelet.conf" '.users[0].user.client-key-data' | base64 -d; } >"$WORK/kubelet.pem"
  put 0600 "$WORK/kubelet.pem" "$pair"
  ln -sfn -- "$pair" "$kubelet_pki/kubelet-client-current.pem"
  new=$WORK/kubelet-new.conf
  user=system:node:$NODE
  config "$new" set-cluster "$CLUSTER" --server "$KUBELET_SERVER" --certificate-authority authority.crt --embed-certs
  config "$new" set-credentials "$user" --client-certificate "$kubelet_pki/kubelet-client-current.pem" --client-key "$kubelet_pki/kubelet-client-current.pem"
  config "$new" set-context "$user@$CLUSTER" --cluster "$CLUSTER" --user "$user"
  config "$new" use-context "$user@$CLUSTER"
  put 0600 "$new" /etc/kubernetes/kubelet.conf
}

# Ends the component that reads the kubeconfig $1 only when it starts, unless it was told to end. One that keeps the
# old certificate works until that ends, and nothing shows it. So it is told to end before its file is in its place:
# where the job is killed earlier, the certificate is still due. A component that has started meanwhile may have read
# the old file, and is told to end afterwards.
ended=
restart_reader() {
  case $1 in
    controller-manager.conf) component=kube-controller-manager ;;
    scheduler.conf) component=kube-scheduler ;;
    admin.conf) component=kube-vip ;;
    *) return 0 ;;
  esac
  # shellcheck disable=SC2086,SC2116  # several words
  case " $(echo $RESTARTED) " in
    *" $component "*) ;;
    *) return 0 ;;
  esac
  # shellcheck disable=SC2034
  runtime_limit='timeout 10'
  for id in $(runtime_containers "$component"); do
    case " $ended " in
      *" $id "*) ;;
      *)
        ended="$ended $id"
        runtime_signal SIGTERM "$id" 2>/dev/null || true
        ;;
    esac
  done
}

for file in signed_*; do
  if [ ! -e "$file" ]; then continue; fi
  name=${file#signed_}
  case $name in
    kubelet.conf) put_kubelet "$file" ;;
    *.conf)
      config "$WORK/$name" set-cluster "$CLUSTER" --certificate-authority authority.crt --embed-certs
      config "$WORK/$name" set-credentials "$(told "$WORK/$name" '.users[0].name')" --client-certificate "$file" --embed-certs
      stage 0600 "$WORK/$name" "/etc/kubernetes/$name"
      restart_reader "$name"
      mv -f -- "/etc/kubernetes/$name.kbuild-new" "/etc/kubernetes/$name"
      restart_reader "$name"
      ;;
    *)
      case $name in etcd-*) name=etcd/${name#etcd-} ;; esac
      # The two renames stand together: an API server that starts between them would find a key of another certificate.
      stage 0600 "$WORK/pki/$name.key" "$pki/$name.key"
      stage 0644 "$file" "$pki/$name.crt"
      mv -f -- "$pki/$name.key.kbuild-new" "$pki/$name.key"
      mv -f -- "$pki/$name.crt.kbuild-new" "$pki/$name.crt"
      ;;
  esac
done
if [ -e "$WORK/pki/sa.key" ]; then
  put 0600 "$WORK/pki/sa.key" "$pki/sa.key"
  put 0600 "$WORK/pki/sa.pub" "$pki/sa.pub"
fi
rm -rf -- "$WORK"

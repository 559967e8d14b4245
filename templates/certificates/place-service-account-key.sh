# shellcheck shell=sh disable=SC2154,SC2086  # parameters come from outside; KUBECTL is several words
# uses: certificates/await.sh
# given: runtime
# Makes this control plane accept service account tokens of the public keys in `sa.pub`, which lies in the working
# directory, and sign with another key if SIGNER says so. A job; it returns when the readers of the keys have restarted,
# and the API server shows that it uses them. Parameters: SIGNER (old, new: the key of sa-SIGNER.key signs from now on;
# empty: as before), KUBECTL (words), TRUSTED (lines: ids of all keys in sa.pub), SIGNS (id of the key that signs from
# now on). With SIGNER, `signs.pub` is the public key that signs from now on, `signed.pub` the one that signed until
# now. It uses the functions of templates/runtime/.
umask 077
pki=/etc/kubernetes/pki
put() {
  install -m 0600 -o root -g root -- "$1" "$2.kbuild-new"
  sync -- "$2.kbuild-new"
  mv -f -- "$2.kbuild-new" "$2"
}
jwks() { timeout 10 $KUBECTL --request-timeout 5s get --raw /openid/v1/jwks 2>/dev/null; }
# A cluster whose issuer is no URL does not show its keys.
shows=
if jwks >jwks.json; then
  shows=yes
  # At every moment of a rotation it accepts one of them.
  if ! grep -qF -- "$(echo "$TRUSTED" | sed 's/.*/"kid":"&"/')" jwks.json; then
    echo "the API server of this host does not accept tokens by the keys of $pki/sa.pub: its manifest names" \
      "another file, perhaps by a patch. Nothing was changed: take the rotation back with --rollback, and rotate" \
      "the keys where they are kept" >&2
    exit 1
  fi
fi

if [ -n "$SIGNER" ]; then
  # From now on, until this job has ended, tokens of both keys may come from here.
  put signed.pub "$pki/sa-signing.pub"
  put "$pki/sa-$SIGNER.key" "$pki/sa.key"
fi
# After the key: an API server that is older than this file starts again.
if [ -n "$SIGNER" ] || ! cmp -s sa.pub "$pki/sa.pub"; then put sa.pub "$pki/sa.pub"; fi
sync -- $pki

starts() {
  if [ -z "$(anew "$old" "$1")" ]; then return; fi
  # An API server waits a minute for requests that it serves, and answers no new ones. The kubelet gives a static pod 30
  # s to end.
  if [ "$waited" -ge 30 ]; then
    for id in $old; do runtime_signal KILL "$id" >/dev/null 2>&1 || true; done
  fi
  echo "$1 starts again"
}
# A kubelet waits up to 300 s with a container that has ended often within ten minutes.
placed() { await 'the keys of service account tokens are in their places' 420 "$@"; }
restart() {
  old=$(runtime_running "$1" | tr '\n' ' ')
  for id in $old; do runtime_signal SIGTERM "$id" 2>/dev/null || true; done
  placed starts "$1"
}

# The id of the key that signs, from the header of a token that lives ten minutes and stays here.
signer() {
  header=$(timeout 10 $KUBECTL --request-timeout 5s -n kube-system create token default --duration 10m 2>/dev/null | cut -d. -f1 | tr '_-' '/+')
  while [ $((${#header} % 4)) -ne 0 ]; do header="$header="; done
  printf %s "$header" | base64 -d | sed -n 's/.*"kid":"\([^"]*\)".*/\1/p'
}
uses() {
  if [ "$(timeout 10 $KUBECTL --request-timeout 5s get --raw /readyz 2>/dev/null)" != ok ]; then
    echo 'the API server of this host is ready'
    return
  fi
  if [ -n "$shows" ] && [ "$(jwks | grep -o '"kid":"[^"]*"' | cut -d '"' -f4 | sort)" != "$(echo "$TRUSTED" | sort)" ]; then
    echo 'the API server shows the new set of keys'
    return
  fi
  if [ -n "$SIGNER" ] && [ "$(signer)" != "$SIGNS" ]; then echo 'the API server signs with the other key'; fi
}

restart kube-apiserver
placed uses
if [ -n "$SIGNER" ]; then
  # After the API server, which gives it its own tokens.
  restart kube-controller-manager
  # Its time says since when this control plane signs with that key.
  put signs.pub "$pki/sa-signing.pub"
  sync -- $pki
fi
if [ -z "$shows" ]; then echo 'the API server did not show its keys (/openid/v1/jwks): they were not compared'; fi

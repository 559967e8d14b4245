# shellcheck shell=sh disable=SC2154,SC2086  # parameters come from outside; GENERATE is several words
# Makes the certificate of an authority of kubeadm, as a job. Parameters: NAME (its file below the folder pki, without
# its ending), DAYS, HOW: `renewed` prints a certificate for the key that is there, with SERIAL (hexadecimal); `new`
# makes a new key by GENERATE (options of `openssl genpkey`) and its certificate for the common name SUBJECT, and leaves
# both as NAME-new beside the old ones; `key` does so with a public key of the name SUBJECT instead of a certificate.
umask 077
pki=/etc/kubernetes/pki
if ! command -v openssl >/dev/null; then
  echo 'openssl is not installed on this host, and makes the certificate: install the package openssl' >&2
  exit 1
fi
# A new key by GENERATE. openssl prints its progress on stderr.
generate() {
  if ! openssl genpkey $GENERATE -out new.key 2>errors; then
    cat errors >&2
    exit 1
  fi
}
# Leaves new.key and new.$1 beside the old ones. The certificate comes last: it says that the key is there.
leave() {
  for end in key "$1"; do
    sync -- "new.$end"
    cp -- "new.$end" "$pki/$NAME-new.$end.kbuild-new"
    sync -- "$pki/$NAME-new.$end.kbuild-new"
    mv -f -- "$pki/$NAME-new.$end.kbuild-new" "$pki/$NAME-new.$end"
  done
  sync -- "$(dirname -- "$pki/$NAME-new.$1")"
}
case $HOW in
  # Subject and extensions stay, so that certificates which it has signed still lead to it.
  renewed) openssl x509 -in "$pki/$NAME.crt" -signkey "$pki/$NAME.key" -sha256 -days "$DAYS" -set_serial "0x$SERIAL" ;;
  new)
    cat >request.cnf <<END
[req]
distinguished_name = subject
x509_extensions = extensions
prompt = no
[subject]
CN = $SUBJECT
[extensions]
basicConstraints = critical,CA:TRUE
keyUsage = critical,digitalSignature,keyEncipherment,keyCertSign
subjectKeyIdentifier = hash
END
    generate
    openssl req -x509 -new -key new.key -sha256 -days "$DAYS" -config request.cnf -out new.crt
    leave crt
    ;;
  key)
    generate
    # Programs that read the file skip lines before the key.
    echo "# $SUBJECT" >new.pub
    openssl pkey -in new.key -pubout >>new.pub
    leave pub
    ;;
esac

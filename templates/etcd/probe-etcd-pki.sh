# shellcheck shell=sh disable=SC2154  # parameters come from outside
# Prints the host's clock and the public parts of etcd's certificates: of the authority and of WANTED, names with spaces
# between (none: `not asked`). ETCD_CA: the authority's certificate. SIGNING: the staging folder for new certificates.
show_certificate() {
  if [ -e "$2.key" ]; then echo "certificate $1 key"; else echo "certificate $1 -"; fi
  sed -n '/-BEGIN CERTIFICATE-/,/-END CERTIFICATE-/p;/-END CERTIFICATE-/q' "$2.crt"
}
if [ -z "$WANTED" ]; then echo 'not asked'
else
  date +%s%N
  if [ -e "$SIGNING" ]; then echo unfinished; fi
  if [ -e "$ETCD_CA" ]; then show_certificate ca "${ETCD_CA%.crt}"; fi
  for name in $WANTED; do
    for file in "/etc/kubernetes/pki/etcd/$name" "/etc/kubernetes/pki/$name"; do
      if [ -e "$file.crt" ]; then show_certificate "$name" "$file"; fi
    done
  done
fi

# shellcheck shell=sh disable=SC2154  # parameters come from outside
# Prints what a connection to the cluster's endpoint meets. ASKED=no: the host does not probe it. ADDRESS, PORT: the
# endpoint.
if [ "$ASKED" = no ] || [ -e /etc/kubernetes/kubelet.conf ] || systemctl -q is-active keepalived; then
  echo 'not asked'
  exit 0
fi
status=0
error=$(timeout 2 bash -c 'exec 3<>"/dev/tcp/$0/$1"' "$ADDRESS" "$PORT" 2>&1) || status=$?
if [ "$status" = 124 ]; then
  echo silent
  exit 0
fi
case $error in
  '')
    if command -v curl >/dev/null && curl -sk --noproxy '*' --max-time 3 -o /dev/null "https://$ADDRESS:$PORT/readyz"; then
      echo serves
    else echo open; fi
    ;;
  *refused*) echo refused ;;
  *'not known'* | *'name resolution'* | *'No address'*) echo unresolved ;;
  *) echo unreachable ;;
esac

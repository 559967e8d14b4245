# shellcheck shell=sh disable=SC2154  # parameters come from outside
# uses: host/is-active.sh
# Prints the result of a connection to the cluster's endpoint. ASKED=no: the host does not probe it. ADDRESS, PORT: the
# endpoint; URL_HOST: the address as URLs have it.
if [ "$ASKED" = no ] || [ -e /etc/kubernetes/kubelet.conf ] || is_active keepalived; then
  echo 'not asked'
else
  status=0
  error=$(timeout 2 bash -c 'exec 3<>"/dev/tcp/$0/$1"' "$ADDRESS" "$PORT" 2>&1) || status=$?
  if [ "$status" = 124 ]; then error=silent; fi
  case $error in
    '')
      if command -v curl >/dev/null && curl -sk --noproxy '*' --max-time 3 -o /dev/null "https://$URL_HOST:$PORT/readyz"; then
        echo serves
      else echo open; fi
      ;;
    silent) echo silent ;;
    *refused*) echo refused ;;
    *'not known'* | *'name resolution'* | *'No address'*) echo unresolved ;;
    *) echo unreachable ;;
  esac
fi

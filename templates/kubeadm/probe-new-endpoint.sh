# shellcheck shell=sh disable=SC2154  # parameters come from outside
# Prints the answer of ENDPOINT (host:port) to this host, while its kubeconfig CONF names another one; else nothing.
# First line: `held` if a machine of the network has ADDRESS (empty: not asked), else `free`. Second: `ours` or `other`
# by the CA of the server that answers, `unknown` if none does. Third: `ok`, or the last line that kubectl prints.
# KUBECACHE: a folder that a reboot clears.
ask() {
  env -u HTTPS_PROXY -u https_proxy KUBECACHEDIR="$KUBECACHE" timeout 8 kubectl --kubeconfig "$CONF" --server "https://$ENDPOINT" --request-timeout 5s "$@" get --raw /readyz 2>&1 | tail -n 1
}
server="https://$ENDPOINT"
if [ -e "$CONF" ]; then
  server=
  while read -r name value || [ -n "$name" ]; do
    if [ "$name" != server: ]; then continue; fi
    server=${value#\"}
    server=${server%\"}
    break
  done <"$CONF"
fi
if [ "$server" != "https://$ENDPOINT" ]; then
  answer=$(ask)
  whose=ours
  if [ "$answer" != ok ]; then
    # Every API server of kubeadm is also called `kubernetes`: by that name, only its CA counts.
    case $(ask --tls-server-name kubernetes) in
      ok | *' (Forbidden)'* | *Unauthorized* | *'[-]'* | *'readyz check failed'*) ;;
      *'signed by unknown authority'* | *'certificate is valid for'* | *'certificate is not trusted'*) whose=other ;;
      *) whose=unknown ;;
    esac
  fi
  held=free
  if [ -n "$ADDRESS" ]; then
    case $(ip -o neigh show to "$ADDRESS" 2>/dev/null) in
      *FAILED* | *INCOMPLETE*) ;;
      *lladdr*) held=held ;;
    esac
  fi
  printf '%s\n%s\n%s\n' "$held" "$whose" "$answer"
fi

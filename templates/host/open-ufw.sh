# shellcheck shell=sh disable=SC2154  # parameters come from outside
# Takes rules out of ufw and puts others before all of its own. CLOSE, OPEN: `FROM PROTOCOL PORTS`, one a line; VRRP has
# no ports, and ufw before 0.36.2 does not know it.
echo "$CLOSE" | while read -r from protocol ports; do
  case $protocol in
    '') ;;
    vrrp) ufw delete allow proto vrrp from "$from" ;;
    *) ufw delete allow proto "$protocol" from "$from" to any port "$ports" ;;
  esac
done
echo "$OPEN" | while read -r from protocol ports; do
  case $protocol in
    '') ;;
    vrrp)
      ufw prepend allow proto vrrp from "$from" comment kbuild || {
        echo "this ufw does not know VRRP: put '-A ufw-before-input -s $from -p vrrp -j ACCEPT' into" \
          "/etc/ufw/before.rules before COMMIT, then run ufw reload" >&2
        exit 1
      }
      ;;
    *) ufw prepend allow proto "$protocol" from "$from" to any port "$ports" comment kbuild ;;
  esac
done

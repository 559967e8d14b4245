# shellcheck shell=sh
# Copies programs out of the Debian tree $TREE into a folder, with every library that they load.

libraries() { chroot "$TREE" ldd "$1" 2>/dev/null | grep -oE '/[^ ]+' || true; }

with_libraries() { # ROOT PROGRAM...
  root=$1
  shift
  for file in "$@"; do
    for f in "$file" $(libraries "$file"); do
      [ -e "$root$f" ] || install -D -m 755 "$TREE$(chroot "$TREE" readlink -f "$f")" "$root$f"
    done
  done
}

shell() { # ROOT : busybox as a shell and the tools a manifest calls
  install -D -m 755 "$TOOLS/busybox" "$1/bin/busybox"
  for p in sh cp mkdir cat ls sleep env test rm ps ip; do [ -e "$1/bin/$p" ] || ln -s busybox "$1/bin/$p"; done
}

firewall() { # ROOT : what kube-proxy and flannel call
  with_libraries "$1" /usr/sbin/xtables-nft-multi /usr/sbin/xtables-legacy-multi /usr/sbin/nft /usr/sbin/conntrack /usr/bin/ip /usr/bin/kmod
  # The extensions are loaded by name at run time, so ldd does not list them.
  for so in "$TREE"/usr/lib/x86_64-linux-gnu/xtables/*.so; do with_libraries "$1" "${so#"$TREE"}"; done
  for p in iptables ip6tables; do for s in '' -save -restore; do ln -s xtables-nft-multi "$1/usr/sbin/$p$s"; done; done
  ln -s /usr/bin/ip "$1/usr/sbin/ip"
  ln -s /usr/bin/kmod "$1/usr/sbin/modprobe"
}

# Gives the host a name, now and at the next boot. NAME: the name.
printf '%s\n' "$NAME" >/etc/hostname.kbuild-new
mv /etc/hostname.kbuild-new /etc/hostname
printf '%s' "$NAME" >/proc/sys/kernel/hostname
# sudo resolves the hostname each time: without an entry, and with a nameserver that does not answer, that takes 5 s and
# more.
if ! timeout 1 getent ahosts "$NAME" >/dev/null 2>&1; then
  printf '127.0.1.1 %s\n' "$NAME" | cat - /etc/hosts >/etc/hosts.kbuild-new
  # /etc/hosts may be a mount of its own, which cannot be replaced.
  cat /etc/hosts.kbuild-new >/etc/hosts
  rm -f /etc/hosts.kbuild-new
fi

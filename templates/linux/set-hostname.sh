# Gives the host a name, now and at the next boot. NAME: the name.
printf '%s\n' "$NAME" >/etc/hostname.kbuild-new
mv /etc/hostname.kbuild-new /etc/hostname
printf '%s' "$NAME" >/proc/sys/kernel/hostname

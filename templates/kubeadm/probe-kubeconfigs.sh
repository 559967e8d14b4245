# shellcheck shell=sh
# Prints the host's kubeconfig files as `file PATH CHANGED` (seconds since the epoch), those of a control plane first:
# the kubelet's own file calls every cluster the same. Then of each as `field PATH NAME: VALUE` the servers and names of
# its clusters, never its credentials, and as `server PATH URL` its first server.
set --
for name in admin super-admin controller-manager scheduler kubelet; do
  if [ -e "/etc/kubernetes/$name.conf" ]; then set -- "$@" "/etc/kubernetes/$name.conf"; fi
done
if [ $# -gt 0 ]; then
  stat -c 'file %n %.3Y' -- "$@"
  awk 'BEGIN {
    for (i = 1; i < ARGC; i++) {
      within = known = 0
      while ((got = (getline line < ARGV[i])) > 0) {
        if (line ~ /^clusters:/) within = 1
        else if (line ~ /^[b-z]/) within = 0
        if (within && line ~ /^ *(server|name):/) { field = line; sub(/^ */, "", field); print "field", ARGV[i], field }
        if (!known && line ~ /^ *server: */) { known = 1; sub(/^ *server: */, "", line); print "server", ARGV[i], line }
      }
      if (got < 0) { print ARGV[i] " cannot be read" >"/dev/stderr"; exit 1 }
    }
  }' "$@"
fi

# shellcheck shell=sh disable=SC2154  # parameters come from outside
# Removes flags from the file that kubeadm writes for the kubelet. REMOVED: names without --, one a line: a newer
# kubelet does not start with them.
flags=/var/lib/kubelet/kubeadm-flags.env
if [ ! -e "$flags" ]; then exit 0; fi
cp "$flags" "$flags.new"
for name in $REMOVED; do sed -i "s/ *--$name=[^ \"]*//g" "$flags.new"; done
if cmp -s "$flags" "$flags.new"; then
  rm -f "$flags.new"
  exit 0
fi
sync "$flags.new"
mv "$flags.new" "$flags"

# Writes COUNT times 2300 bytes and syncs them, as etcd does, in a new file in PLACE or the next folder above that is
# there. Prints the seconds that each took.
place=$PLACE
while ! [ -d "$place" ]; do place=$(dirname -- "$place"); done
file=$(mktemp -p "$place" .kbuild-survey.XXXXXX)
trap 'rm -f -- "$file"' EXIT
trap 'exit 1' HUP INT TERM
count=0
while [ "$count" -lt "$COUNT" ]; do
  dd if=/dev/zero of="$file" bs=2300 count=1 conv=fdatasync,notrunc oflag=append 2>&1 | sed -n 's/.* copied, \([0-9.e+-]*\) s.*/\1/p'
  count=$((count + 1))
done

# Mounts an overlay, as a runtime does for a container, in a new folder in PLACE or the next folder above that is there:
# writes, renames and removes a file of the lower layer. The mount is in a namespace of its own and goes with it. Prints
# `works`, or the error.
place=$PLACE
while ! [ -d "$place" ]; do place=$(dirname -- "$place"); done
folder=$(mktemp -d -p "$place" .kbuild-survey.XXXXXX)
trap 'rm -rf -- "$folder"' EXIT
trap 'exit 1' HUP INT TERM
cd "$folder" || exit 1
mkdir lower upper work merged
echo below >lower/changed
echo below >lower/renamed
echo below >lower/removed
if said=$(unshare -m sh -ec '
  mount -t overlay overlay -o lowerdir=lower,upperdir=upper,workdir=work merged
  echo above >merged/changed
  mv merged/renamed merged/other
  rm merged/removed
  [ "$(cat merged/changed merged/other)" = "above
below" ] && ! [ -e merged/removed ] || { echo "it does not keep what is written to it"; exit 1; }' 2>&1); then
  echo works
else
  printf '%s\n' "$said" | head -n 3 | tr '\n' ' '
fi

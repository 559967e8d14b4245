# given: runtime
# Pulls images into the container runtime, all at once, by the functions of templates/runtime/. IMAGES: full names, one
# a line; a failure of any is a failure. VERSION: a Kubernetes version, then the images that KUBEADM (a program) asks
# for are tried too, of the components ASKED (etcd, coredns; one a line), from REPOSITORY; kubeadm or the kubelet pulls
# them when that fails.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

also=
if [ -n "$VERSION" ] && command -v "$KUBEADM" >/dev/null; then
  listed=$("$KUBEADM" config images list --kubernetes-version "v$VERSION" --image-repository "$REPOSITORY" 2>/dev/null) || listed=
  for image in $listed; do
    name=${image##*/}
    for one in $ASKED; do
      if [ "${name%%:*}" = "$one" ]; then also="$also $image"; fi
    done
  done
fi

# job.sh tells these.
echo "pull $(echo $IMAGES $also | tr '\n' ' ')" >doing || :
echo "$runtime_downloads" >downloads || :

number=0
for image in $IMAGES $also; do
  number=$((number + 1))
  (runtime_pull "$image" >"$work/$number.out" 2>&1 || echo "$image" >"$work/$number.failed") &
done
wait

status=0
number=0
for image in $IMAGES $also; do
  number=$((number + 1))
  if [ ! -e "$work/$number.failed" ]; then
    echo "pulled $image"
    continue
  fi
  echo "could not pull $image:" >&2
  tail -n 3 "$work/$number.out" >&2
  case " $also " in
    *" $image "*) ;;
    *) status=1 ;;
  esac
done
exit "$status"

# Ends the container of a static pod, COMPONENT: the kubelet starts it anew, with its files as they are now.
ended=
for id in $(ctr -n k8s.io containers ls -q "labels.\"io.kubernetes.container.name\"==$COMPONENT"); do
  if ctr -n k8s.io tasks kill -s SIGTERM "$id" 2>/dev/null; then ended=yes; fi
done
if [ -z "$ended" ]; then
  echo "no container of $COMPONENT runs" >&2
  exit 1
fi

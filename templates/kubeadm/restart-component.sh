# given: runtime
# Ends the container of a static pod, COMPONENT: the kubelet starts it again, with its files as they are now.
# It uses the functions of templates/runtime/.
ended=
for id in $(runtime_containers "$COMPONENT"); do
  if runtime_signal SIGTERM "$id" 2>/dev/null; then ended=yes; fi
done
if [ -z "$ended" ]; then
  echo "no container of $COMPONENT runs" >&2
  exit 1
fi

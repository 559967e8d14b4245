# Prints HEARD once every one of NAMES (one a line) has been heard, or after 3 s: the listener starts with the first datagram.
end=$(($(date +%s) + 3))
for name in $NAMES; do
  until grep -qxF -- "$name" "$HEARD" || [ "$(date +%s)" -ge "$end" ]; do sleep 0.1; done
done
cat -- "$HEARD"

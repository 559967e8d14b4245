# shellcheck shell=sh disable=SC2154  # parameters come from outside
# uses: host/is-active.sh
# Prints `# absent` without Docker Engine, `# invalid` if it rejects its settings in the file SETTINGS. Else `driver`
# and the cgroup driver that it uses, or, while it does not answer, that of its settings; and `image` and the image of
# sandboxes in the unit of cri-dockerd.
if ! command -v dockerd >/dev/null; then
  echo '# absent'
elif [ -e "$SETTINGS" ] && ! dockerd --validate --config-file "$SETTINGS" >/dev/null 2>&1; then
  echo '# invalid'
else
  driver=
  if is_active docker; then driver=$(timeout -k 1 10 docker info --format '{{.CgroupDriver}}' 2>/dev/null) || driver=; fi
  if [ -z "$driver" ] && [ -e "$SETTINGS" ]; then driver=$(sed -n 's/.*"native\.cgroupdriver=\([a-z]*\)".*/\1/p' "$SETTINGS"); fi
  echo "driver $driver"
  systemctl show cri-docker.service -p Environment --value | sed -n 's/.*--pod-infra-container-image=\([^ "]*\).*/image \1/p'
fi

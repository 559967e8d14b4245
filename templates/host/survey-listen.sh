# Listens at TCP and UDP (address:port, one a line) while a byte comes in on stdin at least every 45 s; it ends with its
# channel, and after ten minutes whatever happens. Says where what comes in by UDP lies. The units and the file are its
# own, and the ports are shared, because another run may survey the same hosts.
mkdir -p /run/kbuild
heard=$(mktemp /run/kbuild/survey-heard.XXXXXX)
name=kbuild-survey-${heard##*.}
end() {
  systemctl stop "$name-*" 2>/dev/null || :
  rm -f -- "$heard"
}
trap end EXIT
# Also if the channel is gone: a shell that a signal ends runs no EXIT trap.
trap 'exit 1' HUP INT TERM PIPE
# All other units are bound to this one, and end with it.
systemd-run -q --collect --unit="$name-life" sleep 600
bound="BindsTo=$name-life.service"
set --
for one in $TCP; do set -- "$@" "--socket-property=ListenStream=$one"; done
if [ $# -gt 0 ]; then
  # The kernel takes the connections; the service only has to be there.
  systemd-run -q --collect --unit="$name-tcp" -p "$bound" --socket-property="$bound" --socket-property=ReusePort=yes "$@" sleep 600
fi
# One process for each, not a loop of them: with cgroup v1 systemd may miss the end of a child, and wait 90 s for it
# (seen with 252).
count=0
for one in $UDP; do
  count=$((count + 1))
  systemd-run -q --collect --unit="$name-udp$count" -p "$bound" --socket-property="$bound" --socket-property=ReusePort=yes \
    --socket-property="ListenDatagram=$one" -p StandardOutput="append:$heard" sh -c 'exec cat <&3'
done
echo "$heard"
while beat=$(exec timeout 45 head -c 1) && [ -n "$beat" ]; do :; done

# Listens at TCP and UDP (address:port, one a line) while a byte comes in on stdin at least every 45 s; it ends with its
# channel, and after ten minutes whatever happens. What comes in by UDP lies in HEARD. Says `listening`.
life=kbuild-survey-life.service
end() {
  systemctl stop $life kbuild-survey-tcp.socket kbuild-survey-tcp.service kbuild-survey-udp.socket kbuild-survey-udp.service 2>/dev/null || :
  rm -f -- "$HEARD"
}
end
trap end EXIT
# Also when nobody hears `listening` any more: a shell that dies of a signal runs no EXIT trap.
trap 'exit 1' HUP INT TERM PIPE
mkdir -p -- "$(dirname -- "$HEARD")"
: >"$HEARD"
# Everything else is bound to this unit: it needs nobody who stops it.
systemd-run -q --collect --unit=$life sleep 600
set --
for one in $TCP; do set -- "$@" "--socket-property=ListenStream=$one"; done
if [ $# -gt 0 ]; then
  # The kernel takes the connections; the service only has to be there.
  systemd-run -q --collect --unit=kbuild-survey-tcp -p BindsTo=$life --socket-property=BindsTo=$life "$@" sleep 600
fi
set --
for one in $UDP; do set -- "$@" "--socket-property=ListenDatagram=$one"; done
if [ $# -gt 0 ]; then
  systemd-run -q --collect --unit=kbuild-survey-udp -p BindsTo=$life --socket-property=BindsTo=$life "$@" \
    -p StandardOutput="append:$HEARD" sh -c 'while dd bs=2048 count=1 status=none <&3; do :; done'
fi
echo listening
while beat=$(exec timeout 45 head -c 1) && [ -n "$beat" ]; do :; done

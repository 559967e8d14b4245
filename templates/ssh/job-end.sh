# What systemd runs when a job has ended, however it ended: the secrets go, then the result appears, whole.
# $1: the job's folder. SERVICE_RESULT, EXIT_CODE and EXIT_STATUS come from systemd (systemd.exec(5)).
cd /
rm -rf -- "$1/work"
printf '%s %s %s\n' "${SERVICE_RESULT:-unknown}" "${EXIT_CODE:-unknown}" "${EXIT_STATUS:-unknown}" >"$1/status.new"
mv -- "$1/status.new" "$1/status"

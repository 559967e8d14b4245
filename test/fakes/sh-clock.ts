import { join } from 'node:path';

/** The time of a script that waits: it passes when the script sleeps, and no second of the test's own. */
export interface ShClock {
  /** Puts functions in the place of `sleep` and `date +%s`, and a file in the place of /proc/uptime. */
  readonly inScript: (script: string) => string;
  /** sh: waits in another process until the script has slept so many whole seconds more. */
  readonly waits: (seconds: number) => string;
}

/** 2026-01-01T00:00:00Z, in tenths of a second. */
const START = 17_672_256_000;

/** A clock of files in a folder. A script that sleeps gives other processes a hundredth of a second to run. */
export function shClock(folder: string): ShClock {
  const now = join(folder, 'clock-now');
  const uptime = join(folder, 'clock-uptime');
  const functions = `[ -e '${now}' ] || echo ${String(START)} >'${now}'
[ -e '${uptime}' ] || echo '1000.0 0.0' >'${uptime}'
sleep() {
  read -r clock_now <'${now}'
  case $1 in
    *.*) clock_now=$((clock_now + \${1%.*} * 10 + \${1#*.})) ;;
    *) clock_now=$((clock_now + $1 * 10)) ;;
  esac
  echo "$clock_now" >'${now}'
  echo "$(((clock_now - ${String(START)}) / 10 + 1000)).0 0.0" >'${uptime}'
  command sleep 0.01
}
date() {
  if [ "$*" = +%s ]; then
    read -r clock_now <'${now}'
    echo "$((clock_now / 10))"
  else
    command date "$@"
  fi
}
`;
  return {
    inScript: (script) => functions + script.replaceAll('/proc/uptime', uptime),
    // The file is empty for a moment while it is written.
    waits: (seconds) => `read -r clock_from <'${now}'
until read -r clock_at <'${now}' && [ "\${clock_at:-0}" -ge $((\${clock_from:-${String(START)}} + ${String(seconds * 10)})) ]; do sleep 0.005; done`,
  };
}

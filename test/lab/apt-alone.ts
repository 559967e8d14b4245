/** Proves that one apt-get at a time runs on a host: each takes a lock of the test's, and one that finds it taken is noted. */
import * as lab from './lab.ts';

const NOTES = '/var/log/apt-beside-another';
const WRAPPER = `#!/bin/sh
# The lock goes where apt-get goes: killed or not, it is held for as long as apt-get lives.
exec 7>>/run/apt-alone.lock
flock -n 7 || echo "$$: $*" >>${NOTES}
echo "$*" >>/var/log/apt-runs
exec /usr/bin/apt-get "$@"
`;

/** Stands in front of apt-get on these hosts from now on. */
export async function watchApt(hosts: readonly string[]): Promise<void> {
  const install = 'cat >/usr/local/sbin/apt-get && chmod 755 /usr/local/sbin/apt-get';
  for (const host of hosts) await lab.inside(host, install, WRAPPER);
}

/** How often apt-get ran on a host, and the runs that began while another was under way. */
export async function aptRuns(host: string): Promise<{ readonly runs: number; readonly together: string }> {
  const { stdout } = await lab.inside(host, `wc -l </var/log/apt-runs; cat ${NOTES} 2>/dev/null || :`);
  const [runs, ...together] = stdout.trim().split('\n');
  return { runs: Number(runs), together: together.join('\n') };
}

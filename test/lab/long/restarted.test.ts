/** Hosts that are restarted under kbuild's hands: it notices, and goes on with what is due then, by itself. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventsOf, kbuild, start } from '../kbuild.ts';
import { fresh } from '../fresh.ts';
import * as lab from '../lab.ts';
import { ok, unchanged } from '../ok.ts';
import { nodes } from '../pods.ts';
import { waitUntil } from '../wait-until.ts';

const HOSTS = ['rscp1', 'rsw1'];
const [cp, worker] = HOSTS as [string, string];
const MINUTES_MS = 10 * 60_000;
let args: readonly string[];

const jobs = async (host: string): Promise<string> =>
  (await lab.inside(host, "systemctl list-units --plain --no-legend 'kbuild-job-*' || :")).stdout;

beforeAll(async () => {
  ({ up: args } = await fresh('restarted', HOSTS));
});

afterAll(() => lab.down(HOSTS));

test(
  'a restart during an installation, during kubeadm init and during a join: one run ends the job',
  { timeout: 3 * MINUTES_MS },
  async () => {
    const running = start([...args, '--json']);
    const under = async (host: string, job: string): Promise<void> => {
      await waitUntil(`${job} on ${host}`, MINUTES_MS, async () => (await jobs(host)).includes(`kbuild-job-${job}`));
      await lab.reboot([host]);
      console.log(`${host} restarted under ${job}`);
    };
    await under(worker, 'packages');
    await under(cp, 'kubeadm-init');
    await under(worker, 'kubeadm-join');
    const ran = ok(await running.ended);
    console.log(`up with three restarts: ${ran.seconds.toFixed(0)} s`);
    const noticed = eventsOf(ran).flatMap((event) =>
      event.kind === 'settling' && event.summary.includes('was restarted meanwhile') ? [event.phase] : [],
    );
    expect(noticed).toContain('init');
    expect(noticed).toContain('join');
    expect(noticed).toHaveLength(3);
    expect(await nodes(cp)).toEqual({ [cp]: true, [worker]: true });
    unchanged(await kbuild(...args));
  },
);

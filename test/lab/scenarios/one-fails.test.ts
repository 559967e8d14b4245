/** A worker that fails: the others are finished, and the next run touches it alone. One whose runtime is late joins all the same. */
import { join } from 'node:path';
import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { paths } from '../../../src/paths.ts';
import { fresh } from '../fresh.ts';
import { eventsOf, kbuild, PROGRAM, type Ran } from '../kbuild.ts';
import type { LabInventory } from '../inventory.ts';
import * as lab from '../lab.ts';
import { unchanged } from '../ok.ts';
import { nodes } from '../pods.ts';
import { attempt } from '../run.ts';

const HOSTS = ['ofcp1', 'ofw1', 'ofw2'];
const [cp, w1, w2] = HOSTS as [string, string, string];
let args: readonly string[];
let file: string;
let state: string;

const inside = async (host: string, command: string): Promise<string> => {
  const ran = await lab.inside(host, command);
  expect(ran.code, `${host}: ${command}: ${ran.stderr}`).toBe(0);
  return ran.stdout.trim();
};
const up = (...flags: readonly string[]): Promise<Ran> => kbuild(...args, ...flags);

beforeAll(async () => {
  const quick = (plain: LabInventory) => {
    const kubeadm = plain['kubeadm'] as { readonly join: object };
    return { kubeadm: { ...kubeadm, join: { ...kubeadm.join, timeouts: { kubeletHealthCheck: '20s' } } } };
  };
  ({ file, state, up: args } = await fresh('one-fails', HOSTS, quick));
});

afterAll(() => lab.down(HOSTS));

/**
 * A kubeadm that finds a runtime which does not answer, the first time that it joins. It leaves what it saw in /run/late. A thread that waits
 * for a slow disk stops only afterwards, and the others may go on until then.
 */
const WITH_LATE_RUNTIME = `#!/bin/sh
if [ "$1" != join ] || [ -e /run/late ]; then exec /usr/bin/kubeadm "$@"; fi
pkill -STOP -x containerd
while grep -L "^State:.T" /proc/$(pgrep -x containerd)/task/*/status | grep -q .; do sleep 0.1; done
status=0
/usr/bin/kubeadm "$@" 2>/run/late || status=$?
pkill -CONT -x containerd
cat /run/late >&2
exit $status
`;

test('a worker that fails leaves the run, the others are finished by the same command', async () => {
  const broken = '/run/systemd/system/kubelet.service.d/99-broken.conf';
  await inside(
    w2,
    `mkdir -p $(dirname ${broken}); printf '[Service]\\nExecStartPre=/bin/false\\n' >${broken}; systemctl daemon-reload`,
  );
  await inside(w1, `printf %s '${WITH_LATE_RUNTIME}' >/usr/local/bin/kubeadm; chmod 755 /usr/local/bin/kubeadm`);
  // Asked before the cluster is built, not after.
  const misplaced = await up('--kubeconfig', '/proc/nowhere/admin.conf');
  expect(misplaced.code, misplaced.stderr).toBe(2);
  expect(misplaced.stderr).toContain('the kubeconfig cannot be written: there is no such file or folder');
  const ran = await up('--json');
  expect(ran.code, ran.stderr).toBe(4);
  expect(ran.stderr).toMatch(/the end of the log of kubelet/);
  expect(await inside(w1, 'cat /run/late')).toContain('DeadlineExceeded');
  expect(eventsOf(ran)).toContainEqual(
    expect.objectContaining({
      kind: 'job-waits',
      host: w1,
      summary: expect.stringMatching(/^the container runtime does not answer within 2 s/) as string,
    }),
  );
  await inside(w1, 'rm /usr/local/bin/kubeadm');
  expect(await nodes(cp)).toMatchObject({ [cp]: true, [w1]: true });
  await inside(w2, `rm ${broken}; systemctl daemon-reload`);
});

test('after the repair, the same command changes only that worker, though no process reads its output', async () => {
  const log = join(state, 'last.log');
  const line = '"$@" --json | head -n 1 >/dev/null; exit ${PIPESTATUS[0]}';
  const { code } = await attempt('bash', ['-c', line, 'bash', process.execPath, PROGRAM, ...args, '--log-file', log]);
  const said = readFileSync(log, 'utf8');
  expect(code, said.slice(-2000)).toBe(0);
  const touched = eventsOf({ stdout: said }).flatMap((event) => (event.kind === 'changed' ? [event.host] : []));
  expect(new Set(touched)).toEqual(new Set([w2]));
  expect(await nodes(cp)).toEqual({ [cp]: true, [w1]: true, [w2]: true });
  unchanged(await up());
});

test('a worker on which kbuild may not become root is left out, and kbuild does not need its lock', async () => {
  await inside(w2, "echo 'ops ALL=(ALL:ALL) ALL' >/etc/sudoers.d/ops");
  await inside(w1, `rm ${paths.modulesLoad}`);
  const refused = parse(readFileSync(file, 'utf8')) as LabInventory;
  const hosts = refused.hosts.map((host) =>
    host.name === w2 ? { ...host, ssh: { user: 'ops', sudoPassword: 'env:WRONG_PASSWORD' } } : host,
  );
  writeFileSync(file, stringify({ ...refused, hosts }, { aliasDuplicateObjects: false }));
  process.env['WRONG_PASSWORD'] = 'not-it';
  const ran = await up();
  expect(ran.code, ran.stderr).toBe(3);
  expect(ran.stderr).toContain('does not accept the password; it was tried once');
  expect((await lab.inside(w1, `test -e ${paths.modulesLoad}`)).code).toBe(0);
  const attempts = () => inside(w2, "journalctl -q _COMM=sudo | grep -c 'authentication failure' || :");
  await expect.poll(attempts, { timeout: 10_000 }).toBe('1');
});

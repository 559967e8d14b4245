/** Hooks around a restart: one that fails keeps its node from being drained; those that pass see the node before and after. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { fresh } from '../fresh.ts';
import { kbuild, start } from '../kbuild.ts';
import * as lab from '../lab.ts';
import { ok } from '../ok.ts';
import { kubectl } from '../pods.ts';
import { waitUntil } from '../wait-until.ts';

const HOSTS = ['hkcp1', 'hkw1'];
const [cp, w] = HOSTS as [string, string];
let args: readonly string[];
let file: string;
let folder: string;

const told = (): readonly string[] => {
  const path = join(folder, 'told');
  return existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : [];
};
const tell = (text: string) => `echo "$KBUILD_HOOK $KBUILD_ACTION ${text}" >> ${join(folder, 'told')}`;

function edit(hooks: object): void {
  const plain = parse(readFileSync(file, 'utf8')) as object;
  writeFileSync(file, stringify({ ...plain, hooks }, { aliasDuplicateObjects: false }));
  writeFileSync(join(folder, 'told'), '');
}

const node = async () =>
  JSON.parse(await kubectl(cp, `get node ${w} -o json`)) as {
    readonly spec: { readonly unschedulable?: boolean };
    readonly metadata: { readonly annotations: Readonly<Record<string, string>> };
  };
const bootId = async () => (await lab.inside(w, 'cat /proc/sys/kernel/random/boot_id')).stdout;

beforeAll(async () => {
  ({ up: args, file, folder } = await fresh('hooks', HOSTS));
  edit({
    beforeChange: [{ command: tell('$KBUILD_HOST $KBUILD_ROLE') }],
    afterRun: [{ command: tell('$KBUILD_EXIT') }],
  });
  ok(await kbuild(...args));
});

afterAll(() => lab.down(HOSTS));

test('a build calls the hook before the first change of each host, once, and the one after the run', () => {
  expect([...told()].sort()).toEqual([
    'afterRun up 0',
    `beforeChange up ${cp} control-plane`,
    `beforeChange up ${w} worker`,
  ]);
});

test('a hook on the host that fails: the node is neither cordoned nor restarted, and the message has its last words', async () => {
  edit({
    beforeDrain: [{ on: 'host', command: 'echo "OSD on $KBUILD_HOST is not safe to stop" >&2; exit 1' }],
    afterRun: [{ command: tell('$KBUILD_EXIT') }],
  });
  const before = await bootId();
  const ran = await kbuild('reboot', w, '--all', '-i', file, '--yes');
  console.log(ran.stderr);
  expect(ran.code).toBe(4);
  expect(ran.stderr).toContain(`OSD on ${w} is not safe to stop`);
  expect((await node()).spec.unschedulable).toBeUndefined();
  expect(await bootId()).toBe(before);
  expect(told()).toEqual(['afterRun reboot 4']);
});

test('hooks that pass see the node before its drain and after; killed in the hook after it, the next run calls that again', async () => {
  edit({
    beforeDrain: [{ command: tell('$KBUILD_HOST') }],
    afterUncordon: [{ command: `${tell('$KBUILD_HOST')}; test -e ${join(folder, 'go')} || sleep 600` }],
  });
  const before = await bootId();
  const running = start(['reboot', w, '--all', '-i', file, '--yes']);
  await waitUntil('the hook after the drain', 300_000, () => told().some((line) => line.startsWith('afterUncordon')));
  running.kill('SIGKILL');
  await running.ended;
  expect(await bootId()).not.toBe(before);
  expect((await node()).spec.unschedulable).toBeUndefined();
  const after = await bootId();
  writeFileSync(join(folder, 'go'), '');
  const again = ok(await kbuild('reboot', w, '--all', '-i', file, '--yes'));
  console.log(again.stderr);
  expect(told()).toEqual([`beforeDrain reboot ${w}`, `afterUncordon reboot ${w}`, `afterUncordon reboot ${w}`]);
  expect(await bootId()).toBe(after);
  expect(
    Object.keys((await node()).metadata.annotations).filter((name) => name.startsWith('kbuild.dev/')),
  ).not.toContain('kbuild.dev/cordoned');
});

// @module-tag linux
// @module-tag script
/** What a terminal shows of a run: asked of a terminal (xterm), not of the bytes that it got. */
import { fileURLToPath } from 'node:url';
import xterm from '@xterm/headless';
import { describe, expect, test } from 'vitest';
import { onTerminal, type Size } from '../lab/pseudo-terminal.ts';

const RUN = fileURLToPath(new URL('drawn-run.ts', import.meta.url));
const FLEET = fileURLToPath(new URL('drawn-fleet.ts', import.meta.url));
const COLOURS = /\u001B\[[\d;]*3\d[\d;]*m/;

async function drawn(size: Size, env: Readonly<Record<string, string>> = {}, ...flags: readonly string[]) {
  return drawnBy(RUN, size, env, ...flags);
}

async function drawnBy(
  program: string,
  size: Size,
  env: Readonly<Record<string, string>>,
  ...flags: readonly string[]
) {
  const { shown, ended } = onTerminal([process.execPath, '--import', 'tsx', program, ...flags], env, size);
  expect(await ended, shown()).toBe(0);
  const terminal = new xterm.Terminal({ cols: size.columns, rows: size.rows, allowProposedApi: true });
  const bytes = shown();
  await new Promise<void>((resolve) => terminal.write(bytes, resolve));
  const { active } = terminal.buffer;
  const screen = Array.from({ length: active.length }, (_, i) => active.getLine(i)?.translateToString(true) ?? '');
  return { bytes, screen: screen.filter((line) => line !== '') };
}

test('forty columns: long lines are cut, and every drawing takes the place of the one before', async () => {
  const { bytes, screen } = await drawn({ columns: 40, rows: 24 });
  expect(screen).toEqual(['✔ Install the packages kubelet, kubead…', '✔ Join the workers: 2 hosts, 2 changes…']);
  expect(bytes).toMatch(/worker-one: lock held by apt-get \(…/);
  expect(bytes).toMatch(/worker-two: packages: a change tha…/);
  expect(bytes).toMatch(COLOURS);
});

test.each([
  ['NO_COLOR', { NO_COLOR: '1' }, []],
  ['--no-color', {}, ['--no-color']],
] as const)('%s: the same without colours', async (_, env, flags) => {
  const { bytes, screen } = await drawn({ columns: 80, rows: 24 }, env, ...flags);
  expect(screen).toEqual([
    expect.stringMatching(/^✔ Install the packages kubelet, kubeadm and kubectl: 2 hosts, 2 changes, \d/) as string,
    expect.stringMatching(/^✔ Join the workers: 2 hosts, 2 changes, \d/) as string,
  ]);
  expect(bytes).not.toMatch(COLOURS);
});

describe('a fleet of 200 hosts with a finding on each, on 30 lines', () => {
  const head = [
    '! warning time-sync: w1 … w200 (200 hosts): runs no time service',
    '    → install chrony',
    'ignored: disk-sync (200 hosts)',
    'Join workers',
    '  w1 … w200 (200 hosts): join HOST to k8s.example:6443 as a worker',
    '200 changes on 200 hosts',
  ];

  test('in the middle: what has begun is counted, a few hosts at work are named, what has not begun stands still', async () => {
    const { screen } = await drawnBy(FLEET, { columns: 100, rows: 30 }, { NO_COLOR: '1' }, 'middle');
    expect(screen.slice(0, head.length)).toEqual(head);
    const [init, join, ...rest] = screen.slice(head.length);
    expect(init).toMatch(/^✔ Initialize the cluster: 1 change, \d+ s$/);
    expect(join).toMatch(/^▸ Join workers █{13}░{7} 137 of 200 hosts, \d+ s, 1 failed \(w7\)$/);
    expect(rest.slice(0, 25)).toEqual(
      Array.from(
        { length: 25 },
        (_, i) => expect.stringMatching(`^  ▸ w${String(i + 138)}: join the cluster(?:, \\d+ s)?$`) as string,
      ),
    );
    expect(rest.slice(25)).toEqual(['    and 5 more hosts at work', '◼ Verify nodes']);
  });

  test('at the end: one line a phase, and what failed and what did not begin show it', async () => {
    const { screen } = await drawnBy(FLEET, { columns: 100, rows: 30 }, { NO_COLOR: '1' });
    expect(screen.slice(head.length)).toEqual([
      expect.stringMatching(/^✔ Initialize the cluster: 1 change, \d+ s$/),
      expect.stringMatching(/^✖ Join workers: 200 hosts, 199 changes, \d+ s, 1 failed \(w7\)/),
      '↓ Verify nodes: not begun',
    ]);
  });
});

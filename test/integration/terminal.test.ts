/** What a terminal shows of a run: asked of a terminal (xterm), not of the bytes that it got. */
import { fileURLToPath } from 'node:url';
import xterm from '@xterm/headless';
import { expect, test } from 'vitest';
import { onTerminal, type Size } from '../lab/pseudo-terminal.ts';

const RUN = fileURLToPath(new URL('drawn-run.ts', import.meta.url));
const COLOURS = /\u001B\[[\d;]*3\d[\d;]*m/;

async function drawn(size: Size, env: Readonly<Record<string, string>> = {}, ...flags: readonly string[]) {
  const { shown, ended } = onTerminal([process.execPath, '--import', 'tsx', RUN, ...flags], env, size);
  expect(await ended, shown()).toBe(0);
  const terminal = new xterm.Terminal({ cols: size.columns, rows: size.rows, allowProposedApi: true });
  const bytes = shown();
  await new Promise<void>((resolve) => terminal.write(bytes, resolve));
  const { active } = terminal.buffer;
  const screen = Array.from({ length: active.length }, (_, i) => active.getLine(i)?.translateToString(true) ?? '');
  return { bytes, screen: screen.filter((line) => line !== '') };
}

test('forty columns: long lines are broken, and every drawing takes the place of the one before', async () => {
  const { bytes, screen } = await drawn({ columns: 40, rows: 24 });
  expect(screen).toEqual(['✔ Install the packages kubelet,', '  kubeadm and kubectl', '✔ Join the workers']);
  expect(bytes).toMatch(/worker-one: waiting:\s/);
  expect(bytes).toMatch(/worker-two: packages: a/);
  expect(bytes).toMatch(COLOURS);
});

test.each([
  ['NO_COLOR', { NO_COLOR: '1' }, []],
  ['--no-color', {}, ['--no-color']],
] as const)('%s: the same without colours', async (_, env, flags) => {
  const { bytes, screen } = await drawn({ columns: 80, rows: 24 }, env, ...flags);
  expect(screen).toEqual(['✔ Install the packages kubelet, kubeadm and kubectl', '✔ Join the workers']);
  expect(bytes).not.toMatch(COLOURS);
});

// @module-tag python3
import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import { measure } from './measure.ts';

const BUSY = 'i=0; while [ $i -lt 150000 ]; do i=$((i + 1)); done';

test('a measurement counts the program with its children, and nothing that ran on the way to it', async () => {
  const cpu = async (enter: string, command: string): Promise<number> =>
    (await measure({ folder: tmpdir(), enter: ['sh', '-c', enter, 'sh'] }, 'a program', 0, ['sh', '-c', command])).cpu;
  const busy = await cpu('exec "$@"', `(${BUSY}); true`);
  expect(await cpu(`(${BUSY}); exec "$@"`, 'true')).toBeLessThan(busy / 4);
});

import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runKubectl } from '../../src/commands/kubectl.ts';
import { quietContext } from './quiet-context.ts';

const run = (args: readonly string[], path = ''): Promise<number> =>
  runKubectl(quietContext({ env: { PATH: path } }).context, {}, args);

describe('kbuild kubectl, before a host is contacted', () => {
  test.each([['--kubeconfig', 'other'], ['--server=https://other'], ['get', 'pods', '-s', 'x'], ['--context=a']])(
    'refuses %s %s: it leads elsewhere',
    async (...args) => {
      await expect(run(args)).rejects.toMatchObject({
        exitCode: 2,
        message: expect.stringContaining('leads kubectl elsewhere') as string,
      });
    },
  );

  test('leaves what stands behind -- to the program in the pod', async () => {
    await expect(run(['exec', 'web-0', '--', 'tool', '--server=x'])).rejects.toThrow('kubectl is not on this machine');
  });

  test('says that kubectl is missing: a folder and a file that cannot be run are none', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'kubectl-'));
    mkdirSync(join(folder, 'a/kubectl'), { recursive: true });
    mkdirSync(join(folder, 'b'));
    writeFileSync(join(folder, 'b/kubectl'), '');
    chmodSync(join(folder, 'b/kubectl'), 0o644);
    await expect(run(['get', 'pods'], `${folder}/a:${folder}/b`)).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringContaining('kubectl is not on this machine') as string,
      remedy: expect.stringContaining('PATH') as string,
    });
  });
});

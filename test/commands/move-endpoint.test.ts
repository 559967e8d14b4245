import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runMoveEndpoint } from '../../src/commands/move-endpoint.ts';
import { UsageError } from '../../src/errors.ts';
import { quietContext } from './quiet-context.ts';

test.each<readonly [string, string]>([
  ['10.0.0.9:6443', 'the command line says 10.0.0.9:6443, and the endpoint of the inventory is k8s.example.com:6443'],
  ...['k8s.example.com', 'abc', ':6443', 'https://k8s.example.com:6443', ''].map(
    (operand) => [operand, `"${operand}" is no endpoint`] as const,
  ),
])(
  'move-endpoint refuses the operand "%s", which is not the endpoint of the inventory, before it contacts a host or writes a log',
  async (operand, message) => {
    const folder = mkdtempSync(join(tmpdir(), 'kbuild-move-'));
    try {
      writeFileSync(
        join(folder, 'inventory.yaml'),
        `name: prod
kubernetes: { version: "1.36.3", endpoint: k8s.example.com:6443 }
hosts: [{ name: cp1, address: 192.0.2.1, role: control-plane }]
`,
      );
      const logFile = join(folder, 'run.log');
      const { context, err } = quietContext({ cwd: folder, env: { HOME: folder } });
      const moved = runMoveEndpoint(context, { logFile }, [operand]);
      await expect(moved).rejects.toThrow(UsageError);
      await expect(moved).rejects.toThrow(message);
      expect(err()).not.toContain('connect');
      expect(existsSync(logFile)).toBe(false);
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
);

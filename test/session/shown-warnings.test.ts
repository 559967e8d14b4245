import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { warningsText } from '../../src/session/inventory.ts';

let home: string;
beforeEach(() => (home = mkdtempSync(join(tmpdir(), 'kbuild-warnings-'))));
afterEach(() => rmSync(home, { recursive: true }));

const warning = (line: number, message: string) => ({ at: `prod.yaml:${String(line)}:3`, path: 'hosts', message });
const shown = (cluster: string, ...warnings: readonly ReturnType<typeof warning>[]): string =>
  warningsText({ env: { HOME: home } }, cluster, 'prod.yaml', warnings);

test('warnings are shown in full once, and then by count and name, until they change', () => {
  const [one, two] = [warning(2, 'an even number'), warning(4, 'unused')];
  expect(shown('prod')).toBe('');
  expect(shown('prod', one)).toBe('warning: prod.yaml:2:3: hosts: an even number\n');
  // Another line of the file says the same.
  expect(shown('prod', warning(7, 'an even number'))).toBe(
    'warning: 1 warning as before (hosts): `kbuild validate prod.yaml` shows it\n',
  );
  expect(shown('prod', one, two).split('\n')).toHaveLength(3);
  expect(shown('prod', one, two)).toBe(
    'warning: 2 warnings as before (hosts): `kbuild validate prod.yaml` shows them\n',
  );
  expect(shown('other', one)).toContain('an even number');
});

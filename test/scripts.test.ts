import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../', import.meta.url));
const scripts = readdirSync(`${root}templates`, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.sh'))
  .toSorted();

/** Variables of the shell and of systemd, and those that a script sets itself. */
function known(text: string): ReadonlySet<string> {
  const own = [...text.matchAll(/(?:^|[\s;])([A-Z][A-Z_]+)=/gm)].map(([, name]) => name!);
  return new Set(['PATH', 'IFS', 'INVOCATION_ID', ...own]);
}

describe.each(scripts)('%s', (name) => {
  const text = readFileSync(`${root}templates/${name}`, 'utf8');

  test.each(['sh', 'dash', 'bash'])('is understood by %s', (shell) => {
    expect(() => execFileSync(shell, ['-n', `${root}templates/${name}`], { stdio: 'pipe' })).not.toThrow();
  });

  test('says in its head what it does, and what its parameters are', () => {
    const head = /^(?:#.*\n)+/.exec(text)?.[0] ?? '';
    expect(head.length).toBeGreaterThan(30);
    const parameters = [...text.matchAll(/\$\{?([A-Z][A-Z_]+)\b/g)].map(([, one]) => one!);
    expect(parameters.filter((one) => !known(text).has(one) && !head.includes(one))).toEqual([]);
  });
});

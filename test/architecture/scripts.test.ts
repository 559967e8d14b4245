import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import { pathOf } from '../needs/table.ts';
import { filesIn } from '../tools/files-in.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const scripts = filesIn('templates', '.sh');

/** Variables of the shell and of systemd, and those that a script sets itself. */
function known(text: string): ReadonlySet<string> {
  const own = [...text.matchAll(/(?:^|[\s;])([A-Z][A-Z_]+)=/gm)].map(([, name]) => name!);
  return new Set(['PATH', 'IFS', 'INVOCATION_ID', ...own]);
}

const SHELLS = [
  { shell: 'sh', tags: [] },
  { shell: 'dash', tags: ['dash'] },
  { shell: 'bash', tags: ['bash'] },
] as const;

/** Reads all scripts in one process of a shell, because starting a process from here costs more than reading a script. */
const READ_ALL =
  'for name; do said=$("$SHELL_UNDER_TEST" -n "$name" 2>&1) || printf "%s\\n%s\\0" "$name" "$said"; done';

const complaintsOf = new Map<string, ReadonlyMap<string, string>>();

/** What a shell has against a script; undefined: nothing. */
function complaint(shell: 'sh' | 'dash' | 'bash', name: string): string | undefined {
  let known = complaintsOf.get(shell);
  if (known === undefined) {
    known = complaints(
      shell,
      scripts.map((one) => `${root}templates/${one}`),
    );
    complaintsOf.set(shell, known);
  }
  return known.get(`${root}templates/${name}`);
}

function complaints(shell: 'sh' | 'dash' | 'bash', files: readonly string[]): ReadonlyMap<string, string> {
  const program = shell === 'sh' ? '/bin/sh' : pathOf(shell);
  const { status, stdout, stderr } = spawnSync('/bin/sh', ['-c', READ_ALL, 'sh', ...files], {
    encoding: 'utf8',
    env: { ...process.env, SHELL_UNDER_TEST: program },
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  const answers = stdout.split('\0').slice(0, -1);
  return new Map(answers.map((answer) => answer.split(/\n(.*)/s) as [string, string]));
}

test('a script that a shell cannot read would be seen', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kbuild-scripts-'));
  writeFileSync(join(folder, 'good'), 'echo a\n');
  writeFileSync(join(folder, 'bad'), 'if true; then\n');
  const found = complaints('sh', [join(folder, 'good'), join(folder, 'bad')]);
  rmSync(folder, { recursive: true });
  expect([...found.keys()]).toEqual([join(folder, 'bad')]);
  expect(found.get(join(folder, 'bad'))).toMatch(/syntax error/i);
});

describe.each(scripts)('%s', (name) => {
  const text = readFileSync(`${root}templates/${name}`, 'utf8');

  for (const { shell, tags } of SHELLS)
    test(`is understood by ${shell}`, { tags: [...tags] }, () => {
      expect(complaint(shell, name)).toBeUndefined();
    });

  // That of uutils, which Ubuntu 26.04 has, replaces a link in the path by a folder (uutils/coreutils#11469).
  // uutils 0.0.30 says "invalid format" (seen in the lab on Debian 13 dressed as Ubuntu 26.04).
  test('cuts no fraction of a second with date', () => expect(text).not.toMatch(/\bdate\b[^\n]*%\dN/));

  test('makes no folders with install -D', () => expect(text).not.toMatch(/^[^#\n]*\binstall -\w*D/m));

  test('says in its head what it does, and what its parameters are', () => {
    const head = /^(?:#.*\n)+/.exec(text)?.[0] ?? '';
    expect(head.length).toBeGreaterThan(30);
    const parameters = [...text.matchAll(/\$\{?([A-Z][A-Z_]+)\b/g)].map(([, one]) => one!);
    expect(parameters.filter((one) => !known(text).has(one) && !head.includes(one))).toEqual([]);
  });
});

/** Places of the `sh` templates in a source file that span three lines or more. */
function longScripts(file: string): readonly string[] {
  const text = readFileSync(`${root}src/${file}`, 'utf8');
  if (!/\bsh`[^`]*\n[^`]*\n/.test(text)) return [];
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const lineOf = (position: number): number => source.getLineAndCharacterOfPosition(position).line;
  const within = (node: ts.Node): readonly string[] => {
    const inner: string[] = [];
    ts.forEachChild(node, (child) => void inner.push(...within(child)));
    if (!ts.isTaggedTemplateExpression(node) || node.tag.getText() !== 'sh') return inner;
    const first = lineOf(node.getStart());
    return lineOf(node.end) - first < 2 ? inner : [`${file}:${String(first + 1)}`, ...inner];
  };
  return within(source);
}

test('a shell script of three lines or more is a file of templates/, where shellcheck reads it', () => {
  const files = filesIn('src', '.ts');
  expect(files.flatMap(longScripts)).toEqual([]);
});

test('no comment and no message of a script is wider than 120 columns', () => {
  // Hosts and pods of live clusters have these as they are: another comment would restart what runs them.
  const installed = (name: string) => name === 'host/kbuild-firewall.sh' || name.startsWith('windows/pods/');
  const all = ['.sh', '.ps1'].flatMap((ending) => filesIn('templates', ending));
  const scripts = all.filter((name) => !installed(name));
  const wide = scripts.flatMap((name) =>
    readFileSync(new URL(`../../templates/${name}`, import.meta.url), 'utf8')
      .split('\n')
      .filter((line) => /^\s*(?:#|echo ")/.test(line) && line.length > 120)
      .map((line) => `${name}: ${line}`),
  );
  expect(wide).toEqual([]);
});

import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
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

  // That of uutils, which Ubuntu 26.04 has, replaces a link in the path by a folder (uutils/coreutils#11469).
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
  const files = readdirSync(`${root}src`, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
  expect(files.flatMap(longScripts)).toEqual([]);
});

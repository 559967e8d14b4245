import { beforeAll, describe, expect, test } from 'vitest';
import type { Node } from 'web-tree-sitter';
import known from './cmdlets.json' with { type: 'json' };
import { codeOf, nodesOf, powershellParser, problemsOf, scriptNames, scriptText } from './grammar.ts';

/** What is sent before every script, and what calls it: no scripts of their own. */
const FRAME = ['bootstrap.ps1', 'common.ps1'];

/** Cmdlets that scripts may call: cmdlets.test.ts holds their parameters against the same fixture. */
const CMDLETS: readonly string[] = [known, ...Object.values(known.servers)].flatMap(({ cmdlets }) =>
  Object.keys(cmdlets),
);

const lower = (words: Iterable<string>): ReadonlySet<string> => new Set([...words].map((word) => word.toLowerCase()));
const allowed = lower(CMDLETS);

let parse: (text: string) => Node;
let common: ReadonlySet<string>;

const functionsOf = (tree: Node): ReadonlySet<string> => lower(nodesOf(tree, 'function_name').map(({ text }) => text));

beforeAll(async () => {
  parse = await powershellParser();
  common = functionsOf(parse(scriptText('common.ps1')));
});

describe.each(scriptNames)('%s', (name) => {
  const text = scriptText(name);

  test('is what the grammar of PowerShell knows', () => expect(problemsOf(parse(text))).toEqual([]));

  test('is ASCII: curly quotes and dashes are syntax', () => expect(/[^\n\x20-\x7e]/.exec(text)).toBeNull());

  test('says in its head what it does', () => expect(text).toMatch(/^# .{15,}/));

  test('uses nothing that Windows PowerShell 5.1 lacks, and no line continuation', () => {
    const code = codeOf(text, parse(text));
    for (const [what, pattern] of Object.entries({
      'chains of commands': /&&|\|\|/,
      'null operators': /\?\?|\?\.|\?\[/,
      'the ternary operator': /\s\?\s[^{]/,
      parallelism: /-Parallel\b/i,
      'a line continuation': /`\s*$/m,
      'COM objects': /-ComObject\b/i,
      $input: /\$input\b/i,
    }))
      expect(pattern.exec(code), what).toBeNull();
  });

  test('calls only cmdlets that are known, by their names, and functions of its own or of common.ps1', () => {
    const tree = parse(text);
    const own = functionsOf(tree);
    const called = nodesOf(tree, 'command_name').map((node) => node.text);
    const isKnown = (word: string): boolean => {
      const small = word.toLowerCase();
      return allowed.has(small) || own.has(small) || (name !== 'bootstrap.ps1' && common.has(small));
    };
    expect(called.filter((word) => !isKnown(word))).toEqual([]);
  });

  test('runs no text as code, and programs only by Invoke-Native', () => {
    const tree = parse(text);
    const invoked = nodesOf(tree, 'command')
      .filter((node) => /^[&.]\s/.test(node.text))
      .map((node) => node.text);
    // The bootstrap runs the script, observe.ps1 the probes, Invoke-Native the program, and Find-Existing the look.
    const may: Readonly<Record<string, RegExp>> = {
      'bootstrap.ps1': /^[&.] \$?\(?\$?kb_|^[&.] \(|^[&.] \$kb/,
      'common.ps1': /^& \$(?:Exe @Arguments|Look$)/,
      'observe.ps1': /^& \$block /,
    };
    expect(invoked.filter((one) => !(may[name]?.test(one) ?? false))).toEqual([]);
    expect(/invoke-expression|\biex\b|\[scriptblock\]|invokescript|add-type/i.exec(codeOf(text, tree))).toBeNull();
  });
});

/** Variables that a function reads and has not set itself: its caller may have one of that name. */
const strangersIn = (one: Node): readonly string[] => {
  const { text } = one;
  const own = new Set(
    [...text.matchAll(/\$(\w+)\s*(?:=|\+=|,\s*\[|,\s*\$|\)|\sin\b)/g)].map(([, name]) => name!.toLowerCase()),
  );
  const known = new Set(['_', 'null', 'true', 'false', 'global', 'erroractionpreference', 'matches']);
  return nodesOf(one, 'variable')
    .map((node) => /^[$@](\w+)/.exec(node.text)?.[1]?.toLowerCase() ?? '')
    .filter((name) => name !== '' && !name.startsWith('kb_') && !own.has(name) && !known.has(name));
};

test.each(scriptNames)('%s: functions read nothing that a caller may have set', (name) => {
  const functions = nodesOf(parse(scriptText(name)), 'function_statement');
  expect(functions.flatMap(strangersIn)).toEqual([]);
});

describe.each(scriptNames.filter((name) => !FRAME.includes(name)))('%s', (name) => {
  const text = scriptText(name);

  test('binds its parameters, then is strict and stops at errors', () => {
    const code = text
      .split('\n')
      .filter((line) => !line.startsWith('#'))
      .join('\n');
    expect(code).toMatch(
      /^\[CmdletBinding\(\)\]\nparam\([\s\S]*?\)\nSet-StrictMode -Version Latest\n\$ErrorActionPreference = 'Stop'\n/,
    );
  });

  test('says of every parameter what it is', () => {
    const parameters = nodesOf(parse(text), 'param_block')
      .slice(0, 1)
      .flatMap((block) => nodesOf(block, 'script_parameter').map((one) => /\$(?!true|false)(\w+)/.exec(one.text)?.[1]));
    const head = /^(?:#.*\n)+/.exec(text)?.[0] ?? '';
    expect(parameters.filter((one) => one !== undefined && !new RegExp(`\\b${one}\\b`, 'i').test(head))).toEqual([]);
  });

  test('ends with one result', () => {
    const tree = parse(text);
    const inFunctions = nodesOf(tree, 'function_statement').flatMap((one) => nodesOf(one, 'command'));
    const results = nodesOf(tree, 'command')
      .filter((node) => !inFunctions.some((one) => one.startIndex === node.startIndex))
      .filter((node) => /^Write-Result(?:Line)?\b/.test(node.text));
    // What a job's runner prints is not read; its lock shows how it ended.
    const expected: Readonly<Record<string, number>> = { 'job-run.ps1': 0, 'lock.ps1': 2 };
    expect(results.length).toBe(expected[name] ?? 1);
  });
});

test('a script that breaks a rule is found', () => {
  expect(problemsOf(parse('if ($true) { Write-Result -Value 1'))).not.toEqual([]);
  expect(nodesOf(parse('Get-Thing | iex'), 'command_name').map(({ text }) => text)).toEqual(['Get-Thing', 'iex']);
  const tree = parse('$a = \'x && y\' # || \nGet-Item -Path "$b ?? c"');
  expect(codeOf(tree.text, tree)).not.toMatch(/&&|\|\||\?\?/);
});

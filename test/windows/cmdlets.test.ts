import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Node } from 'web-tree-sitter';
import { callsIn, functionsIn, splattedKeys, type Call } from './calls.ts';
import known from './cmdlets.json' with { type: 'json' };
import { powershellParser, problemsOf, scriptNames, scriptText } from './grammar.ts';

const podFolder = fileURLToPath(new URL('../../templates/windows/pods/', import.meta.url));

/** Every script that Windows runs: those on hosts, and those in pods, which have no common functions. */
const SCRIPTS: readonly (readonly [string, string])[] = [
  ...scriptNames.map((name): readonly [string, string] => [name, scriptText(name)]),
  ...readdirSync(podFolder).map((name): readonly [string, string] => [
    `pods/${name}`,
    readFileSync(podFolder + name, 'utf8'),
  ]),
];

/** What every cmdlet has (about_CommonParameters of Windows PowerShell 5.1). */
const COMMON =
  'Debug ErrorAction ErrorVariable InformationAction InformationVariable OutBuffer OutVariable PipelineVariable Verbose WarningAction WarningVariable'.split(
    ' ',
  );

const CMDLETS: ReadonlyMap<string, readonly string[]> = new Map([
  ...Object.entries(known.cmdlets).map(([name, { parameters }]): [string, readonly string[]] => [
    name,
    [...parameters, ...((known.dynamic.cmdlets as Readonly<Record<string, readonly string[]>>)[name] ?? [])],
  ]),
  ...Object.values(known.servers).flatMap(({ cmdlets }) => Object.entries(cmdlets)),
]);
const spelled = new Map([...CMDLETS.keys()].map((name) => [name.toLowerCase(), name]));

let parse: (text: string) => Node;
let common: ReadonlyMap<string, readonly string[]>;

beforeAll(async () => {
  parse = await powershellParser();
  common = functionsIn(parse(scriptText('common.ps1')));
});

const splattedBy = (text: string, { splatted }: Call): readonly string[] =>
  splatted.flatMap((variable) => {
    const keys = splattedKeys(text, variable);
    return keys.length === 0 ? [`(nothing known of @${variable})`] : keys;
  });

/** The bootstrap must be short: what it may give without a name, and a parameter that it asks for before it uses it. */
const IN_BOOTSTRAP = {
  positions: { 'New-Object': 2, 'Get-Command': 1 },
  asked: ['ConvertFrom-Json -DateKind'],
} as const;

/** What a call does that Windows PowerShell 5.1 would refuse, or that only its leniency lets pass. */
function wrongIn(text: string, call: Call, functions: ReadonlyMap<string, readonly string[]>): readonly string[] {
  const { name, parameters, positional } = call;
  const own = functions.get(name.toLowerCase());
  const cmdlet = spelled.get(name.toLowerCase());
  if (own === undefined && cmdlet === undefined) return [`${name}: no such cmdlet`];
  if (own === undefined && cmdlet !== name) return [`${name}: is spelled ${cmdlet!}`];
  const has = [...(own ?? CMDLETS.get(cmdlet!)!), ...COMMON];
  const given = [...parameters, ...splattedBy(text, call)];
  return [
    ...given.filter((one) => !has.includes(one)).map((one) => `${name} -${one}: no such parameter`),
    ...given.filter((one, i) => given.indexOf(one) < i).map((one) => `${name} -${one}: twice`),
    // Of cmdlets the test need not know which parameter comes first.
    ...positional
      .slice(own === undefined ? 0 : own.length - parameters.length)
      .map((one) => `${name} ${one}: no place`),
  ];
}

const mayInBootstrap = (call: Call, problem: string): boolean =>
  IN_BOOTSTRAP.asked.some((one) => problem.startsWith(one)) ||
  (call.positional.length > 0 &&
    call.positional.length <= ((IN_BOOTSTRAP.positions as Readonly<Record<string, number>>)[call.name] ?? 0));

const wrong = (name: string, text: string): readonly string[] => {
  const tree = parse(text);
  const functions = new Map([...(/^(?:pods\/|bootstrap|job-run)/.test(name) ? [] : common), ...functionsIn(tree)]);
  return callsIn(tree, functions).flatMap((call) =>
    wrongIn(text, call, functions)
      .filter((problem) => name !== 'bootstrap.ps1' || !mayInBootstrap(call, problem))
      .map((problem) => `${name}:${String(call.line)}: ${problem}`),
  );
};

describe('calls of cmdlets', () => {
  test.each(SCRIPTS)('%s: each cmdlet and parameter is one of Windows PowerShell 5.1, spelled out', (name, text) => {
    expect(wrong(name, text)).toEqual([]);
  });

  test.each([
    ["Get-Itme -Path 'x'", 'no such cmdlet'],
    ["get-item -Path 'x'", 'is spelled Get-Item'],
    ["Get-Item -Lit 'x'", 'Get-Item -Lit: no such parameter'],
    ["Get-Item -LiteralPaht 'x'", 'Get-Item -LiteralPaht: no such parameter'],
    ["Get-Item 'x'", "Get-Item 'x': no place"],
    ["Get-Item -Force 'x'", "Get-Item 'x': no place"],
    ["Write-Result -Value 1 'x'", "Write-Result 'x': no place"],
    ["$o = @{ Nam = 'x' }\nNew-Service @o", 'New-Service -Nam: no such parameter'],
    ['New-Service @o', '(nothing known of @o): no such parameter'],
    ["Get-NetRoute -DestinationPrefix 'x' -EA 'Stop'", 'Get-NetRoute -EA: no such parameter'],
  ])('%j is found', (text, problem) => expect(wrong('x.ps1', text).join()).toContain(problem));

  test('docs/windows.md prepares a server in this order: sshd, which makes its folder, then the key, then the rule', () => {
    const docs = readFileSync(fileURLToPath(new URL('../../docs/windows.md', import.meta.url)), 'utf8');
    const [, text = ''] = /```powershell\n([\s\S]*?)```/.exec(docs) ?? [];
    const tree = parse(text);
    expect(problemsOf(tree)).toEqual([]);
    expect(wrong('docs', text).filter((problem) => !problem.includes('icacls.exe'))).toEqual([]);
    expect(callsIn(tree).map(({ name }) => name)).toEqual([
      ...['Get-Service', 'Add-WindowsCapability', 'Set-Service', 'Start-Service', 'Add-Content', 'icacls.exe'],
      ...['Get-NetFirewallRule', 'Set-NetFirewallRule', 'New-NetFirewallRule'],
    ]);
  });

  test('every name of the fixture has a source', () => {
    expect(known.source).toMatch(/PSScriptAnalyzer/);
    for (const { source } of [known.dynamic, ...Object.values(known.servers)]) expect(source).not.toBe('');
  });
});

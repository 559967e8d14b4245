import { readdirSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Node } from 'web-tree-sitter';
import { podScript } from '../../src/templates.ts';
import { codeOf, nodesOf, powershellParser, problemsOf } from './grammar.ts';

const names = readdirSync(new URL('../../templates/windows-pods', import.meta.url)) as `${string}.ps1`[];

/** What Windows PowerShell 5.1 and the modules of Windows Server bring. */
const KNOWN = new Set([
  ...['Set-StrictMode', 'Test-Path', 'New-Item', 'Out-Null', 'Copy-Item', 'Remove-Item', 'Write-Output', 'Get-Date'],
  ...['Where-Object', 'Start-Sleep', 'Get-Content', 'Set-Content', 'ConvertFrom-Json', 'ConvertTo-Json'],
  ...['Get-HnsNetwork', 'Get-HnsEndpoint', 'Get-HnsPolicyList', 'Remove-HnsPolicyList'],
]);

/** Programs that they run, as it stands in the script. */
const PROGRAMS: Readonly<Record<string, readonly RegExp[]>> = {
  'prepare-flannel.ps1': [/^& 'route\.exe' /],
  'kube-proxy.ps1': [
    /^& "\$env:CNI_BIN\\host-local\.exe"/,
    /^& "\$env:CONTAINER_SANDBOX_MOUNT_POINT\\kube-proxy\\kube-proxy\.exe" @arguments/,
  ],
};

let parse: (text: string) => Node;

beforeAll(async () => {
  parse = await powershellParser();
});

describe.each(names)('%s, which runs in pods', (name) => {
  const text = podScript(name);

  test('is what the grammar knows, in ASCII, with its parameters in its head', () => {
    expect(problemsOf(parse(text))).toEqual([]);
    expect(/[^\n\x20-\x7e]/.exec(text)).toBeNull();
    const head = /^(?:#.*\n)+/.exec(text)![0];
    const used = new Set([...text.matchAll(/\$env:([A-Z_]+)/g)].map(([, variable]) => variable!));
    used.delete('CONTAINER_SANDBOX_MOUNT_POINT');
    for (const set of [...used].filter((variable) => !text.includes(`$env:${variable} = `)))
      expect(head).toContain(set);
  });

  test('is strict and stops at errors, and calls what it may', () => {
    const code = text
      .split('\n')
      .filter((line) => !line.startsWith('#'))
      .join('\n');
    expect(code).toMatch(/^Set-StrictMode -Version Latest\n\$ErrorActionPreference = 'Stop'\n/);
    const tree = parse(text);
    expect(
      nodesOf(tree, 'command_name')
        .filter((node) => !KNOWN.has(node.text))
        .map((node) => node.text),
    ).toEqual([]);
    const invoked = nodesOf(tree, 'command').filter((node) => node.text.startsWith('&'));
    expect(invoked.filter((node) => !PROGRAMS[name]!.some((may) => may.test(node.text)))).toEqual([]);
    expect(/&&|\|\||\?\?|\?\.|`\s*$|invoke-expression/im.exec(codeOf(text, tree))).toBeNull();
  });
});

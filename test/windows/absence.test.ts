import { readdirSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Node } from 'web-tree-sitter';
import { podScript } from '../../src/templates.ts';
import { nodesOf, powershellParser, scriptNames, scriptText } from './grammar.ts';

const podScripts = readdirSync(new URL('../../templates/windows/pods', import.meta.url)) as `${string}.ps1`[];

let parse: (text: string) => Node;

beforeAll(async () => {
  parse = await powershellParser();
});

const functionOf = (name: string): string =>
  nodesOf(parse(scriptText('common.ps1')), 'function_statement').find(({ text }) =>
    text.startsWith(`function ${name} `),
  )!.text;

const commandsOf = (name: string): readonly string[] =>
  nodesOf(parse(scriptText(name)), 'command').map(({ text }) => text);

describe('an error of a look at a Windows host is not absence', () => {
  test.each(scriptNames)('%s hides no error', (name) => {
    expect(scriptText(name)).not.toMatch(/-(?:ErrorAction|EA)\s+["']?(?:SilentlyContinue|Ignore|Continue|0)\b/i);
    // Only Invoke-Native may go on after an error: Windows PowerShell makes one of every line on stderr.
    const goesOn = scriptText(name).match(/\$ErrorActionPreference\s*=\s*'(?!Stop')\w+'/g) ?? [];
    expect(goesOn).toEqual(name === 'common.ps1' ? ["$ErrorActionPreference = 'Continue'"] : []);
  });

  test.each(podScripts)('%s in a pod hides no error', (name) => {
    expect(podScript(name)).not.toMatch(/-(?:ErrorAction|EA)\b/i);
    expect(podScript(name).match(/\$ErrorActionPreference\s*=.*/g)).toEqual(["$ErrorActionPreference = 'Stop'"]);
  });

  test('Find-Existing tolerates ObjectNotFound only, and only of a cmdlet that ran', () => {
    const body = functionOf('Find-Existing');
    expect(body).toContain(
      `if ("$($_.CategoryInfo.Category)" -ne 'ObjectNotFound' -or $_.FullyQualifiedErrorId -notlike '*,*') { throw }`,
    );
    expect(body.match(/\bif\b/g)).toHaveLength(1);
  });

  test.each(scriptNames)('%s: each look is one command that stops at an error', (name) => {
    for (const one of commandsOf(name).filter((text) => text.startsWith('Find-Existing')))
      expect(one).toMatch(/^Find-Existing -Look \{ Get-\w+ [^|;{}]*-ErrorAction 'Stop' \}$/);
  });

  // Without Find-Existing these throw where there is nothing.
  test.each([
    ['job-start.ps1', 'Get-ScheduledTask'],
    ['job-wait.ps1', 'Get-ScheduledTask'],
    ['job-forget.ps1', 'Get-ScheduledTask'],
    ['probe-job.ps1', 'Get-ScheduledTask'],
    ['probe-firewall.ps1', 'Get-NetFirewallRule'],
    ['probe-listeners.ps1', 'Get-NetTCPConnection'],
    ['probe-listeners.ps1', 'Get-NetUDPEndpoint'],
    ['probe-listeners.ps1', 'Get-Process'],
    ['probe-network.ps1', 'Get-NetRoute'],
    ['probe-network.ps1', 'Get-NetConnectionProfile'],
    ['gather.ps1', 'Get-WinEvent'],
  ])('%s looks with %s only through Find-Existing', (name, cmdlet) => {
    const text = scriptText(name);
    const looks = text.match(new RegExp(`\\b${cmdlet} -`, 'g'))!;
    expect(text.match(new RegExp(`Find-Existing -Look \\{ ${cmdlet} -`, 'g'))).toHaveLength(looks.length);
  });

  test('a scheduler that fails is asked until the deadline, and then its error is the answer', () => {
    expect(scriptText('job-wait.ps1')).toMatch(
      /\$runs = \$true\n {4}try \{[\s\S]*?\n {4}catch \{\n {8}if \(\(Get-Date\) -ge \$deadline\) \{ throw \}\n {4}\}/,
    );
  });

  test('BitLocker is absent only where Windows has no such namespace or class', () => {
    expect(scriptText('probe-volume.ps1')).toContain(
      `if ($_.FullyQualifiedErrorId -notmatch '^HRESULT 0x(8004100e|80041010)') { throw }`,
    );
  });
});

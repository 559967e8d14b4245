import { describe, expect, test } from 'vitest';
import { CommandError } from '../../src/errors.ts';
import { masker, maskError } from '../../src/report/mask.ts';
import { readable } from '../../src/ssh/windows-exchange.ts';
import { codeOf, nodesOf, powershellParser, scriptText } from './grammar.ts';

const TOKEN = 'abcdef.0123456789abcdef';
const SAID = `[preflight] kubeadm join k8s.example:6443 --token ${TOKEN} is done`;

describe('a token in the output of kubeadm on a Windows host', () => {
  test('does not stand in the log, although its script encodes what kubeadm said', () => {
    const encoded = Buffer.from(JSON.stringify({ output: [SAID] })).toString('base64');
    const logged = masker().value(readable({ stdout: `\nKBUILD-BEGUN\n\nKBUILD-RESULT:${encoded}\n`, stderr: SAID }));
    expect(JSON.stringify(logged)).toContain('[preflight] kubeadm join k8s.example:6443 --token (secret) is done');
    for (const text of Object.values(logged)) {
      expect(text).not.toContain(TOKEN);
      expect(text).not.toContain(encoded);
    }
  });

  test('does not stand in an error', () => {
    const error = new CommandError('win1', 'kubeadm join', { status: 1, stdout: '', stderr: SAID });
    expect(maskError(error, masker()).message).not.toContain(TOKEN);
  });
});

/** The body of a function of common.ps1. */
async function functionOf(name: string): Promise<string> {
  const parse = await powershellParser();
  const found = nodesOf(parse(scriptText('common.ps1')), 'function_statement').find(({ text }) =>
    text.startsWith(`function ${name} `),
  );
  return found!.text;
}

describe('a private folder', () => {
  test('gets its access rules also if it is there already: they do not stand in a branch', async () => {
    const body = await functionOf('New-PrivateFolder');
    expect(body).toMatch(/\n {4}Invoke-Native -Exe 'icacls\.exe' -Arguments @\(\$Path, '\/inheritance:r'/);
    expect(body).not.toMatch(/\breturn\b/);
  });

  test('is refused where an account that is neither SYSTEM nor an administrator keeps a rule', async () => {
    expect(await functionOf('New-PrivateFolder')).toMatch(
      /Get-AllowedSids[\s\S]*'\/remove'[\s\S]*Get-AllowedSids[\s\S]*throw/,
    );
  });

  test.each(['incoming-folder.ps1', 'lock.ps1', 'job-start.ps1'])(
    'is made before anything is put there: %s',
    (name) => {
      const text = scriptText(name);
      const made = text.indexOf('New-PrivateFolder');
      expect(made).toBeGreaterThan(0);
      for (const writes of ['Write-Utf8', 'Open-LockFile', 'New-Item'])
        expect(text.includes(writes) ? text.indexOf(writes) : Infinity, writes).toBeGreaterThan(made);
    },
  );
});

describe('the process that holds a lock', () => {
  test('is the only one that is ended: a powershell.exe with that number, above 0, and that time of its start', async () => {
    const body = await functionOf('Stop-LockHolder');
    expect(body).toContain('if ($Other.process -le 0) { return }');
    expect(body).toContain("Get-Process -Name 'powershell'");
    expect(body).toMatch(/\$process\.StartTime\) -eq \$Other\.started\) \{ Stop-Process -InputObject \$process/);
  });

  test.each(['lock.ps1', 'lock-holder.ps1', 'common.ps1'])('%s ends no process by its number alone', async (name) => {
    const parse = await powershellParser();
    const text = scriptText(name);
    expect(codeOf(text, parse(text))).not.toMatch(/Stop-Process -Id/);
  });
});

describe('a file that is replaced', () => {
  test('is replaced in one step: Move-Item over a file deletes that first', () => {
    for (const name of ['common.ps1', 'place-file.ps1', 'install-program.ps1']) {
      const moves = scriptText(name).match(/Move-Item[^\n]*-Force/g) ?? [];
      // A folder has no such step.
      expect(
        moves.filter((move) => !move.includes('$item')),
        name,
      ).toEqual([]);
    }
    expect(scriptText('common.ps1')).toContain('[IO.File]::Replace($Source, $Target, [NullString]::Value)');
  });

  test('by a secret gets its access rules before the secret: a replaced file keeps those that it had', () => {
    const text = scriptText('place-file.ps1');
    expect(text.indexOf('Set-PrivateAccess -Path $Target')).toBeLessThan(text.indexOf('Move-FileOver'));
  });
});

import { expect, test } from 'vitest';
import { scriptNames, scriptText } from './grammar.ts';

test.each(['remove-paths.ps1', 'kubeadm.ps1'])('%s does not delete through a link or a mount', (name) => {
  const text = scriptText(name);
  expect(text).toContain('Remove-Tree -Path $path');
  // Remove-Item -Recurse of Windows PowerShell may follow a link and delete its target.
  expect(text).not.toMatch(/Remove-Item[^\n]*-Recurse/);
});

test.each(scriptNames.filter((name) => name !== 'job-run.ps1'))('%s removes no folder but by Remove-Tree', (name) => {
  expect(scriptText(name)).not.toMatch(/Remove-Item[^\n]*-Recurse/);
});

test('a folder is removed by rd, with a path that may be long, and what is left tells', () => {
  const text = scriptText('common.ps1');
  expect(text).toContain("Invoke-Native -Exe 'cmd.exe' -Arguments @('/d', '/c', 'rd', '/s', '/q', \"\\\\?\\$Path\")");
  expect(text).toMatch(/if \(Test-Path -LiteralPath \$Path\) \{ throw "\$Path cannot be removed as a whole/);
});

test.each(scriptNames.filter((name) => name !== 'common.ps1'))(
  '%s orders services by the functions that wait',
  (name) => {
    expect(scriptText(name)).not.toMatch(/\b(?:Start|Stop|Restart)-Service\b/);
  },
);

test('downloads end when they stall, pass revocation lists that are out of reach, and take no proxy by themselves', () => {
  const text = scriptText('install-program.ps1');
  expect(text).toContain("'--speed-limit', '1024', '--speed-time', '60'");
  expect(text).toContain("else { $arguments += @('--noproxy', '*') }");
  expect(text).toContain("$arguments += @('--ssl-revoke-best-effort')");
});

test('support bundles read UTF-8, cut long lines, and have each part that can be had', () => {
  const text = scriptText('gather.ps1');
  const reads = text.match(/Get-Content /g)!;
  expect(text.match(/Get-Content [^\n]*-Encoding 'UTF8'/g)).toHaveLength(reads.length);
  expect(text).toContain('Get-ShortLine -Line');
  expect(text.match(/catch \{ "[^\n]*not to be had: /g)!.length).toBeGreaterThanOrEqual(2);
});

test('an archive is placed file by file: a folder that is moved onto one would land in it', () => {
  const text = scriptText('install-program.ps1');
  expect(text).toContain('Get-ChildItem -LiteralPath $From -Recurse -File -Force');
  expect(text).not.toContain('Move-Item');
});

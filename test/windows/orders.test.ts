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

test('a program that is asked for its version reads nothing, has a deadline of its own, and 4 KB of its answer are kept', () => {
  const text = scriptText('probe-programs.ps1');
  expect(text).toContain('$process.StandardInput.Close()');
  expect(text).toMatch(/if \(-not \$process\.WaitForExit\(\$Limit \* 1000\)\) \{ throw/);
  expect(text).toContain('if (-not $process.HasExited) { $process.Kill() }');
  expect(text).toContain('if ($Text.Length -gt 4096) { return $Text.Substring(0, 4096) }');
  // A program that hangs or breaks is broken; the others are still asked.
  expect(text).toMatch(
    /foreach \(\$program in @\(\$Programs\)\) \{[\s\S]*\btry \{[\s\S]*\} catch \{\n\s+\$state = 'broken'/,
  );
});

test('Defender that is not there is absent, one whose service stands still is off, and only one that runs is asked', () => {
  const text = scriptText('probe-defender.ps1');
  const [absent, off, running, asked] = [
    "$state = 'absent'",
    "$state = 'off'",
    "-eq 'Running'",
    '(Get-MpPreference)',
  ].map((part) => text.indexOf(part));
  expect([absent, off, running, asked]).toEqual([absent, off, running, asked].toSorted((a, b) => a! - b!));
  expect(absent).toBeGreaterThan(0);
});

test('a command line, a parameter and a PATH with %variables% are read as they stand in the registry', () => {
  expect(scriptText('common.ps1')).toContain("GetValue($Name, $null, 'DoNotExpandEnvironmentNames')");
  const services = scriptText('probe-services.ps1');
  expect(services).toContain(`path = "$(Get-RegistryValue -Key $key -Name 'ImagePath')"`);
  expect(services).not.toMatch(/PathName|Get-ItemProperty/);
  expect(scriptText('probe-environment.ps1')).toContain('Get-MachineEnvironment -Name $name');
});

test('a service that runs and has no process is read again, and then is an error', () => {
  const text = scriptText('probe-services.ps1');
  expect(text).toMatch(/if \(\$state -ne 'Running' -or \$startedMs -gt 0\) \{ return/);
  expect(text).toContain('throw "the service $Name runs, and has no process"');
});

test('the route of the note goes, also where it is kept only for the next start', () => {
  const text = scriptText('remove-metadata-route.ps1');
  expect(text).toContain("foreach ($store in @('ActiveStore', 'PersistentStore'))");
  expect(text.indexOf('if (@(Get-Routes).Count -gt 0) { throw')).toBeLessThan(
    text.indexOf('Remove-Item -LiteralPath $Note'),
  );
});

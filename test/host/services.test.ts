// @module-tag linux
/** The state of systemd's units, with a systemctl that a test speaks for. */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { isSwitchedOn, services } from '../../src/host/services.facts.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kbuild-services-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

test('services are asked for by their name with .service, timers by their own', () => {
  const systemctl = join(folder, 'systemctl');
  const block = (active: string, enabled: string): string =>
    `LoadState=loaded\nActiveState=${active}\nUnitFileState=${enabled}\nNeedDaemonReload=no\n`;
  writeFileSync(join(folder, 'states'), `${block('inactive', 'disabled')}\n${block('inactive', 'enabled')}`);
  // Two of them, and the time services, of which this host has none.
  const unknown = '\nLoadState=not-found\nActiveState=inactive\nUnitFileState=\nNeedDaemonReload=no\n';
  writeFileSync(
    systemctl,
    `#!/bin/sh\necho "$*" >${folder}/asked\ncat ${folder}/states\nshift 3\nfor unit; do case $unit in *.service) printf '${unknown}' ;; esac; done\n`,
  );
  chmodSync(systemctl, 0o755);
  const { command, parse } = services(['nm-cloud-setup', 'nm-cloud-setup.timer']);
  const env = { ...process.env, PATH: `${folder}:${process.env['PATH']!}` };
  const { stdout } = spawnSync('sh', ['-eu', '-c', command.script], { encoding: 'utf8', env });
  expect(readFileSync(join(folder, 'asked'), 'utf8')).toContain(
    'show nm-cloud-setup.service nm-cloud-setup.timer chrony.service chronyd.service ',
  );
  const found = parse(stdout, { middleMs: 0 });
  expect(isSwitchedOn(found.get('nm-cloud-setup'))).toBe(false);
  expect(isSwitchedOn(found.get('nm-cloud-setup.timer'))).toBe(true);
});

// @module-tag linux
/** What has chrony read the servers of the inventory, with programs of the host that a test speaks for. */
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { script } from '../../src/templates.ts';

let folder: string;
const at = (name: string): string => join(folder, name);
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kbuild-chrony-'));
  writeFileSync(at('kbuild.sources'), 'server 10.0.0.5 iburst\n');
});
afterEach(() => rmSync(folder, { recursive: true }));

function program(name: string, body: string): void {
  writeFileSync(at(name), `#!/bin/sh\n${body}\n`);
  chmodSync(at(name), 0o755);
}

/** Runs the script on a host whose chrony prints this configuration. */
function run(printed: string, more: Readonly<Record<string, string | readonly string[]>> = {}, status = 0) {
  program('chronyd', `cat ${at('printed')}${status === 0 ? '' : ' >&2'}; exit ${String(status)}`);
  program('systemctl', `echo "$*" >>${at('asked')}`);
  program('systemd-tmpfiles', `: >${at('made')}`);
  writeFileSync(at('printed'), printed);
  const command = script('host/time-servers.sh', {
    FILE: at('kbuild.sources'),
    MADE: '',
    PROOF: ['sourcedir /etc/chrony/sources.d'],
    CONFIG: '/etc/chrony/chrony.conf',
    DIRECTIVE: 'sourcedir /etc/chrony/sources.d',
    UNIT: 'chrony',
    ...more,
  });
  const env = { ...process.env, PATH: `${folder}:${process.env['PATH'] ?? ''}` };
  const { status: ended, stderr } = spawnSync('sh', ['-eu', '-c', command.script], { encoding: 'utf8', env });
  const asked = existsSync(at('asked')) ? readFileSync(at('asked'), 'utf8') : '';
  return { ended, stderr, asked, isThere: existsSync(at('kbuild.sources')) };
}

describe('time servers of the inventory', () => {
  test.each([
    'pool 2.debian.pool.ntp.org iburst\nsourcedir /etc/chrony/sources.d\n',
    // An operator's own way of writing it.
    'SourceDir /etc/chrony/sources.d/\n',
  ])('are read by a chrony whose configuration names their folder: %j', (printed) =>
    expect(run(printed)).toEqual({ ended: 0, stderr: '', asked: 'try-restart chrony.service\n', isThere: true }),
  );

  test('go again when no line reads them, and the line is named', () => {
    const { ended, stderr, asked, isThere } = run('pool 2.debian.pool.ntp.org iburst\nsourcedir /run/chrony-dhcp\n');
    expect({ ended, asked, isThere }).toEqual({ ended: 1, asked: '', isThere: false });
    expect(stderr).toMatch(/chrony\.conf does not read .*add to it the line: sourcedir \/etc\/chrony\/sources\.d\n$/);
  });

  test('count as read in an included file only when chrony shows all of them', () => {
    const PROOF = ['server 10.0.0.5 iburst', 'server 10.0.0.6 iburst'];
    expect(run(`${PROOF.join('\n')}\nrtcsync\n`, { PROOF }).ended).toBe(0);
    expect(run(`${PROOF[0]!}\n`, { PROOF })).toMatchObject({ ended: 1, isThere: false });
  });

  test('go again when chrony rejects its configuration, and its words are shown', () => {
    const { ended, stderr, isThere } = run('Fatal error : Invalid directive at line 3\n', {}, 1);
    expect({ ended, isThere }).toEqual({ ended: 1, isThere: false });
    expect(stderr).toMatch(/Invalid directive at line 3\nchronyd rejects its configuration/);
  });

  test('are made in memory where the configuration reads only a folder there, and go from there, too', () => {
    const MADE = at('made');
    expect(run('sourcedir /etc/chrony/sources.d\n', { MADE }).ended).toBe(0);
    expect(existsSync(MADE)).toBe(true);
    expect(run('rtcsync\n', { MADE }).ended).toBe(1);
    expect(existsSync(MADE)).toBe(false);
  });
});

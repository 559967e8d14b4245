// @module-tag linux
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { unready } from '../../../src/cluster/fleet/objects.ts';
import { clusterProbes } from '../../../src/cluster/fleet/probes.ts';
import { cp1, hostOf, inventoryOf } from '../../fakes/cluster.ts';

/** What kubectl 1.36 prints where /readyz fails: one line, in which Go quotes 35. */
const QUOTED = String.raw`Error from server (InternalError): an error on the server ("[+]ping ok\n[+]log ok\n[-]etcd failed: reason withheld\n[-]etcd-readiness failed: reason withheld\n[+]poststarthook/start-apiextensions-informers ok\nreadyz check failed") has prevented the request from succeeding`;

const folder = mkdtempSync(join(tmpdir(), 'kbuild-readyz-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe('why an API server is not ready', () => {
  test('is one line with the checks that failed, quoted or not', () => {
    expect(unready(QUOTED)).toBe('etcd, etcd-readiness failed');
    expect(unready('[+]ping ok\n[-]poststarthook/rbac/bootstrap-roles failed: not finished\nreadyz check failed')).toBe(
      'poststarthook/rbac/bootstrap-roles failed',
    );
    expect(unready('E1122 memcache.go\nThe connection to the server 10.0.0.1:6443 was refused\n')).toBe(
      'The connection to the server 10.0.0.1:6443 was refused',
    );
    expect(unready('')).toBe('');
  });

  test('is read host by host from what the probe prints on the host, with its own shell', () => {
    const kubectl = join(folder, 'kubectl');
    writeFileSync(
      kubectl,
      `#!/bin/sh\ncase "$*" in\n*10.0.0.12*) cat <<'END' >&2\n${QUOTED}\nEND\nexit 1;;\n*10.0.0.13*) echo 'Unable to connect to the server: EOF' >&2; exit 1;;\nesac\nprintf ok\n`,
    );
    chmodSync(kubectl, 0o755);
    const answers = (names: readonly string[]): unknown => {
      const hosts = names.map((name, i) => ({
        ...hostOf({ name, role: 'control-plane' }),
        internalAddress: `10.0.0.1${String(i + 1)}`,
      }));
      const { command, parse } = clusterProbes(inventoryOf({ hosts }), hosts[0]!, []).apiServers;
      const env = { PATH: `${folder}:${process.env['PATH']!}` };
      return parse(spawnSync('sh', ['-c', command.script], { encoding: 'utf8', env }).stdout, { middleMs: 0 });
    };
    expect(answers(['cp1', 'cp2', 'cp3'])).toEqual(
      new Map([
        ['cp2', 'etcd, etcd-readiness failed'],
        ['cp3', 'Unable to connect to the server: EOF'],
      ]),
    );
    // A single control plane is asked too: that it lists nodes does not mean that it is ready.
    expect(answers([cp1.name])).toEqual(new Map([['cp1', 'ok']]));
  });
});

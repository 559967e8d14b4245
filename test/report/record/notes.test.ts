import { describe, expect, test } from 'vitest';
import type { Phase } from '../../../src/engine/step.ts';
import { FactError } from '../../../src/errors.ts';
import {
  certificatesNote,
  clusterNote,
  findingsNote,
  hostsNote,
  planNote,
  portsNote,
  recordHead,
} from '../../../src/report/record/notes.ts';
import { recordHead as headSchema, recordLine } from '../../../src/report/record/read.ts';
import { certificateOf } from '../../fakes/certificate.ts';
import { clusterOf, cp1, fleetOf, freshHost, inventoryOf, nodeOf, w1 } from '../../fakes/cluster.ts';

const time = '2026-11-21T16:50:45.000Z';

/** A note as a reader reads it: every field of it is one that the reader knows. */
function read(note: object): object {
  const line = JSON.parse(JSON.stringify({ time, ...note })) as object;
  const parsed = recordLine.parse(line);
  expect(parsed).toEqual(line);
  return parsed;
}

const inventory = inventoryOf({
  hosts: [cp1, w1],
  loadBalancer: { kind: 'keepalived', address: '10.0.0.100', port: 6443, healthPort: 8404, routerId: 51 },
});

describe('notes of a run are what a reader of records reads', () => {
  test('its first line', () => {
    const run = { time, run: 'r', process: { pid: 1, realm: '' }, command: 'up', kbuild: '0.1.0' };
    const head = recordHead(inventory, run);
    expect(headSchema.parse(JSON.parse(JSON.stringify(head)))).toEqual(head);
    expect(head).toMatchObject({
      loadBalancer: { kind: 'keepalived', address: '10.0.0.100', port: 6443 },
      hosts: [
        { name: 'cp1', role: 'control-plane' },
        { name: 'w1', role: 'worker' },
      ],
    });
    // `removeOldRecords` finds format and process there without reading the rest.
    expect(JSON.stringify(head)).toMatch(/^\{"kind":"run","format":1,"time":.*?,"process":\{"pid":1,"realm":""\}/);
  });

  test('hosts, with what could be read of them', () => {
    const osRelease = { id: 'a', idLike: [], versionId: '1', codename: '', prettyName: 'A Linux 1' };
    const facts = { osRelease, kernel: '6.1.0', arch: 'x86_64' };
    const fleet = fleetOf(freshHost(cp1, facts));
    const error = new FactError('w1', 'login', 'no answer');
    expect(read(hostsNote({ ...fleet, unreachable: [{ host: w1, error }] }))).toMatchObject({
      hosts: [{ host: 'cp1', system: 'A Linux 1', kernel: '6.1.0', architecture: 'x86_64' }],
      unreachable: [{ host: 'w1', message: error.message }],
    });
  });

  test('the cluster that answers', () => {
    const cluster = clusterOf({ nodes: [nodeOf({ name: 'cp1', role: 'control-plane' })] });
    expect(read(clusterNote(inventory, { ...fleetOf(freshHost(cp1)), cluster }))).toMatchObject({
      state: 'up',
      version: cluster.version,
      nodes: [{ name: 'cp1' }],
    });
  });

  test('a cluster that does not answer, and why', () => {
    const fleet = { ...fleetOf(freshHost(cp1)), cluster: { state: 'down', reason: 'connection refused' } as const };
    expect(read(clusterNote(inventory, fleet))).toMatchObject({
      state: 'down',
      reason: 'connection refused',
      nodes: [],
    });
  });

  test('certificates', () => {
    const facts = { nowMs: Date.parse(time), certificates: [certificateOf('apiserver', '2027-11-21T00:00:00.000Z')] };
    expect(read(certificatesNote(inventory, fleetOf(freshHost(cp1, facts))))).toEqual({
      time,
      kind: 'certificates-observed',
      certificates: [{ host: 'cp1', name: 'apiserver', expires: '2027-11-21T00:00:00.000Z', renewedBy: 'kbuild' }],
      unknown: [],
    });
  });

  test('the plan: what is changed, and what is only waited for', () => {
    const place = { phase: 'join', host: 'w1', step: 'join' };
    const phase = { name: 'join', title: 'Join workers', kind: 'linux', hosts: [w1], steps: [] } as Phase;
    const apply = (): Promise<void> => Promise.resolve();
    const restarts = [{ what: 'kubelet', hosts: ['w1'], aboutMs: 10_000 }];
    const changes = [
      { ...place, summary: 'join', change: { summary: 'join', apply, restarts } },
      { ...place, summary: 'wait', change: { summary: 'wait' } },
    ];
    expect(read(planNote(inventory, { phases: [phase], changes }))).toEqual({
      time,
      kind: 'plan',
      phases: [{ name: 'join', title: 'Join workers', hosts: ['w1'] }],
      changes: [{ ...place, summary: 'join' }],
      waits: [{ ...place, summary: 'wait' }],
      restarts: [{ what: 'kubelet', hosts: ['w1'], aboutMs: 10_000, atOnce: 1 }],
    });
  });

  test('findings', () => {
    const finding = { severity: 'warning', check: 'swap', page: 'docs/checks.md#swap', message: 'swap is on' } as const;
    const findings = [finding, { ...finding, host: 'w1', remedy: 'turn it off', ignored: true as const }];
    expect(read(findingsNote(findings))).toEqual({ time, kind: 'findings', findings });
  });

  test('the survey of ports', () => {
    const [to, from] = [cp1, w1];
    const way = { to, port: 6443, protocol: 'tcp', program: 'kube-apiserver', from: [from], free: true } as const;
    const matrix = {
      tried: 1,
      blocked: [{ way, from, how: 'no answer within 10 s' }],
      narrow: [{ from, to, mtu: 1500 }],
      unverified: [way],
      failed: [{ host: from, reason: 'lost' }],
    };
    expect(read(portsNote([way], matrix))).toEqual({
      time,
      kind: 'ports-surveyed',
      ways: [{ to: 'cp1', port: 6443, protocol: 'tcp', program: 'kube-apiserver', from: ['w1'] }],
      blocked: [
        { from: 'w1', to: 'cp1', port: 6443, protocol: 'tcp', program: 'kube-apiserver', how: 'no answer within 10 s' },
      ],
      narrow: [{ from: 'w1', to: 'cp1', mtu: 1500 }],
      unverified: [{ to: 'cp1', port: 6443 }],
      failed: [{ host: 'w1', reason: 'lost' }],
    });
  });

  test('the survey of more ways than a person reads: it says how many are not listed', () => {
    const from = Array.from({ length: 400 }, () => w1);
    const way = { to: cp1, port: 8472, protocol: 'udp', program: 'flannel', from, free: true } as const;
    const ways = Array.from({ length: 400 }, () => way);
    const blocked = Array.from({ length: 10_007 }, () => ({ way, from: w1, how: 'no datagram arrived' }));
    const note = portsNote(ways, { tried: 160_000, blocked, narrow: [], unverified: [], failed: [] });
    expect(note.unlisted).toEqual({ ways: 60_000, blocked: 7 });
    expect(note.ways.length + note.blocked.length).toBe(250 + 10_000);
    read(note);
  });
});

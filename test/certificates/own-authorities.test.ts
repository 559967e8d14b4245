// @module-tag openssl
import { describe, expect, test } from 'vitest';
import { anotherAuthority, anotherSigner, refuseOverwriting } from '../../src/certificates/authority.refusal.ts';
import { rotationReasons } from '../../src/certificates/rotation.refusal.ts';
import { refusedFor } from '../../src/cluster/reasons.ts';
import { etcdAuthority } from '../../src/etcd/authority.step.ts';
import type { OwnAuthorities } from '../../src/inventory/control-plane.ts';
import { Secret } from '../../src/shell/secret.ts';
import { authoritiesWith, madeAuthority } from '../fakes/authorities.ts';
import {
  clusterOf,
  cp1,
  cp2,
  factsOf,
  fleetIn,
  fleetOf,
  freshHost,
  hostOf,
  inventoryOf,
  joinedControlPlane,
  targetOf,
} from '../fakes/cluster.ts';
import { recordingOn } from '../fakes/on.ts';

const ours = madeAuthority('etcd of the user');
const other = madeAuthority('another');
const sign = () => Promise.resolve('');
const withOwn = (own: OwnAuthorities) =>
  inventoryOf({ certificates: { distribution: 'copy', renewBeforeMs: 30 * 86_400_000, ...own } });

/** A cluster whose only control plane has this authority of etcd, and its key or not. */
const living = (authority = ours, key?: string) =>
  fleetIn(clusterOf(), [
    cp1,
    joinedControlPlane({
      authorities: authoritiesWith({
        'etcd-ca': { bundle: [authority], keys: key === undefined ? {} : { current: key } },
      }),
    }),
  ]);

describe("the user's own authority of etcd", () => {
  test("is the cluster's: nothing is refused", () => {
    expect(anotherAuthority(withOwn({ etcdCa: { cert: ours.pem, sign } }), living())).toEqual([]);
    expect(anotherSigner(withOwn({ etcdCa: { cert: ours.pem, sign } }), living())).toEqual([]);
  });

  test("is not the cluster's: the setting is named, with both", () => {
    const [refused] = anotherAuthority(withOwn({ etcdCa: { cert: other.pem, sign } }), living());
    expect(refused?.message).toContain('demo: refused: certificates.etcdCa is ');
    expect(refused?.message).toContain(ours.fingerprint.slice(7, 15));
    expect(refused?.remedy).toContain('take certificates.etcdCa out');
  });

  test('is not compared while no control plane has joined', () => {
    const fresh = fleetOf(freshHost(cp1));
    expect(anotherAuthority(withOwn({ etcdCa: { cert: other.pem, sign } }), fresh)).toEqual([]);
  });

  test('signs by a command, and a control plane has its key: the host is named', () => {
    const [refused] = anotherSigner(withOwn({ etcdCa: { cert: ours.pem, sign } }), living(ours, 'sha'));
    expect(refused?.message).toContain('cp1: refused: it has the key of the authority etcd-ca');
    expect(anotherSigner(withOwn({ etcdCa: { cert: ours.pem, key: Secret.of('KEY') } }), living(ours, 'sha'))).toEqual(
      [],
    );
  });

  test('has its key on no control plane, and no command signs: refused with the key, or when a control plane joins', () => {
    const words = (own: OwnAuthorities, fleet = living()) =>
      anotherSigner(withOwn(own), fleet).map(({ message }) => message);
    const lost = expect.stringContaining(
      'cp1: refused: no control plane has the key of the authority etcd-ca',
    ) as string;
    expect(words({ etcdCa: { cert: ours.pem, key: Secret.of('KEY') } })).toContainEqual(lost);
    expect(words({})).not.toContainEqual(lost);
    const joining = fleetIn(
      clusterOf(),
      [cp1, joinedControlPlane({ authorities: authoritiesWith({ 'etcd-ca': { bundle: [ours], keys: {} } }) })],
      freshHost(cp2),
    );
    const two = { ...withOwn({}), hosts: [cp1, cp2] };
    const [refused] = anotherSigner(two, joining).filter(({ message }) => message.includes('etcd-ca'));
    expect(refused?.remedy).toContain('name certificates.etcdCa with cert and sign');
    // cp2 is not observed, and may have it.
    expect(
      anotherSigner(
        { ...withOwn({ etcdCa: { cert: ours.pem, key: Secret.of('KEY') } }), hosts: [cp1, cp2] },
        living(),
      ).map(({ message }) => message),
    ).not.toContainEqual(lost);
  });

  test('does not take the place of another one that lies on the founder', () => {
    const founder = (authority: typeof ours) => ({
      host: cp1,
      facts: factsOf({ authorities: authoritiesWith({ 'etcd-ca': { bundle: [authority] } }) }),
    });
    const inventory = withOwn({ etcdCa: { cert: ours.pem, sign } });
    expect(() => refuseOverwriting(inventory, founder(other))).toThrow(/etcd\/ca\.crt is .* certificates\.etcdCa is/);
    expect(() => refuseOverwriting(inventory, founder(ours))).not.toThrow();
    expect(() => refuseOverwriting(withOwn({}), founder(other))).not.toThrow();
  });

  test('does not take the place of another one on a host of role etcd', () => {
    const etcd1 = hostOf({ name: 'etcd1', role: 'etcd', internalAddress: '10.0.0.31' });
    const inventory = {
      ...withOwn({ etcdCa: { cert: ours.pem, key: Secret.of('KEY') } }),
      hosts: [cp1, etcd1],
      etcd: { topology: 'built', endpoints: ['https://10.0.0.31:2379'] } as const,
    };
    const etcdPki = { nowMs: 0, isUnfinished: false, authority: other.fingerprint, certificates: [] };
    const fleet = fleetOf(freshHost(cp1), freshHost(etcd1, { etcdPki }));
    expect(() => etcdAuthority.diff(targetOf(inventory, etcd1, fleet))).toThrow(
      /etcd1: refused: its certificate authority of etcd is/,
    );
  });

  test('is not rotated: kbuild rotates only authorities that it made', () => {
    const inventory = withOwn({ etcdCa: { cert: ours.pem, key: Secret.of('KEY') } });
    const words = (name: 'etcd-ca' | 'front-proxy-ca') =>
      refusedFor(rotationReasons, { inventory, fleet: living(ours, 'sha'), name }).map(({ message }) => message);
    expect(words('etcd-ca')).toContainEqual(
      expect.stringContaining('certificates.etcdCa in the inventory is the etcd-ca'),
    );
    expect(words('front-proxy-ca')).not.toContainEqual(expect.stringContaining('certificates.'));
  });

  test('is put on a host of role etcd, its key 0600 from the first byte and in no command', async () => {
    const etcd1 = hostOf({ name: 'etcd1', role: 'etcd', internalAddress: '10.0.0.31' });
    const inventory = {
      ...withOwn({ etcdCa: { cert: ours.pem, key: Secret.of('THE-KEY') } }),
      hosts: [cp1, etcd1],
      etcd: { topology: 'built', endpoints: ['https://10.0.0.31:2379'] } as const,
    };
    const target = targetOf(inventory, etcd1, fleetOf(freshHost(cp1), freshHost(etcd1)));
    const [change] = etcdAuthority.diff(target);
    expect(change?.summary).toContain("the inventory's certificate authority of etcd");
    const { on, sent } = recordingOn();
    await change!.apply!(on);
    expect(sent.filter((one) => one.kind === 'run' && one.script.includes('THE-KEY'))).toEqual([]);
    expect(sent.filter(({ kind }) => kind === 'job')).toEqual([]);
    expect(sent).toContainEqual(expect.objectContaining({ kind: 'write', mode: 0o600 }));
  });
});

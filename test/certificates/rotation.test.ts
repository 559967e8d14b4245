// @module-tag openssl
import { describe, expect, test } from 'vitest';
import type { Rotating } from '../../src/certificates/rotation.step.ts';
import { isDropping, rotationOf, stageOf } from '../../src/certificates/rotation.ts';
import { carryOut, copyOf, fleetOf, fresh, join, nextDue, onceForState, type World } from './rotation-world.ts';

const rotating = (direction: Rotating['direction']): Rotating => ({
  name: 'ca',
  direction,
  subject: 'kubernetes-20261124t220000z',
  keep: () => Promise.resolve(),
  when: 'now',
  workloads: 'restart',
  secretTokens: 'refuse',
});

const due = {
  forward: onceForState((world) => nextDue(world, rotating('forward'))),
  back: onceForState((world) => nextDue(world, rotating('back'))),
};
const dueIn = (world: World, direction: 'forward' | 'back') => due[direction](world);

/** What must hold at every moment: no client is cut off, and what signs has one key and one certificate. */
function faults(world: World): readonly string[] {
  const all = [...world.hosts];
  const controls = all.filter(([name]) => name.startsWith('cp'));
  const issuers = new Set([...controls.map(([, { leaves }]) => leaves), ...all.map(([, { kubelet }]) => kubelet)]);
  const servers = new Set(controls.map(([, { leaves }]) => leaves));
  return [
    ...all.flatMap(([name, { bundle }]) =>
      [...issuers].filter((issuer) => !bundle.includes(issuer)).map((issuer) => `${name} does not trust ${issuer}`),
    ),
    ...controls.flatMap(([name, { bundle, key }]) =>
      bundle[0] === key ? [] : [`kubeadm on ${name} signs with a key that is not of its first certificate`],
    ),
    ...controls.flatMap(([name, { bundle, signsApart, kept }]) =>
      signsApart
        ? kept.signing === undefined
          ? [`${name} has nothing to sign with`]
          : []
        : bundle.length > 1
          ? [`the controller manager of ${name} does not start`]
          : [],
    ),
    ...[...servers].flatMap((issuer) => [
      ...(world.announced.includes(issuer) ? [] : [`joining hosts do not trust ${issuer}`]),
      ...(world.pods.includes(issuer) ? [] : [`pods do not trust ${issuer}`]),
    ]),
  ];
}

/** Every change until the run is through; stops after so many. Throws when something would be cut off, or it does not end. */
function run(world: World, direction: Rotating['direction'], most = Infinity): readonly string[] {
  const made: string[] = [];
  while (made.length < most) {
    const due = dueIn(world, direction);
    if (due === undefined) return made;
    carryOut(world, due.host, due.step, rotating(direction), 'whole');
    made.push(`${due.host} ${due.step}`);
    const found = faults(world);
    if (found.length > 0) throw new Error(`after ${made.join(', ')}: ${found.join('; ')}`);
    if (made.length > 60) throw new Error(`it does not end: ${made.join(', ')}`);
    // What is through is not begun anew.
    if (rotationOf(fleetOf(world), 'ca') === undefined) return made;
  }
  return made;
}

const ends = (world: World) =>
  [...world.hosts].map(([name, { bundle, key, kept, signsApart, leaves, kubelet }]) =>
    [
      name,
      bundle,
      name.startsWith('w') ? bundle[0] : key,
      Object.keys(kept),
      signsApart,
      name.startsWith('w') ? bundle[0] : leaves,
      kubelet,
    ].join(' '),
  );
const ended = (ca: 'old' | 'new', hosts = ['cp1', 'cp2', 'w1']) =>
  hosts.map((name) => `${name} ${ca} ${ca}  false ${ca} ${ca}`);

const whole = run(fresh(), 'forward');

/** True while it can be taken back after this change: until the old CA goes, when all kubelets have their certificates. */
function canGoBack(world: World, at: number): boolean {
  const rotation = rotationOf(fleetOf(world), 'ca');
  if (rotation !== undefined && !isDropping(fleetOf(world), 'ca', rotation)) return true;
  expect(at).toBeGreaterThan(whole.indexOf('w1 kubelet-signed') + 1);
  return false;
}

describe('a rotation of the CA', () => {
  test('goes host by host through its parts, and ends with the new CA alone', () => {
    const world = fresh();
    expect(run(world, 'forward')).toEqual([
      'cp1 authority-prepared',
      'cp2 authority-prepared',
      'cp1 signing-apart',
      'cp2 signing-apart',
      'cp1 both-trusted',
      'cp2 both-trusted',
      'w1 both-trusted',
      'cp1 both-published',
      'cp1 workloads-restarted',
      'cp1 survivor-signs',
      'cp2 survivor-signs',
      'cp1 kubelet-signed',
      'cp2 kubelet-signed',
      'w1 kubelet-signed',
      'cp1 only-one-trusted',
      'cp2 only-one-trusted',
      'w1 only-one-trusted',
      'cp1 one-published',
      'cp1 rotation-cleaned',
      'cp2 rotation-cleaned',
    ]);
    expect(ends(world)).toEqual(ended('new'));
    expect([world.announced, world.pods]).toEqual([['new'], ['new']]);
  });

  test.each(whole.map((_, at) => at + 1))(
    'that is cut off after change %i of the run goes on with the next one',
    (at) => {
      const world = fresh();
      run(world, 'forward', at);
      if (at === whole.length) return;
      expect(run(world, 'forward')).toEqual(whole.slice(at));
      expect(ends(world)).toEqual(ended('new'));
    },
  );

  test.each(whole.map((_, at) => at))('that is cut off in the middle of change %i does it again, and ends', (at) => {
    const world = fresh();
    run(world, 'forward', at);
    const due = dueIn(world, 'forward')!;
    carryOut(world, due.host, due.step, rotating('forward'), 'half');
    expect(faults(world)).toEqual([]);
    run(world, 'forward');
    expect(ends(world)).toEqual(ended('new'));
  });

  test.each(whole.map((_, at) => at + 1))(
    'that is cut off after change %i can be taken back until the old CA goes',
    (at) => {
      const world = fresh();
      run(world, 'forward', at);
      if (!canGoBack(world, at)) return;
      run(world, 'back');
      expect(ends(world)).toEqual(ended('old'));
      expect([world.announced, world.pods]).toEqual([['old'], ['old']]);
    },
  );

  test('may change its direction, and change it again', () => {
    for (let at = 1; at <= whole.indexOf('w1 kubelet-signed') + 1; at += 4) {
      const forward = fresh();
      run(forward, 'forward', at);
      for (let back = 1; ; back++) {
        const world = copyOf(forward);
        const made = run(world, 'back', back);
        if (rotationOf(fleetOf(world), 'ca') === undefined) break;
        run(world, 'forward');
        expect(ends(world), `${String(at)} forward, ${made.join(', ')} back`).toEqual(ended('new'));
      }
    }
  });
});

describe('a control plane that joins while the CA is rotated', () => {
  const hosts = ['cp1', 'cp2', 'w1', 'cp3'];
  const moments = whole.flatMap((_, at) => ['cp1', 'cp2'].map((signer) => [at + 1, signer] as const));

  test.each(moments)('after change %i, its kubelet signed by %s, takes part in it', (at, signer) => {
    const world = fresh();
    run(world, 'forward', at);
    const isOver = rotationOf(fleetOf(world), 'ca') === undefined;
    join(world, signer);
    expect(faults(world)).toEqual([]);
    if (!isOver) run(world, 'forward');
    expect(ends(world)).toEqual(ended('new', hosts));
  });

  test.each(moments)('after change %i, its kubelet signed by %s, goes back with it', (at, signer) => {
    const world = fresh();
    run(world, 'forward', at);
    if (!canGoBack(world, at)) return;
    join(world, signer);
    run(world, 'back');
    expect(ends(world)).toEqual(ended('old', hosts));
  });

  test('has kubeconfigs that know both authorities, before the old one goes', () => {
    const world = fresh();
    run(world, 'forward', whole.indexOf('cp2 survivor-signs') + 1);
    join(world, 'cp1');
    expect(dueIn(world, 'forward')).toMatchObject({ host: 'cp3', step: 'both-trusted' });
  });
});

test('how far a rotation is, is as far as the host that is furthest', () => {
  const world = fresh();
  const stages = new Map<string, string>();
  for (let made = 0; made < whole.length; made++) {
    const due = dueIn(world, 'forward')!;
    carryOut(world, due.host, due.step, rotating('forward'), 'whole');
    stages.set(`${due.host} ${due.step}`, stageOf(fleetOf(world), 'ca'));
  }
  expect(Object.fromEntries(stages)).toMatchObject({
    'cp1 authority-prepared': 'begun',
    'cp1 both-trusted': 'both are trusted',
    'cp1 workloads-restarted': 'both are trusted',
    'cp1 survivor-signs': 'the new one signs',
    'cp1 only-one-trusted': 'the old one goes',
    'cp1 rotation-cleaned': 'the old one goes',
    'cp2 rotation-cleaned': 'none',
  });
});

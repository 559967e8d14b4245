import { describe, expect, test } from 'vitest';
import { Refused } from '../../src/errors.ts';
import { osOf, supportedOs } from '../../src/os/index.ts';

const release = (id: string, versionId: string) => ({
  osRelease: { id, versionId, codename: '', prettyName: `${id} ${versionId}` },
});

describe('a distribution', () => {
  test.each([
    ['debian', '12', 'Debian'],
    ['debian', '13', 'Debian'],
    ['ubuntu', '22.04', 'Ubuntu'],
    ['ubuntu', '24.04', 'Ubuntu'],
    ['debian', '11', undefined],
    ['ubuntu', '23.10', undefined],
    ['rocky', '9.4', undefined],
  ])('%s %s: %s', (id, version, name) => expect(supportedOs(release(id, version))?.name).toBe(name));
  test('that is not supported is refused by name', () => {
    expect(() => osOf({ name: 'w1' }, release('rocky', '9.4'))).toThrow(Refused);
    expect(() => osOf({ name: 'w1' }, release('rocky', '9.4'))).toThrow('w1: refused: rocky 9.4 is not yet supported');
  });
});

test('a package transaction carries all that the script needs', () => {
  const { script } = osOf({ name: 'w1' }, release('debian', '12')).installPackages({
    packages: { kubelet: '1.36.3', 'kubernetes-cni': 'any' },
    optional: ['cri-tools'],
    hold: ['kubelet'],
    sources: ['/etc/apt/sources.list.d/kbuild-kubernetes.list'],
  });
  expect(script.split('\n').slice(0, 5)).toEqual([
    "PACKAGES='kubelet 1.36.3",
    "kubernetes-cni any'",
    'OPTIONAL=cri-tools',
    'HOLD=kubelet',
    'SOURCES=/etc/apt/sources.list.d/kbuild-kubernetes.list',
  ]);
});
